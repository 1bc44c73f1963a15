"""torchvision."""
