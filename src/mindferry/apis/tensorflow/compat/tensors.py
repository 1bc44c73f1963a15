"""Values as TensorFlow takes them: lists, numbers and arrays become tensors; variables are MindSpore's parameters."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

DTYPES = {
    **{
        name: getattr(ms, name)
        for name in "float16 float32 float64 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128".split()
    },
    "bool": ms.bool_,
    "half": ms.float16,
    "double": ms.float64,
    "float": ms.float32,
    "int": ms.int32,
}


def as_dtype(dtype):
    """MindSpore's type for one of TensorFlow's, of NumPy's, or a name of either."""
    if dtype is None or isinstance(dtype, type(ms.float32)) or dtype in DTYPES.values():
        return dtype
    if isinstance(dtype, str):
        return DTYPES[dtype]
    return DTYPES[np.dtype(dtype).name]


def dtype_name(dtype):
    """'float32', for whatever names it."""
    return next(name for name, each in DTYPES.items() if each == as_dtype(dtype))


class Made:
    """Remembers what it was made with, so that it can be made again."""

    def __new__(cls, *args, **kwargs):
        made = super().__new__(cls)
        made.__dict__["_made_with"] = (args, kwargs)
        return made


def is_float_type(dtype):
    """dtype.is_floating."""
    return dtype_name(dtype) in ("float16", "float32", "float64", "bfloat16")


def numpy_dtype(dtype):
    """dtype.as_numpy_dtype."""
    return np.dtype(dtype_name(dtype)).type


def dtype_max(dtype):
    """dtype.max."""
    name = dtype_name(dtype)
    return np.finfo(name).max.item() if is_float_type(dtype) else np.iinfo(name).max


def dtype_min(dtype):
    """dtype.min."""
    name = dtype_name(dtype)
    return np.finfo(name).min.item() if is_float_type(dtype) else np.iinfo(name).min


def is_float(x):
    return x.dtype in (ms.float16, ms.float32, ms.float64, ms.bfloat16)


def is_number(value):
    return isinstance(value, (bool, int, float, np.generic))


def as_tensor(value, dtype=None):
    """tf.convert_to_tensor: Python's numbers are float32 and int32, arrays keep their type."""
    dtype = as_dtype(dtype)
    if isinstance(value, Tensor):
        return value if dtype is None or value.dtype == dtype else ops.cast(value, dtype)
    if isinstance(value, (list, tuple)) and any(isinstance(each, Tensor) for each in flat(value)):
        made = ops.stack([as_tensor(each) for each in value])
        return made if dtype is None else ops.cast(made, dtype)
    array = np.asarray(value)
    if array.dtype.kind in "US" or (array.dtype.kind == "O" and isinstance(array.flat[0], (str, bytes))):
        return array if array.dtype.kind == "U" else as_text(array)  # text stays with numpy
    if dtype is None and not isinstance(value, (np.ndarray, np.generic)):
        if array.dtype == np.float64 and not _has_arrays(value):
            array = array.astype(np.float32)
        elif array.dtype == np.int64 and not _has_arrays(value):
            array = array.astype(np.int32)
    if dtype is not None:
        return Tensor(np.array(array)).astype(dtype) if array.dtype != object else Tensor(value, dtype)
    return Tensor(np.array(array))


def _has_arrays(value):
    return isinstance(value, (list, tuple)) and any(isinstance(each, (np.ndarray, np.generic)) for each in flat(value))


def like_tensor(value, other):
    """The second operand, of the first one's type if it is a plain number or list."""
    if isinstance(value, Tensor):
        return value
    if isinstance(other, Tensor) and not isinstance(value, (np.ndarray, np.generic)):
        return as_tensor(value, other.dtype)
    return as_tensor(value)


def both_tensors(x, y):
    x, y = (like_tensor(x, y), y) if isinstance(y, Tensor) else (x, y)
    x = as_tensor(x)
    return x, like_tensor(y, x)


