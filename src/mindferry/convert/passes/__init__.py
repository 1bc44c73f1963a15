"""What is not a call: classes, blocks, training loops. `prepare` runs before the rules, `finish` after them."""

from __future__ import annotations

from . import attributes, checkpoint_names, classes, data_loaders, gradients_off, module_loops, tidy, training

# The order matters: what reads the structure prepares first, what cleans up finishes last.
PASSES = (classes, attributes, module_loops, checkpoint_names, data_loaders, gradients_off, tidy, training)
