"""torch.utils.data: datasets, loaders, samplers."""
