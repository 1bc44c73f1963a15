"""torch's functions over lists of tensors, and checks."""

import mindspore as ms
import numpy as np
from mindspore import ops

from .linalg import eigh
from .tensors import overwrite


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


def foreach_maximum(self, other):
    """torch._foreach_maximum."""
    return for_each(
        lambda a, b: ops.maximum(a, ms.Tensor(b, a.dtype) if not isinstance(b, ms.Tensor) else b), self, other
    )


def foreach_minimum(self, other):
    """torch._foreach_minimum."""
    return for_each(
        lambda a, b: ops.minimum(a, ms.Tensor(b, a.dtype) if not isinstance(b, ms.Tensor) else b), self, other
    )


def foreach_addcdiv(self, tensor1, tensor2, value=1):
    """torch._foreach_addcdiv."""
    shares = value if isinstance(value, (list, tuple)) else [value] * len(self)
    return [x + share * a / b for x, a, b, share in zip(self, tensor1, tensor2, shares)]


def foreach_addcmul(self, tensor1, tensor2, value=1):
    """torch._foreach_addcmul."""
    shares = value if isinstance(value, (list, tuple)) else [value] * len(self)
    return [x + share * a * b for x, a, b, share in zip(self, tensor1, tensor2, shares)]


def foreach_lerp(self, tensors1, weight):
    """torch._foreach_lerp."""
    weights = weight if isinstance(weight, (list, tuple)) else [weight] * len(self)
    return [x + each * (y - x) for x, y, each in zip(self, tensors1, weights)]


def foreach_zero(self):
    return [ops.zeros_like(each) for each in self]


def write_each(tensors, values):
    """torch._foreach_add_ and its like: the results go into the tensors of the list."""
    for tensor, value in zip(tensors, values):
        overwrite(tensor, value)


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
