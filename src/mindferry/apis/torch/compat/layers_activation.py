"""Activations with torch's arguments."""

from mindspore import nn, ops

from .functional_norm import (
    celu,
    elu,
    hardswish,
    hardtanh,
    leaky_relu,
    log1p_exp,
    log_softmax,
    logsigmoid,
    mish,
    plain_softmax,
    relu6,
    selu,
    softmax,
    tanh,
    tanhshrink,
)


class ReLU(nn.ReLU):
    """mindspore.nn.ReLU that takes inplace, which has no meaning here."""

    def __init__(self, inplace=False):
        super().__init__()


class ReLU6(nn.ReLU6):
    """mindspore.nn.ReLU6 with torch's gradient at 6."""

    def __init__(self, inplace=False):
        super().__init__()

    def construct(self, input):
        return relu6(input)


class SiLU(nn.SiLU):
    """mindspore.nn.SiLU that takes inplace."""

    def __init__(self, inplace=False):
        super().__init__()


class Mish(nn.Cell):
    """torch.nn.Mish."""

    def __init__(self, inplace=False):
        super().__init__()

    def construct(self, input):
        return mish(input)


class Hardswish(nn.HSwish):
    """mindspore.nn.HSwish with torch's gradient at -3 and 3."""

    def __init__(self, inplace=False):
        super().__init__()

    def construct(self, input):
        return hardswish(input)


class Hardsigmoid(nn.HSigmoid):
    """mindspore.nn.HSigmoid that takes inplace."""

    def __init__(self, inplace=False):
        super().__init__()


class LeakyReLU(nn.LeakyReLU):
    """mindspore.nn.LeakyReLU with torch's default slope, and its gradient at 0, which is the slope."""

    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__(negative_slope)

    def construct(self, x):
        return leaky_relu(x, self.alpha)


class GELU(nn.GELU):
    """mindspore.nn.GELU, exact unless approximate is 'tanh'."""

    def __init__(self, approximate="none"):
        super().__init__(approximate == "tanh")


class ELU(nn.Cell):
    """torch.nn.ELU with any alpha."""

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha = alpha

    def construct(self, input):
        return elu(input, self.alpha)


class SELU(nn.Cell):
    """torch.nn.SELU; mindspore.nn.SeLU has a wrong gradient on CPU."""

    def __init__(self, inplace=False):
        super().__init__()

    def construct(self, input):
        return selu(input)


class CELU(nn.Cell):
    """torch.nn.CELU."""

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha = alpha

    def construct(self, input):
        return celu(input, self.alpha)


class PReLU(nn.PReLU):
    """mindspore.nn.PReLU with torch's argument names."""

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__(num_parameters, init)
        self.num_parameters = num_parameters


class RReLU(nn.Cell):
    """torch.nn.RReLU: a random slope in training, the mean slope in evaluation."""

    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        super().__init__()
        self.lower, self.upper = lower, upper

    def construct(self, input):
        slope = (self.lower + self.upper) / 2
        if self.training:
            slope = ops.rand_like(input) * (self.upper - self.lower) + self.lower
        return ops.where(input > 0, input, input * slope)


class Softmax(nn.Cell):
    """torch.nn.Softmax, with or without dim."""

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def construct(self, input):
        return softmax(input, self.dim)


class PlainSoftmax(nn.Softmax):
    """torch.nn.Softmax with dim, where no row is all minus infinity."""

    def __init__(self, axis):
        super().__init__(axis)
        self.axis = axis

    def construct(self, input):
        return plain_softmax(input, self.axis)


class LogSoftmax(nn.Cell):
    """torch.nn.LogSoftmax, with or without dim."""

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def construct(self, input):
        return log_softmax(input, self.dim)


class Softmin(nn.Cell):
    """torch.nn.Softmin, with or without dim."""

    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def construct(self, input):
        return softmax(-input, self.dim)


class Softmax2d(nn.Cell):
    """torch.nn.Softmax2d: over the channels."""

    def construct(self, input):
        return softmax(input, -3)


class Softplus(nn.Cell):
    """torch.nn.Softplus: the identity above threshold."""

    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def construct(self, input):
        x = input * self.beta
        return ops.select(x > self.threshold, input, log1p_exp(x) / self.beta)


class LogSigmoid(nn.LogSigmoid):
    """mindspore.nn.LogSigmoid, finite below -88 too."""

    def construct(self, input):
        return logsigmoid(input)


class Tanh(nn.Tanh):
    """mindspore.nn.Tanh, exact in float32 on CPU too."""

    def construct(self, input):
        return tanh(input)


class Tanhshrink(nn.Tanhshrink):
    """mindspore.nn.Tanhshrink, exact in float32 on CPU too."""

    def construct(self, input):
        return tanhshrink(input)


class Hardtanh(nn.Hardtanh):
    """mindspore.nn.Hardtanh with torch's gradient at the bounds, which may be whole numbers."""

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False):
        super().__init__(float(min_val), float(max_val))

    def construct(self, input):
        return hardtanh(input, self.min_val, self.max_val)


class Threshold(nn.Cell):
    """torch.nn.Threshold."""

    def __init__(self, threshold, value, inplace=False):
        super().__init__()
        self.threshold, self.value = threshold, value

    def construct(self, input):
        return ops.select(input > self.threshold, input, ops.full_like(input, self.value))


class GLU(nn.GLU):
    """mindspore.nn.GLU with torch's argument name."""

    def __init__(self, dim=-1):
        super().__init__(dim)
