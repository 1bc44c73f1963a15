"""torch's functions over lists of tensors, and checks."""

import mindspore as ms
import numpy as np
from mindspore import ops

from .linalg import eigh


def for_each(function, tensors, other):
    """A number for all of them, or one partner each."""
    others = other if isinstance(other, (list, tuple)) else [other] * len(tensors)
    return [function(a, b) for a, b in zip(tensors, others)]


def foreach_add(self, other, alpha=1):
    """torch._foreach_add."""
    return for_each(lambda a, b: a + alpha * b, self, other)


def foreach_sub(self, other, alpha=1):
    """torch._foreach_sub."""
    return for_each(lambda a, b: a - alpha * b, self, other)


def foreach_mul(self, other):
    """torch._foreach_mul."""
    return for_each(ops.mul, self, other)


def foreach_div(self, other):
    """torch._foreach_div."""
    return for_each(ops.div, self, other)


def foreach_neg(self):
    """torch._foreach_neg."""
    return [ops.neg(each) for each in self]


def foreach_sqrt(self):
    """torch._foreach_sqrt."""
    return [ops.sqrt(each) for each in self]


def foreach_reciprocal(self):
    """torch._foreach_reciprocal."""
    return [ops.reciprocal(each) for each in self]


def shape_as_tensor(input):
    """torch._shape_as_tensor."""
    return ms.Tensor(input.shape, ms.int64)


def check(cond, message=None):
    """torch._check."""
    if not cond:
        raise RuntimeError(message() if message is not None else "Expected cond to be True")


def symeig(input, eigenvectors=False, upper=True):
    """torch.symeig, which newer versions call linalg.eigh."""
    values, vectors = eigh(input, "U" if upper else "L")
    return values, vectors if eigenvectors else ops.zeros((0,), input.dtype)


def frombuffer(buffer, dtype, count=-1, offset=0, requires_grad=False):
    """torch.frombuffer: a copy."""
    return ms.Tensor(np.frombuffer(buffer, ms.dtype_to_nptype(dtype), count, offset).copy())


def assert_close(actual, expected, rtol=1.3e-6, atol=1e-5, equal_nan=False, msg=None):
    """torch.testing.assert_close."""
    first, second = (each.asnumpy() if isinstance(each, ms.Tensor) else each for each in (actual, expected))
    np.testing.assert_allclose(first, second, rtol, atol, equal_nan, msg or "")
