"""What is not a call: classes, blocks, training loops. `prepare` runs before the rules, `finish` after them."""

from __future__ import annotations

from . import (
    attributes,
    checkpoint_names,
    classes,
    data_arrays,
    data_loaders,
    formatted,
    gradients_off,
    in_place,
    layer_keywords,
    modes,
    module_loops,
    no_counterpart,
    tidy,
    training,
    unknown_networks,
)

# The order matters: what reads the structure prepares first, what cleans up finishes last.
PASSES = (
    classes,
    attributes,
    layer_keywords,
    module_loops,
    unknown_networks,
    checkpoint_names,
    data_loaders,
    data_arrays,
    no_counterpart,
    in_place,
    formatted,
    gradients_off,
    tidy,
    modes,
    training,
)
