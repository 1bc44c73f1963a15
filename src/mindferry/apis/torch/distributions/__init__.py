"""torch.distributions."""
