"""Data code that computes with MindSpore: it is read in the process that trains, because workers must not run operators."""

import mindspore as ms

from .data_collate import map_nested, to_tensors

HOLDERS = ("transform", "target_transform", "transforms", "dataset", "datasets", "func", "__self__")


def in_this_process(what):
    """Marks a dataset, a transform or a collate function that computes with MindSpore."""
    what.stays_in_process = True
    return what


def with_tensors(what):
    """Marks a collate function that computes with MindSpore, and gets the samples' arrays as Tensors."""
    what.takes_tensors = True
    return in_this_process(what)


def with_tensors_back(make_batch):
    """A function that makes batches of arrays, for code that calls it itself, and goes on with Tensors."""

    def made(*given, **named):
        if is_marked(make_batch, "takes_tensors"):
            return make_batch(*given, **named)
        return to_tensors(make_batch(*to_arrays(given), **to_arrays(named)))

    return made


def is_marked(value, mark, depth=5):
    """Whether a dataset or a collate function is marked, or what it holds or calls is."""
    called = next((vars(each)["__call__"] for each in type(value).__mro__ if "__call__" in vars(each)), None)
    if any(getattr(each, mark, None) is True for each in (value, called)):
        return True
    if isinstance(value, (list, tuple)):
        parts = value[:64]
    else:
        held = [each for each in getattr(value, "__dict__", {}).values() if callable(each)]  # whatever it is called
        parts = held + [getattr(value, name, None) for name in HOLDERS]
    return depth > 0 and any(is_marked(part, mark, depth - 1) for part in parts if part is not None)


def to_arrays(value):
    """The same nested value with an array for every Tensor."""
    return value.asnumpy() if isinstance(value, ms.Tensor) else map_nested(to_arrays, value)
