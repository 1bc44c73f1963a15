"""Two frameworks -> Comparison: same weights, same inputs, every module's output and gradient."""
