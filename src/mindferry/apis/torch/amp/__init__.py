"""Mixed precision: torch.amp and torch.cuda.amp."""
