"""Random tensors with torch's arguments. The numbers differ from torch's for the same seed; their distribution doesn't."""

import mindspore as ms
import numpy as np
from mindspore import ops

from .functional_norm import softmax
from .functions_shape import as_shape
from .host_numbers import host_numbers


def host_random():
    """A generator of its own for each call, seeded from the host's random numbers."""
    return np.random.default_rng(host_numbers().randint(0, 2**31 - 1))


def uniform_numbers(shape):
    """Numbers between 0 and 1, in a graph too; a scalar and empty shapes included."""
    if 0 in shape:
        return ops.zeros(shape, ms.float32)
    return ops.rand(*shape) if shape else ops.rand(1).reshape(())


def normal_numbers(shape):
    """Standard normal numbers, in a graph too."""
    if 0 in shape:
        return ops.zeros(shape, ms.float32)
    return ops.randn(*shape) if shape else ops.randn(1).reshape(())


def randn(
    *sizes,
    size=None,
    dtype=None,
    device=None,
    requires_grad=False,
    generator=None,
    layout=None,
    pin_memory=False,
    out=None,
):
    """torch.randn."""
    return normal_numbers(as_shape(sizes if size is None else size)).astype(dtype or ms.float32)


def randn_complex(*sizes, dtype):
    """torch.randn of complex numbers: the two parts have half of the variance each."""
    return ops.Complex()(normal_numbers(sizes) * 0.5**0.5, normal_numbers(sizes) * 0.5**0.5).astype(dtype)


def rand_complex(*sizes, dtype):
    """torch.rand of complex numbers."""
    return ops.Complex()(uniform_numbers(sizes), uniform_numbers(sizes)).astype(dtype)


def rand(
    *sizes,
    size=None,
    dtype=None,
    device=None,
    requires_grad=False,
    generator=None,
    layout=None,
    pin_memory=False,
    out=None,
):
    """torch.rand."""
    return uniform_numbers(as_shape(sizes if size is None else size)).astype(dtype or ms.float32)


def randint(
    low=0,
    high=None,
    size=None,
    dtype=None,
    device=None,
    requires_grad=False,
    generator=None,
    layout=None,
    out=None,
    pin_memory=False,
):
    """torch.randint(low=0, high, size): int64."""
    if isinstance(high, (tuple, list)):
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    return ms.Tensor(host_random().integers(low, high, tuple(size)), dtype or ms.int64)


def randperm(n, dtype=None, device=None, generator=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    """torch.randperm: another permutation at each call."""
    return ms.Tensor(host_random().permutation(n), dtype or ms.int64)


def randn_like(input, dtype=None, device=None, requires_grad=False, layout=None, memory_format=None, generator=None):
    """torch.randn_like."""
    return randn(input.shape, dtype=dtype or input.dtype)


def rand_like(input, dtype=None, device=None, requires_grad=False, layout=None, memory_format=None, generator=None):
    """torch.rand_like."""
    return rand(input.shape, dtype=dtype or input.dtype)


def randint_like(input, low, high=None, dtype=None, device=None, requires_grad=False, layout=None, memory_format=None):
    """torch.randint_like."""
    low, high = (0, low) if high is None else (low, high)
    return randint(low, high, input.shape, dtype=dtype or input.dtype)


def normal(
    mean=0.0,
    std=1.0,
    size=None,
    generator=None,
    dtype=None,
    device=None,
    out=None,
    requires_grad=False,
    layout=None,
    pin_memory=False,
):
    """torch.normal."""
    if size is not None:
        return mean + std * randn(tuple(size), dtype=dtype)
    shape = np.broadcast_shapes(*(each.shape for each in (mean, std) if isinstance(each, ms.Tensor)))
    return mean + std * randn(shape)


def bernoulli(input, p=None, generator=None, out=None):
    """torch.bernoulli."""
    chance = input if p is None else p
    return (rand(input.shape) < chance).astype(input.dtype)


def multinomial(input, num_samples, replacement=False, generator=None, out=None):
    """torch.multinomial, int64."""
    weights = input.asnumpy().astype(np.float64).reshape(-1, input.shape[-1])
    source = host_random()
    if replacement:
        edges = np.cumsum(weights / weights.sum(1, keepdims=True), 1)
        edges[:, -1] = 1.0
        picks = (source.random((len(weights), num_samples, 1)) > edges[:, None]).sum(2)
    else:  # the largest of u ** (1 / weight)
        with np.errstate(divide="ignore"):
            keys = np.log(source.random(weights.shape)) / weights
        picks = np.argsort(-keys, 1)[:, :num_samples]
    return ms.Tensor(picks.reshape((*input.shape[:-1], num_samples)).astype(np.int64))


def poisson(input, generator=None):
    """torch.poisson."""
    return ms.Tensor(host_random().poisson(input.asnumpy()), input.dtype)


def keep_mask(shape, p, dtype):
    """1 / (1 - p) where an element is kept."""
    if p >= 1:
        return ops.zeros(shape, dtype)
    return (rand(shape) >= p).astype(dtype) / (1 - p)


def native_dropout_backward(grad_output, mask, scale):
    """torch.ops.aten.native_dropout_backward."""
    return grad_output * mask.astype(grad_output.dtype) * scale


def dropout(input, p=0.5, training=True, inplace=False):
    """torch.nn.functional.dropout."""
    return input * keep_mask(input.shape, p, input.dtype) if training and p > 0 else input


def feature_dropout(input, p, training, spatial):
    """Whole channels are dropped; the batch dimension may be missing."""
    if not training or p <= 0:
        return input
    lead = max(input.ndim - spatial, 0)
    return input * keep_mask(input.shape[:lead] + (1,) * spatial, p, input.dtype)


def dropout1d(input, p=0.5, training=True, inplace=False):
    """torch.nn.functional.dropout1d."""
    return feature_dropout(input, p, training, 1)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """torch.nn.functional.dropout2d: a 3-D input is one of channels without their last dimension."""
    return feature_dropout(input, p, training, input.ndim - 2)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """torch.nn.functional.dropout3d."""
    return feature_dropout(input, p, training, 3 if input.ndim == 4 else input.ndim - 2)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """torch.nn.functional.alpha_dropout: keeps mean and variance for SELU."""
    return alpha_dropped(input, p, training, input.shape)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """torch.nn.functional.feature_alpha_dropout."""
    return alpha_dropped(input, p, training, input.shape[:2] + (1,) * (input.ndim - 2))


def alpha_dropped(input, p, training, shape):
    if not training or p <= 0:
        return input
    if p >= 1:
        return input * 0
    alpha = 1.7580993408473766
    keep = (rand(shape) >= p).astype(input.dtype)
    scale = 1 / np.sqrt((alpha**2 * p + 1) * (1 - p))
    return (input * keep - alpha * (1 - keep)) * float(scale) + float(alpha * scale * p)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """torch.nn.functional.rrelu."""
    slope = lower + (upper - lower) * rand(input.shape) if training else (lower + upper) / 2
    return ops.where(input > 0, input, input * slope)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """torch.nn.functional.gumbel_softmax."""
    noise = -ops.log(-ops.log1p(-uniform_numbers(logits.shape)) + eps).astype(logits.dtype)
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    index = ops.argmax(soft, dim, True)
    places = ops.arange(logits.shape[dim]).reshape((-1,) + (1,) * (logits.ndim - 1 - dim % logits.ndim))
    return ops.stop_gradient((places == index).astype(soft.dtype) - soft) + soft
