"""Frameworks that exist for a test only."""
