"""The table for PyTorch: one folder a family of APIs, and `compat/`, the helpers that entries emit."""
