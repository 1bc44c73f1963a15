"""Devices, dtypes, seeds, back ends, distribution."""
