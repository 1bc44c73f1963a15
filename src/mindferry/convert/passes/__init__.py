"""What is not a call: classes, blocks, training loops. `prepare` runs before the rules, `finish` after them."""

from __future__ import annotations

from . import (
    attributes,
    checkpoint_names,
    classes,
    data_arrays,
    data_loaders,
    filled_slices,
    formatted,
    gradients_off,
    in_place,
    launched,
    layer_keywords,
    leaves,
    modes,
    module_loops,
    needs_torch,
    no_counterpart,
    strided,
    tidy,
    torch_modules,
    training,
    unknown_networks,
    unused_devices,
)

# The order matters: what reads the structure prepares first, what cleans up finishes last.
PASSES = (
    torch_modules,
    classes,
    attributes,
    layer_keywords,
    module_loops,
    unknown_networks,
    needs_torch,
    checkpoint_names,
    data_loaders,
    data_arrays,
    no_counterpart,
    launched,
    leaves,
    strided,
    filled_slices,
    in_place,
    formatted,
    gradients_off,
    unused_devices,
    tidy,
    modes,
    training,
)