def flat(structure):
    """The values of nested lists, tuples and dictionaries, in TensorFlow's order."""
    if isinstance(structure, dict):
        return [each for key in sorted(structure) for each in flat(structure[key])]
    if isinstance(structure, (list, tuple)):
        return [each for part in structure for each in flat(part)]
    return [] if structure is None else [structure]


def map_structure(function, structure, *others):
    """tf.nest.map_structure."""
    if isinstance(structure, dict):
        return {key: map_structure(function, structure[key], *(other[key] for other in others)) for key in structure}
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(map_structure(function, *parts) for parts in zip(structure, *others)))
    if isinstance(structure, (list, tuple)):
        return type(structure)(map_structure(function, *parts) for parts in zip(structure, *others))
    return None if structure is None else function(structure, *others)


def numpy_of(x):
    """The array of a tensor; anything else as it is."""
    if isinstance(x, Tensor):
        array = x.asnumpy().copy()  # a variable's own memory changes with it
        return array if array.ndim else array[()]
    return x


def to_numpy(x):
    """x.numpy(), of a tensor or of anything else that has it; text is bytes there."""
    if isinstance(x, (np.ndarray, np.str_)) and x.dtype.kind == "U":
        made = np.array([each.encode() for each in np.ravel(x)], object).reshape(np.shape(x))
        return made if made.ndim else made[()]
    return numpy_of(x) if isinstance(x, Tensor) or not hasattr(x, "numpy") else x.numpy()


def as_text(array):
    """Bytes, as numpy() gives them, are text again."""
    each = [part.decode() if isinstance(part, bytes) else str(part) for part in np.ravel(array)]
    return np.array(each, str).reshape(np.shape(array))


def Variable(initial_value=None, trainable=True, validate_shape=True, name=None, dtype=None, shape=None, **settings):
    """tf.Variable as one of MindSpore's parameters."""
    value = initial_value() if callable(initial_value) else initial_value
    return make_variable(as_tensor(value, dtype), bool(trainable), name or "Variable")


def make_variable(value, trainable, name):
    return ms.Parameter(Tensor(value.asnumpy()), name=Names.unique(name), requires_grad=trainable)


class Calls:
    """The layers that are being called: how many stand in each other, and the mode that was told last."""

    depth, mode = 0, None
    is_rehearsal = False  # what runs was run before: nothing is assigned to


class Names:
    """MindSpore tells parameters apart by their names, as Keras does layers."""

    counts = {}

    @classmethod
    def unique(cls, name):
        count = cls.counts.get(name, 0)
        cls.counts[name] = count + 1
        return f"{name}_{count}" if count else name

    @classmethod
    def clear(cls):
        cls.counts.clear()


def assign(variable, value, *_, **__):
    """variable.assign(value)."""
    if not isinstance(variable, Tensor):
        return variable.assign(value)
    if Calls.is_rehearsal:
        return variable
    value = as_tensor(value, variable.dtype)
    if value.shape != variable.shape:
        value = ops.broadcast_to(value, variable.shape)
    ops.assign(variable, Tensor(value.asnumpy()))
    return variable


def assign_add(variable, delta, *_, **__):
    return (
        assign(variable, variable + as_tensor(delta, variable.dtype))
        if isinstance(variable, Tensor)
        else variable.assign_add(delta)
    )


def assign_sub(variable, delta, *_, **__):
    return (
        assign(variable, variable - as_tensor(delta, variable.dtype))
        if isinstance(variable, Tensor)
        else variable.assign_sub(delta)
    )


def assign_part(variables, index, value):
    """table[0, 1].assign(5.0): to a part of a variable; weights[0].assign(x): to one of several variables."""
    if not isinstance(variables, Tensor):
        return assign(variables[index], value)
    whole = numpy_of(variables)
    whole[map_structure(numpy_of, index)] = numpy_of(value)
    return assign(variables, whole)
