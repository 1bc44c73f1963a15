"""Saving and loading."""
