"""Runs the cases that stand on the table's entries: both frameworks, the same inputs, values and gradients."""
