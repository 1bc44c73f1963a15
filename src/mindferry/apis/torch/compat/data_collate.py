"""Samples put together into a batch, with torch's types."""

import collections.abc
import copy
import functools
import sys

import mindspore as ms
import numpy as np

from .parts import HOLDS_OBJECTS, NAMES_MAPPINGS, NAMES_TUPLES


def default_collate(batch):
    """torch.utils.data.default_collate: arrays are stacked, numbers become a Tensor, dicts and sequences keep their form."""
    return to_tensors(collate_arrays(batch))


def collate_arrays(batch):
    """default_collate in numpy, for worker processes, where MindSpore operators must not run."""
    first = batch[0]
    if isinstance(first, (str, bytes)):
        return list(batch)
    if isinstance(first, collections.abc.Mapping):
        parts = {key: collate_arrays([each[key] for each in batch]) for key in first}
        return like_mapping(first, parts) if NAMES_MAPPINGS else parts
    if NAMES_TUPLES and isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(collate_arrays(list(column)) for column in zip(*batch)))
    if isinstance(first, collections.abc.Sequence):
        if any(len(each) != len(first) for each in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return [collate_arrays(list(column)) for column in zip(*batch)]
    if not isinstance(first, (ms.Tensor, np.ndarray, np.generic, int, float)) or np.asarray(first).dtype.kind in "SUO":
        raise TypeError(
            f"no batch of {type(first).__name__}: make it an array (an image by ToTensor), or give a collate_fn"
        )
    return np.stack([each.asnumpy() if isinstance(each, ms.Tensor) else each for each in batch])


def default_convert(data):
    """torch.utils.data.default_convert: Tensors in place of arrays, lists in place of tuples."""
    return to_tensors(convert_arrays(data))


def convert_arrays(data):
    """default_convert in numpy."""
    data = list(data) if type(data) is tuple else data
    return map_nested(convert_arrays, data)


def to_tensors(value):
    """The same nested value with a Tensor for every array."""
    if isinstance(value, np.ndarray) and value.dtype.kind not in "SUO":
        if value.dtype == np.uint64:  # numpy's sum of bytes; torch's is int64
            value = value.astype(np.int64)
        # Tensor(value) copies, ten times slower; from_numpy wants an array of its own layout
        return ms.Tensor.from_numpy(np.require(value, requirements="CW")) if value.size else ms.Tensor(value)
    return with_tensors_inside(value, {}) if HOLDS_OBJECTS else map_nested(to_tensors, value)


def with_tensors_inside(value, objects):
    """to_tensors() of a batch that may be an object, or hold some: each is copied once, and `objects` has the copies."""
    if id(value) in objects:
        return objects[id(value)]
    if isinstance(value, np.ndarray) and value.dtype.kind not in "SUO":
        return to_tensors(value)
    package = type(value).__module__.partition(".")[0]
    is_foreign = package in sys.stdlib_module_names and package not in ("types", "argparse")  # these have Namespaces
    if not (is_foreign or package in ("mindspore", "numpy", "PIL") or callable(value)):
        slots = [
            name for each in type(value).__mro__ for name in getattr(each, "__slots__", ()) if hasattr(value, name)
        ]
        held = {name: getattr(value, name) for name in (*getattr(value, "__dict__", ()), *slots)}
        objects[id(value)] = value = copy.copy(value)
        for name, each in held.items():
            object.__setattr__(value, name, with_tensors_inside(each, objects))
    return map_nested(functools.partial(with_tensors_inside, objects=objects), value)


def map_nested(function, value):
    """Apply a function to the parts of a dict, tuple or list; anything else stays."""
    if isinstance(value, collections.abc.Mapping):
        parts = {key: function(each) for key, each in value.items()}
        return like_mapping(value, parts) if NAMES_MAPPINGS else parts
    if NAMES_TUPLES and isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(function(each) for each in value))
    if isinstance(value, (list, tuple)):
        return type(value)(function(each) for each in value)
    return value


def like_mapping(value, parts):
    """These parts in a mapping of the same class, if it can be changed."""
    if not isinstance(value, collections.abc.MutableMapping):
        return parts
    made = copy.copy(value)
    made.update(parts)
    return made
