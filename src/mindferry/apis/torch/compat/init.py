"""torch.nn.init: each function fills the tensor that it is given, and returns it."""

import math

import mindspore as ms
import numpy as np
from mindspore.common.initializer import Normal, Orthogonal, TruncatedNormal, Uniform, initializer

from .host_numbers import host_numbers


def init_with(tensor, values):
    """Overwrite a parameter or tensor, keeping its dtype."""
    values = ms.Tensor(values).astype(tensor.dtype)
    if isinstance(tensor, ms.Parameter):
        tensor.set_data(values.copy())  # a view of something else would never be updated
    else:
        tensor.assign_value(values)
    return tensor


def fan_in_and_out(tensor):
    """torch.nn.init._calculate_fan_in_and_fan_out."""
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def correct_fan(tensor, mode):
    """torch.nn.init._calculate_correct_fan."""
    return fan_in_and_out(tensor)[mode.lower() == "fan_out"]


def calculate_gain(nonlinearity, param=None):
    """torch.nn.init.calculate_gain."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    return {"tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4}.get(nonlinearity, 1)


def init_zeros(tensor):
    """torch.nn.init.zeros_."""
    return init_constant(tensor, 0)


def init_ones(tensor):
    """torch.nn.init.ones_."""
    return init_constant(tensor, 1)


def init_constant(tensor, val):
    """torch.nn.init.constant_."""
    return init_with(tensor, np.full(tensor.shape, val))


def init_normal(tensor, mean=0.0, std=1.0, generator=None):
    """torch.nn.init.normal_."""
    return init_with(tensor, initializer(Normal(std, mean), tensor.shape).init_data())


def init_trunc_normal(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """torch.nn.init.trunc_normal_: a and b bound the values themselves."""
    return init_with(tensor, initializer(TruncatedNormal(std, mean, a, b), tensor.shape).init_data())


def init_uniform(tensor, a=0.0, b=1.0, generator=None):
    """torch.nn.init.uniform_."""
    return init_with(tensor, initializer(Uniform((b - a) / 2), tensor.shape).init_data() + (a + b) / 2)


def init_xavier_uniform(tensor, gain=1.0, generator=None):
    """torch.nn.init.xavier_uniform_."""
    bound = gain * math.sqrt(6 / sum(fan_in_and_out(tensor)))
    return init_uniform(tensor, -bound, bound)


def init_xavier_normal(tensor, gain=1.0, generator=None):
    """torch.nn.init.xavier_normal_."""
    return init_normal(tensor, 0.0, gain * math.sqrt(2 / sum(fan_in_and_out(tensor))))


def init_kaiming_uniform(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """torch.nn.init.kaiming_uniform_."""
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3 / correct_fan(tensor, mode))
    return init_uniform(tensor, -bound, bound)


def init_kaiming_normal(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """torch.nn.init.kaiming_normal_."""
    return init_normal(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(correct_fan(tensor, mode)))


def init_orthogonal(tensor, gain=1.0, generator=None):
    """torch.nn.init.orthogonal_."""
    return init_with(tensor, initializer(Orthogonal(gain), tensor.shape).init_data())


def init_eye(tensor):
    """torch.nn.init.eye_."""
    return init_with(tensor, np.eye(*tensor.shape))


def init_dirac(tensor, groups=1):
    """torch.nn.init.dirac_: a convolution that hands its input on."""
    values = np.zeros(tensor.shape, np.float32)
    rows = tensor.shape[0] // groups
    centre = tuple(size // 2 for size in tensor.shape[2:])
    for group in range(groups):
        for index in range(min(rows, tensor.shape[1])):
            values[(group * rows + index, index, *centre)] = 1
    return init_with(tensor, values)


def init_sparse(tensor, sparsity, std=0.01, generator=None):
    """torch.nn.init.sparse_: in every column, this share of the rows is zero."""
    rows, columns = tensor.shape
    values = initializer(Normal(std), tensor.shape).init_data().asnumpy().copy()
    for column in range(columns):
        values[host_numbers().permutation(rows)[: math.ceil(sparsity * rows)], column] = 0
    return init_with(tensor, values)
