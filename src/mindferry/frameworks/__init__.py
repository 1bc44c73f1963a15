"""What runs a framework: one worker process each, and the same few functions in torch.py and mindspore.py."""
