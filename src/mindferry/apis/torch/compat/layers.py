"""Linear layers and layers that only move values, with torch's arguments."""

import math

import mindspore as ms
from mindspore import nn, ops
from mindspore.common.initializer import Uniform, initializer

from .layers_conv import spread
from .layers_module import reset_layer, reset_uniform


class Linear(nn.Dense):
    """mindspore.nn.Dense with torch's arguments."""

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__(in_features, out_features, has_bias=bool(bias), dtype=dtype or ms.float32)
        self.in_features, self.out_features = in_features, out_features

    def reset_parameters(self):
        reset_uniform(self)


class Bilinear(nn.Cell):
    """torch.nn.Bilinear."""

    def __init__(self, in1_features, in2_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        bound, dtype = 1 / math.sqrt(in1_features), dtype or ms.float32
        self.weight = ms.Parameter(initializer(Uniform(bound), (out_features, in1_features, in2_features), dtype))
        self.bias = ms.Parameter(initializer(Uniform(bound), (out_features,), dtype)) if bias else None

    def reset_parameters(self):
        reset_layer(self)

    def construct(self, input1, input2):
        lead = input1.shape[:-1]
        first, second = input1.reshape((-1, self.in1_features)), input2.reshape((-1, self.in2_features))
        mixed = ops.matmul(first, self.weight.swapaxes(0, 1).reshape((self.in1_features, -1)))
        x = (mixed.reshape((-1, self.out_features, self.in2_features)) * second.expand_dims(1)).sum(-1)
        x = x + self.bias if self.bias is not None else x
        return x.reshape((*lead, self.out_features))


class Identity(nn.Identity):
    """mindspore.nn.Identity that takes and ignores arguments."""

    def __init__(self, *args, **kwargs):
        super().__init__()


class Unflatten(nn.Cell):
    """torch.nn.Unflatten."""

    def __init__(self, dim, unflattened_size):
        super().__init__()
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def construct(self, input):
        axis = self.dim % input.ndim
        return input.reshape((*input.shape[:axis], *self.unflattened_size, *input.shape[axis + 1 :]))


class Unfold(nn.Cell):
    """torch.nn.Unfold."""

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = (
            spread(each, 2) for each in (kernel_size, dilation, padding, stride)
        )

    def construct(self, input):
        x = input if input.ndim == 4 else input.expand_dims(0)
        x = ops.unfold(x, self.kernel_size, self.dilation, self.padding, self.stride)
        return x if input.ndim == 4 else x.squeeze(0)


class Fold(nn.Cell):
    """torch.nn.Fold."""

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size = spread(output_size, 2)
        self.kernel_size, self.dilation, self.padding, self.stride = (
            spread(each, 2) for each in (kernel_size, dilation, padding, stride)
        )

    def construct(self, input):
        x = input if input.ndim == 3 else input.expand_dims(0)
        x = ops.fold(
            x, ms.Tensor(self.output_size, ms.int32), self.kernel_size, self.dilation, self.padding, self.stride
        )
        return x if input.ndim == 3 else x.squeeze(0)


class CosineSimilarity(nn.Cell):
    """torch.nn.CosineSimilarity."""

    def __init__(self, dim=1, eps=1e-8):
        super().__init__()
        self.dim, self.eps = dim, eps

    def construct(self, x1, x2):
        product = (x1 * x2).sum(self.dim)
        squares = (x1 * x1).sum(self.dim) * (x2 * x2).sum(self.dim)
        return product / ops.sqrt(ops.maximum(squares, ops.full_like(squares, self.eps * self.eps)))


class PairwiseDistance(nn.Cell):
    """torch.nn.PairwiseDistance: eps is added to the difference."""

    def __init__(self, p=2.0, eps=1e-6, keepdim=False):
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def construct(self, x1, x2):
        return vector_norm(x1 - x2 + self.eps, self.norm, -1, self.keepdim)


def vector_norm(x, p, axis, keepdim):
    """The p-norm along an axis."""
    size = ops.abs(x)
    if p == float("inf"):
        return ops.amax(size, axis, keepdim)
    if p == float("-inf"):
        return ops.amin(size, axis, keepdim)
    if p == 0:
        return (size > 0).astype(x.dtype).sum(axis, keepdims=keepdim)
    if p == 1:
        return size.sum(axis, keepdims=keepdim)
    if p == 2:
        return ops.sqrt((x * x).sum(axis, keepdims=keepdim))
    return ops.pow(ops.pow(size, p).sum(axis, keepdims=keepdim), 1 / p)


def _single(x):
    """torch.nn.modules.utils._single."""
    return spread(x, 1)


def _ntuple(n, name=None):
    """torch.nn.modules.utils._ntuple."""
    return lambda x: tuple(x) if isinstance(x, (tuple, list)) else (x,) * n


def _reverse_repeat_tuple(t, n):
    """torch.nn.modules.utils._reverse_repeat_tuple."""
    return tuple(each for each in reversed(t) for _ in range(n))


def _pair(x):
    """torch.nn.modules.utils._pair."""
    return spread(x, 2)


def _triple(x):
    """torch.nn.modules.utils._triple."""
    return spread(x, 3)


def _quadruple(x):
    """torch.nn.modules.utils._quadruple."""
    return spread(x, 4)


def consume_prefix(state_dict, prefix):
    """torch.nn.modules.utils.consume_prefix_in_state_dict_if_present."""
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
