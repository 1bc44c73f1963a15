"""Everything under torch.nn.functional."""
