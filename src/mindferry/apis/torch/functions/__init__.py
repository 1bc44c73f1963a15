"""Functions of torch itself and of torch.linalg, torch.fft, torch.special."""
