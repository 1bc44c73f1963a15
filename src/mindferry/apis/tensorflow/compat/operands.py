"""How tensors and arrays meet: TensorFlow's take arrays as operands, and NumPy's functions take TensorFlow's tensors."""

import functools

import mindspore as ms
import numpy as np
from mindspore import Tensor

from .tensors import Calls, assign, assign_add, assign_sub, is_float, to_numpy

OPERATORS = "add sub mul truediv floordiv mod pow matmul".split()
WHOLE = (ms.int8, ms.int16, ms.int32, ms.int64, ms.uint8)
IN_PLACE = "add sub mul truediv floordiv mod".split()
COMPARISONS = "eq ne lt le gt ge".split()


def equip_tensors():
    """MindSpore's tensors get the methods of TensorFlow's, for values of which the text did not tell that they are tensors."""
    methods = {"numpy": to_numpy, "get_shape": lambda x: x.shape, "set_shape": lambda x, shape: None}
    of_variables = {"assign": assign, "assign_add": assign_add, "assign_sub": assign_sub, "read_value": lambda x: x + 0}
    of_variables["trainable"] = property(lambda x: x.requires_grad, lambda x, is_on: setattr(x, "requires_grad", is_on))
    for owner, given in ((Tensor, methods), (ms.Parameter, of_variables)):
        for name, function in given.items():
            if not hasattr(owner, name):
                setattr(owner, name, function)
    if not hasattr(Tensor.__getitem__, "takes_numbers_of_numpy"):
        Tensor.__getitem__ = with_plain_index(Tensor.__getitem__)
    meet_arrays()


def with_plain_index(take):
    """MindSpore takes neither numpy's numbers as indices nor tensors as bounds of slices."""

    def item(x, index):
        return take(x, plain_index(index))

    item.takes_numbers_of_numpy = True
    return item


def plain_index(index):
    if isinstance(index, tuple):
        return tuple(plain_index(each) for each in index)
    if isinstance(index, slice):
        return slice(*(plain_bound(each) for each in (index.start, index.stop, index.step)))
    if isinstance(index, Tensor) and not index.ndim and index.dtype in WHOLE and not Calls.is_rehearsal:
        return int(index.asnumpy())  # MindSpore can't take the gradient of `x[0, i]` by such an index
    return index.item() if isinstance(index, np.generic) else index


def plain_bound(bound):
    is_single = isinstance(bound, (Tensor, np.generic, np.ndarray))
    return int(bound.asnumpy() if isinstance(bound, Tensor) else bound) if is_single else bound


def meet_arrays():
    """Of MindSpore's own, `y - model(x)` and `x *= y` fail where y is an array, `==` is False, and NumPy asks for `mean` with `out=`."""
    if hasattr(Tensor, "__array_function__"):
        return
    reflected = [f"r{name}" for name in OPERATORS]
    for name in (*OPERATORS, *reflected, *COMPARISONS):
        if hasattr(Tensor, f"__{name}__"):
            setattr(Tensor, f"__{name}__", with_arrays(getattr(Tensor, f"__{name}__")))
    for name in IN_PLACE:
        setattr(Tensor, f"__i{name}__", getattr(Tensor, f"__{name}__"))
    Tensor.__array_function__ = call_with_arrays
    Tensor.__array_priority__ = 1000


def with_arrays(operator):
    @functools.wraps(operator)
    def apply(x, y):
        return operator(x, as_operand(y, x) if isinstance(y, (np.ndarray, np.generic)) else y)

    return apply


def as_operand(array, tensor):
    """An array is of the tensor's type next to it, unless it would lose its fractions."""
    if array.dtype.kind in "USO":
        return array
    if isinstance(array, np.generic):
        return array.item()
    made = Tensor(np.array(array))
    loses = array.dtype.kind == "c" or (array.dtype.kind == "f" and not is_float(tensor))
    return made if loses or made.dtype == tensor.dtype else made.astype(tensor.dtype)


def call_with_arrays(tensor, function, types, args, kwargs):
    """np.mean(tensor): NumPy computes with the tensors' arrays."""
    return function(*as_arrays(args), **as_arrays(kwargs))


def as_arrays(given):
    if isinstance(given, Tensor):
        return given.asnumpy()
    if isinstance(given, dict):
        return {key: as_arrays(each) for key, each in given.items()}
    return type(given)(as_arrays(each) for each in given) if type(given) in (list, tuple) else given
