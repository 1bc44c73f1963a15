"""Methods and attributes of tensors."""
