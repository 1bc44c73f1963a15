"""Keras' activations and regularizers, by function and by name."""

import math

from mindspore import ops

from .graph import symbolic
from .products import product
from .tensors import Made, as_tensor, is_number


@symbolic
def relu(x, negative_slope=0.0, max_value=None, threshold=0.0):
    x = as_tensor(x)
    if not negative_slope and max_value is None and not threshold:
        return ops.relu(x)
    above = x if max_value is None else ops.minimum(x, as_tensor(max_value, x.dtype))
    return ops.where(x >= threshold, above, negative_slope * (x - threshold))


@symbolic
def relu6(x):
    return ops.clamp(as_tensor(x), 0.0, 6.0)


@symbolic
def leaky_relu(x, negative_slope=0.2):
    x = as_tensor(x)
    return ops.where(x >= 0, x, x * negative_slope)


@symbolic
def sigmoid(x):
    out = ops.sigmoid(as_tensor(x))
    out.keras_logits = x  # a crossentropy computes with these, as in Keras
    return out


@symbolic
def tanh(x):
    return ops.tanh(as_tensor(x))


@symbolic
def softmax(x, axis=-1):
    x = as_tensor(x)
    axes = (axis,) if is_number(axis) else tuple(axis)
    shifted = ops.exp(x - ops.stop_gradient(ops.amax(x, axes, True)))
    out = shifted / ops.sum(shifted, axes, True)
    out.keras_logits = x  # a crossentropy computes with these, as in Keras
    return out


@symbolic
def log_softmax(x, axis=-1):
    x = as_tensor(x)
    shifted = x - ops.stop_gradient(ops.amax(x, axis, True))
    return shifted - ops.log(ops.sum(ops.exp(shifted), axis, True))


@symbolic
def softplus(x):
    x = as_tensor(x)
    return ops.maximum(x, ops.zeros_like(x)) + ops.log1p(ops.exp(-ops.abs(x)))


@symbolic
def softsign(x):
    return x / (1 + ops.abs(x))


@symbolic
def elu(x, alpha=1.0):
    x = as_tensor(x)
    return ops.where(x > 0, x, alpha * ops.expm1(ops.minimum(x, ops.zeros_like(x))))


@symbolic
def selu(x):
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


@symbolic
def gelu(x, approximate=False):
    x = as_tensor(x)
    if approximate:
        return 0.5 * x * (1 + ops.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + ops.erf(x / math.sqrt(2)))


@symbolic
def silu(x):
    x = as_tensor(x)
    return x * ops.sigmoid(x)


@symbolic
def mish(x):
    return x * ops.tanh(softplus(x))


@symbolic
def exponential(x):
    return ops.exp(as_tensor(x))


@symbolic
def hard_sigmoid(x):
    return ops.clamp(as_tensor(x) / 6 + 0.5, 0.0, 1.0)


@symbolic
def hard_silu(x):
    return x * hard_sigmoid(x)


@symbolic
def celu(x, alpha=1.0):
    x = as_tensor(x)
    zero = ops.zeros_like(x)
    return ops.maximum(x, zero) + alpha * ops.expm1(ops.minimum(x, zero) / alpha)


@symbolic
def log_sigmoid(x):
    return -softplus(-x)


@symbolic
def glu(x, axis=-1):
    first, second = ops.chunk(x, 2, axis)
    return first * ops.sigmoid(second)


@symbolic
def linear(x):
    return x


@symbolic
def hard_tanh(x):
    return ops.clamp(as_tensor(x), -1.0, 1.0)


@symbolic
def tanh_shrink(x):
    x = as_tensor(x)
    return x - ops.tanh(x)


@symbolic
def hard_shrink(x, threshold=0.5):
    x = as_tensor(x)
    return ops.where(ops.abs(x) > threshold, x, ops.zeros_like(x))


@symbolic
def soft_shrink(x, threshold=0.5):
    x = as_tensor(x)
    return ops.where(x > threshold, x - threshold, ops.where(x < -threshold, x + threshold, ops.zeros_like(x)))


@symbolic
def threshold(x, threshold, default_value):
    x = as_tensor(x)
    return ops.where(x > threshold, x, ops.full_like(x, default_value))


@symbolic
def squareplus(x, b=4):
    x = as_tensor(x)
    return (x + ops.sqrt(x * x + b)) / 2


@symbolic
def sparse_plus(x):
    x = as_tensor(x)
    return ops.where(x <= -1, ops.zeros_like(x), ops.where(x < 1, 0.25 * (x + 1) * (x + 1), x))


@symbolic
def sparse_sigmoid(x):
    x = as_tensor(x)
    return ops.where(x <= -1, ops.zeros_like(x), ops.where(x >= 1, ops.ones_like(x), 0.5 * (x + 1)))


@symbolic
def sparsemax(x, axis=-1):
    """The nearest point to x whose coordinates are shares of one: most of them are zero."""
    x = as_tensor(x)
    last = ops.swapaxes(x, axis, -1)
    ordered = ops.sort(last, -1, True)[0]
    sums = ops.cumsum(ordered, -1)
    ranks = ops.arange(1, last.shape[-1] + 1).astype(x.dtype)
    is_inside = (ordered - (sums - 1) / ranks > 0).astype(x.dtype)
    limit = (ops.sum(sums * is_inside, -1, True) - 1) / ops.sum(is_inside, -1, True)
    return ops.swapaxes(ops.relu(last - limit), axis, -1)


