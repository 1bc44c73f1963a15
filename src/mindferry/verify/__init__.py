"""Two frameworks -> Comparison: the same weights and inputs on both sides, each module's output and gradient compared."""
