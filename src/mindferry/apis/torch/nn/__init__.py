"""Layers, losses, containers and the Module class itself."""
