"""Runs rules: the cases of the table, and torch's own conformance data, through conversion, on both frameworks."""
