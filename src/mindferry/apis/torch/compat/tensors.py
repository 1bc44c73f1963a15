"""Methods and constructors of tensors with torch's meaning."""

import copy
import operator

import mindspore as ms
import numpy as np
from mindspore import ops

from .functions_shape import tile


def overwrite(x, value):
    """Write into a tensor that others hold too. Gradients go through an indexed assignment; ops.assign would cut them off."""
    if isinstance(x, ms.Parameter):
        ops.assign(x, in_shape_of(x, value) if isinstance(value, ms.Tensor) else value)
    else:
        x[...] = value


def write_whole(x, value):
    """x[:] = value. Written so, a parameter would become a view, which optimizers leave as it is."""
    extra = getattr(value, "ndim", 0) - getattr(x, "ndim", 0)
    if extra > 0 and isinstance(x, ms.Tensor):
        value = value.reshape(value.shape[extra:])  # torch drops the ones that its shape starts with
    if isinstance(x, ms.Parameter):
        value = value.astype(x.dtype) if isinstance(value, ms.Tensor) else ms.Tensor(value, x.dtype)
        value = in_shape_of(x, value)
        ops.assign(x, value if value.shape == x.shape else value.broadcast_to(x.shape))
    elif getattr(x, "ndim", 1):  # a list has none
        x[:] = value  # views see it; x[...] = value would give a tensor other memory
    else:
        x[...] = value


def write_through(x, value):
    """Write into the memory that a tensor shares with its views; x[...] = value would give x other memory."""
    if isinstance(x, ms.Parameter):
        overwrite(x, value)
    elif x.ndim:
        x[:] = value
    else:
        x[()] = value


def written(x, value):
    """The tensor with the value written into it; the value where x is no tensor, such as a total that starts as a number."""
    if not isinstance(x, ms.Tensor):
        return value
    overwrite(x, value)
    return x


def augmented(x, sign, value):
    """`x += value` of what a container holds: a tensor is written to; a number, a list or an array is as Python has it."""
    name = {"+": "add", "-": "sub", "*": "mul", "/": "truediv"}[sign]
    if not isinstance(x, ms.Tensor):
        return getattr(operator, f"i{name}")(x, value)
    overwrite(x, getattr(operator, name)(x, value))
    return x


def write_at(x, index, value):
    """x[index] = value for an index by tensors, into the memory that x shares with its views."""
    changed = x.copy()
    changed[index] = value
    write_through(x, changed)


def in_shape_of(parameter, value):
    """A value for a Conv1d's weight, which has an axis more in MindSpore: (out, in, 1, width)."""
    return value.reshape(parameter.shape) if value.ndim == 3 and parameter.ndim == 4 else value


def write_entry(holder, key, value):
    """holder[key] changes in place: a tensor in a list or a dictionary gets the value, in its own shape and type."""
    held = holder[key]
    if isinstance(holder, ms.Tensor) or not isinstance(held, ms.Tensor):
        holder[key] = value
        return
    value = ms.Tensor(value, held.dtype) if not isinstance(value, ms.Tensor) else value.astype(held.dtype)
    value = value.reshape(held.shape) if value.size == held.size else value.broadcast_to(held.shape)
    overwrite(held, value)


def deepcopy(value):
    """copy.deepcopy, with memory of their own for the tensors in it."""
    copied = {}
    result = copy.deepcopy(value, copied)
    for each in list(copied.values()):
        if isinstance(each, ms.Tensor) and not isinstance(each, ms.Parameter):
            each.assign_value(each.copy())
    return result


def size_of(x):
    """x.size() of a tensor, or of something else that has one."""
    return x.shape if isinstance(x, ms.Tensor) else x.size()


def expand_to(x, *sizes):
    """torch's x.expand: sizes one by one or as one tuple."""
    if len(sizes) == 1 and not isinstance(sizes[0], int):
        sizes = tuple(sizes[0])
    return x.broadcast_to(sizes)


def repeat_by(x, *sizes):
    """torch's x.repeat: sizes one by one or as one tuple."""
    return tile(x, *sizes)


def unfold_dimension(x, dimension, size, step):
    """torch's x.unfold: all windows of `size` along a dimension, as a new last one."""
    if x.ndim == 0:
        return ops.narrow(x.reshape((1,)), 0, 0, size)
    dimension = dimension % x.ndim
    count = (x.shape[dimension] - size) // step + 1
    windows = [ops.narrow(x, dimension, index * step, size).expand_dims(dimension) for index in range(count)]
    return ops.cat(windows, dimension).movedim(dimension + 1, -1)


