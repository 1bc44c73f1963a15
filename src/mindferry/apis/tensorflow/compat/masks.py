"""Keras' masks: which steps of a tensor count, kept at the tensor and handed from layer to layer."""

from mindspore import Tensor, ops

from .graph import symbolic
from .tensors import as_tensor, flat, map_structure


@symbolic
def unequal(values, number):
    """Where the values are not that number; programs ask symbolic tensors for it too."""
    return ops.not_equal(values, as_tensor(number, values.dtype))


@symbolic
def any_unequal(values, number):
    """The steps that have a value which is not that number."""
    return ops.any(unequal(values, number), -1)


def mask_of(value):
    return getattr(value, "_keras_mask", None)


def masks_beside(parameters, given):
    """The masks that a layer's `call` takes: `mask` for the only tensor that is given, `query_mask` for `query` among several."""
    tensors = {name: value for name, value in given.items() if is_made_of_tensors(value)}
    found = {}
    for name, value in tensors.items():
        wanted = "mask" if len(tensors) == 1 else f"{name}_mask"
        if wanted in parameters and given.get(wanted) is None:
            mask = map_structure(mask_of, value)
            if any(each is not None for each in flat(mask)):
                found[wanted] = mask
    return found


def is_made_of_tensors(value):
    """A tensor, or a structure of nothing else."""
    parts = flat(value) if isinstance(value, (list, tuple, dict)) else [value]
    return bool(parts) and all(isinstance(each, Tensor) for each in parts)


def set_masks(outputs, masks):
    """One for each output; an output that has one keeps it."""
    for each, mask in zip(flat(outputs), masks if isinstance(masks, (list, tuple)) else [masks]):
        if isinstance(each, Tensor) and mask is not None and mask_of(each) is None:
            each._keras_mask = ops.stop_gradient(mask)
