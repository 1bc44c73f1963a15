"""Packages that a project stands on: the modules of them that it reaches, cut down to that and ready to be converted."""