def sum_to_size(x, *size):
    """torch's x.sum_to_size: the sum that broadcasting to x undoes."""
    sizes = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    extra = x.ndim - len(sizes)
    dims = (
        *range(extra),
        *(extra + axis for axis, each in enumerate(sizes) if each == 1 and x.shape[extra + axis] != 1),
    )
    return ops.sum(x, dims, True).reshape(sizes) if dims else x


def typed_tensor(dtype, arguments):
    """torch.FloatTensor and its like: sizes give zeros (torch: whatever was in memory), data give a tensor."""
    if not arguments:
        return ms.Tensor(np.zeros((0,), np.float32), dtype)
    if all(isinstance(each, int) for each in arguments):
        return ops.zeros(arguments, dtype)
    data = arguments[0]
    if isinstance(data, ms.Tensor):
        return data.astype(dtype)
    return ms.Tensor(np.asarray(data), dtype)


def is_tensor_of(x, kinds):
    """isinstance(x, (int, torch.LongTensor)): an object of one of the classes, or a tensor of one of the types among them."""
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if isinstance(x, kind) if isinstance(kind, type) else isinstance(x, ms.Tensor) and x.dtype == kind:
            return True
    return False


def FloatTensor(*arguments):
    return typed_tensor(ms.float32, arguments)


def DoubleTensor(*arguments):
    return typed_tensor(ms.float64, arguments)


def HalfTensor(*arguments):
    return typed_tensor(ms.float16, arguments)


def BFloat16Tensor(*arguments):
    return typed_tensor(ms.bfloat16, arguments)


def LongTensor(*arguments):
    return typed_tensor(ms.int64, arguments)


def IntTensor(*arguments):
    return typed_tensor(ms.int32, arguments)


def ShortTensor(*arguments):
    return typed_tensor(ms.int16, arguments)


def CharTensor(*arguments):
    return typed_tensor(ms.int8, arguments)


def ByteTensor(*arguments):
    return typed_tensor(ms.uint8, arguments)


def BoolTensor(*arguments):
    return typed_tensor(ms.bool_, arguments)


def new_tensor(x, data, dtype=None, device=None, requires_grad=False):
    """torch's x.new_tensor: the data in x's type."""
    if isinstance(data, ms.Tensor):
        return ops.stop_gradient(data).astype(dtype or x.dtype)
    return ms.Tensor(list(data) if isinstance(data, range) else data, dtype or x.dtype)


def new_of(x, *arguments):
    """torch's x.new: numbers or a shape are sizes of zeros (torch: whatever was in memory), anything else is data."""
    sizes = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], tuple) else arguments
    if all(isinstance(each, (int, np.integer)) for each in sizes):
        return ops.zeros(tuple(map(int, sizes)) or (0,), x.dtype)
    return new_tensor(x, arguments[0])


def cast(x, like):
    """x.to(y) where y is a type or a tensor of that type."""
    return x.astype(like.dtype if isinstance(like, ms.Tensor) else like)


class Device(str):
    """torch.device: the target that MindSpore runs on, unless the CPU is asked for. MindSpore's name as a string, with torch's face."""

    def __new__(cls, type=None, index=None):
        is_cpu = str(type).lower().partition(":")[0] == "cpu"
        return super().__new__(cls, "CPU" if is_cpu else ms.get_context("device_target"))

    @property
    def type(self):
        return device_type(self)

    @property
    def index(self):
        return None if self.type == "cpu" else 0

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __format__(self, spec):
        return format(str(self), spec)

    def __repr__(self):
        return (
            f"device(type={self.type!r})" if self.index is None else f"device(type={self.type!r}, index={self.index})"
        )


def device_type(device):
    """torch.device.type: 'cpu' for 'CPU', 'ascend' for 'Ascend:0'."""
    return str.partition(device, ":")[0].lower() if isinstance(device, str) else device.type


def is_sparse(x):
    """torch's x.is_sparse."""
    return getattr(x, "is_sparse", False) or isinstance(x, (ms.COOTensor, ms.CSRTensor))


def in_place(layer, inplace=True):
    """A layer with inplace=True whose input is read again: the input gets what the layer makes of it. PyNative mode."""
    if not inplace:
        return layer
    compute = layer.construct

    def construct(x):
        overwrite(x, compute(x * 1))  # of a copy: the gradient is taken at the values that the input had
        return x

    layer.construct = construct
    return layer