ACTIVATIONS = {
    "relu": relu,
    "relu6": relu6,
    "leaky_relu": leaky_relu,
    "sigmoid": sigmoid,
    "tanh": tanh,
    "softmax": softmax,
    "log_softmax": log_softmax,
    "softplus": softplus,
    "softsign": softsign,
    "elu": elu,
    "selu": selu,
    "gelu": gelu,
    "silu": silu,
    "swish": silu,
    "mish": mish,
    "exponential": exponential,
    "hard_sigmoid": hard_sigmoid,
    "hard_silu": hard_silu,
    "hard_swish": hard_silu,
    "celu": celu,
    "log_sigmoid": log_sigmoid,
    "glu": glu,
    "linear": linear,
    "hard_tanh": hard_tanh,
    "tanh_shrink": tanh_shrink,
    "hard_shrink": hard_shrink,
    "soft_shrink": soft_shrink,
    "threshold": threshold,
    "squareplus": squareplus,
    "sparse_plus": sparse_plus,
    "sparse_sigmoid": sparse_sigmoid,
    "sparsemax": sparsemax,
}


def get_activation(given):
    """By name, or the function itself; None is the identity."""
    if given is None:
        return linear
    if isinstance(given, str):
        return ACTIVATIONS[given.lower()]
    return given


class Regularizer(Made):
    """What somebody's own regularizer stands on."""

    def __call__(self, x):
        return as_tensor(0.0)

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def get_config(self):
        raise NotImplementedError(f"{type(self).__name__} has no get_config")


class Constraint(Made):
    """What somebody's own constraint stands on."""

    def __call__(self, w):
        return w

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def get_config(self):
        return {}


class L1L2(Made):
    """keras.regularizers: what a weight adds to the loss."""

    def __init__(self, l1=0.0, l2=0.0):
        self.l1, self.l2 = 0.0 if l1 is None else l1, 0.0 if l2 is None else l2

    def __call__(self, x):
        loss = as_tensor(0.0, x.dtype)
        if self.l1:
            loss = loss + self.l1 * ops.sum(ops.abs(x))
        return loss + self.l2 * ops.sum(ops.square(x)) if self.l2 else loss

    def get_config(self):
        return {"l1": self.l1, "l2": self.l2}


def L1(l1=0.01):
    return L1L2(l1=l1)


def L2(l2=0.01):
    return L1L2(l2=l2)


class OrthogonalRegularizer(Made):
    def __init__(self, factor=0.01, mode="rows"):
        self.factor, self.mode = factor, mode

    def __call__(self, x):
        axis = 1 if self.mode == "rows" else 0
        scaled = x / ops.sqrt(ops.maximum(ops.sum(x * x, axis, True), as_tensor(1e-12)))
        gram = product(scaled, scaled.T) if self.mode == "rows" else product(scaled.T, scaled)
        size = x.shape[0] if self.mode == "rows" else x.shape[1]
        away = gram * (1 - ops.eye(size, size, x.dtype))
        return self.factor * 0.5 * ops.sum(ops.abs(away)) / (size * (size - 1) / 2)


def get_regularizer(given):
    if isinstance(given, str):
        return {"l1": L1, "l2": L2, "l1_l2": lambda: L1L2(0.01, 0.01), "L1": L1, "L2": L2}[given]()
    return given() if isinstance(given, type) else given


class MaxNorm(Made):
    """keras.constraints: what a weight is held to after each update."""

    def __init__(self, max_value=2, axis=0):
        self.max_value, self.axis = max_value, axis

    def __call__(self, w):
        norms = ops.sqrt(ops.sum(ops.square(w), self.axis, True))
        return w * (ops.clamp(norms, 0.0, float(self.max_value)) / (1e-7 + norms))


class NonNeg(Made):
    def __call__(self, w):
        return ops.relu(w)


class UnitNorm(Made):
    def __init__(self, axis=0):
        self.axis = axis

    def __call__(self, w):
        return w / (1e-7 + ops.sqrt(ops.sum(ops.square(w), self.axis, True)))


class MinMaxNorm(Made):
    def __init__(self, min_value=0.0, max_value=1.0, rate=1.0, axis=0):
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w):
        norms = ops.sqrt(ops.sum(ops.square(w), self.axis, True))
        wanted = self.rate * ops.clamp(norms, float(self.min_value), float(self.max_value)) + (1 - self.rate) * norms
        return w * (wanted / (1e-7 + norms))


def get_constraint(given):
    if isinstance(given, str):
        names = {"max_norm": MaxNorm, "non_neg": NonNeg, "unit_norm": UnitNorm, "min_max_norm": MinMaxNorm}
        return names.get(given, {"MaxNorm": MaxNorm, "NonNeg": NonNeg, "UnitNorm": UnitNorm}.get(given))()
    return given() if isinstance(given, type) else given
