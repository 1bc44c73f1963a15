"""torchvision: transforms, datasets, operators."""
