"""Numbers that are sometimes tensors."""

import mindspore as ms
import numpy as np


def plain_number(value):
    """What a format can be given: a tensor's number, anything else as it is."""
    return value.item() if isinstance(value, ms.Tensor) and value.size == 1 else value


def format_numbers(text, *args, **kwargs):
    """text.format(...), with numbers in place of tensors that hold one."""
    return text.format(*map(plain_number, args), **{name: plain_number(value) for name, value in kwargs.items()})


def plain_operand(value):
    """numpy's number as Python's, its array as a tensor: what arithmetic with a tensor needs, or numpy takes it over."""
    if isinstance(value, np.generic):
        return value.item()
    return ms.Tensor(value) if isinstance(value, np.ndarray) else value
