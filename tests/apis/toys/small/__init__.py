"""A framework with one class and three functions."""
