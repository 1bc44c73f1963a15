"""Keras' functional API: what is computed with a symbolic tensor is noted, and computed again when the network is called."""

import functools
import operator

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from .products import product
from .tensors import Names, as_dtype, flat, map_structure

OPEN_SIZES = (64, 96)  # what an open axis is tried with, and once more


class KerasTensor:
    """Stands for a tensor of a network that is being put together. `sample` is computed along, so every shape is known.

    `other` is a second sample, with other sizes where an axis is open: what comes out otherwise for it is open too.
    """

    def __init__(self, sample, shape=None, node=None, name=None, other=None):
        self.sample, self.node, self.name, self.other = sample, node, name, other
        self.shape = (None, *sample.shape[1:]) if shape is None else shape
        self.dtype = sample.dtype
        self.ndim = len(self.shape)

    def get_shape(self):
        return self.shape

    def __repr__(self):
        return f"<KerasTensor shape={self.shape} dtype={self.dtype}>"

    def __add__(self, other):
        return symbolic_add(self, other)

    def __radd__(self, other):
        return symbolic_add(other, self)

    def __sub__(self, other):
        return symbolic_sub(self, other)

    def __rsub__(self, other):
        return symbolic_sub(other, self)

    def __mul__(self, other):
        return symbolic_mul(self, other)

    def __rmul__(self, other):
        return symbolic_mul(other, self)

    def __truediv__(self, other):
        return symbolic_div(self, other)

    def __rtruediv__(self, other):
        return symbolic_div(other, self)

    def __pow__(self, other):
        return symbolic_pow(self, other)

    def __matmul__(self, other):
        return symbolic_matmul(self, other)

    def __rmatmul__(self, other):
        return symbolic_matmul(other, self)

    def __rpow__(self, other):
        return symbolic_pow(other, self)

    def __neg__(self):
        return symbolic_mul(self, -1.0)

    def __lt__(self, other):
        return symbolic_less(self, other)

    def __le__(self, other):
        return symbolic_less_equal(self, other)

    def __gt__(self, other):
        return symbolic_greater(self, other)

    def __ge__(self, other):
        return symbolic_greater_equal(self, other)

    def __ne__(self, other):  # Keras has no == of its own here: a symbolic tensor is itself alone
        return symbolic_operator(operator.ne, self, other)

    def __abs__(self):
        return symbolic_operator(operator.abs, self)

    def __floordiv__(self, other):
        return symbolic_operator(operator.floordiv, self, other)

    def __rfloordiv__(self, other):
        return symbolic_operator(operator.floordiv, other, self)

    def __mod__(self, other):
        return symbolic_operator(operator.mod, self, other)

    def __rmod__(self, other):
        return symbolic_operator(operator.mod, other, self)

    def __and__(self, other):
        return symbolic_operator(ops.logical_and, self, other)

    def __or__(self, other):
        return symbolic_operator(ops.logical_or, self, other)

    def __xor__(self, other):
        return symbolic_operator(ops.logical_xor, self, other)

    def __invert__(self):
        return symbolic_operator(ops.logical_not, self)

    def __getitem__(self, key):
        return symbolic_item(self, key)

    def __iter__(self):
        raise TypeError("a symbolic tensor can't be iterated over")

    def __bool__(self):
        raise TypeError("a symbolic tensor has no truth value")


class Node:
    """One call: the operation, its arguments, and what came out."""

    def __init__(self, operation, args, kwargs):
        self.operation, self.args, self.kwargs = operation, args, kwargs
        self.inputs = [each for each in flat([args, kwargs]) if is_symbolic(each)]
        self.outputs = None


class FunctionOperation:
    """A function in a network's graph."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)


class InputOperation:
    """What stands first among a network's layers: it has a name, and nothing to train."""

    trainable = True
    weights = trainable_weights = non_trainable_weights = ()

    def __init__(self, name):
        self.name = name

    def get_weights(self):
        return []

    def count_params(self):
        return 0


def is_symbolic(value):
    return isinstance(value, KerasTensor)


def call_on_symbols(operation, args, kwargs):
    """Note the call, and compute it with the samples."""
    node = Node(operation, args, kwargs)
    made = operation(*samples_of(args), **samples_of(kwargs))
    others = iter(flat(others_of(operation, node)) if any(each.other is not None for each in node.inputs) else ())
    node.outputs = map_structure(lambda each: symbol_of(each, next(others, None), node), made)
    if hasattr(operation, "_nodes"):
        operation._nodes.append(node)
    return node.outputs


def source_inputs(tensor):
    """The inputs that a symbolic tensor was computed from."""
    found = Graph([], tensor).nodes
    return [node.outputs for node in found if isinstance(node.operation, InputOperation)]


def image_data_format():
    """keras.config.image_data_format."""
    return "channels_last"


def samples_of(structure):
    return map_structure(lambda each: each.sample if is_symbolic(each) else each, structure)


def others_of(operation, node):
    """What comes out for the second samples; weights are made by now."""
    try:
        args, kwargs = (
            map_structure(lambda each: second_of(each) if is_symbolic(each) else each, part)
            for part in (node.args, node.kwargs)
        )
        return operation(*args, **kwargs)
    except (ValueError, RuntimeError, TypeError, IndexError):  # it takes this one size: nothing is open behind it
        return ()


def second_of(symbol):
    return symbol.sample if symbol.other is None else symbol.other


def symbol_of(sample, other, node):
    if other is None or not hasattr(sample, "shape") or other.shape[1:] == sample.shape[1:]:
        return KerasTensor(sample, None, node)
    sizes = (one if one == two else None for one, two in zip(sample.shape[1:], other.shape[1:]))
    return KerasTensor(sample, (None, *sizes), node, None, other)


def symbolic(function):
    """A function that may be called with symbolic tensors too."""

    @functools.wraps(function)
    def either(*args, **kwargs):
        if any(map(is_symbolic, flat([args, kwargs]))):
            return call_on_symbols(FunctionOperation(function), args, kwargs)
        return function(*args, **kwargs)

    return either


@symbolic
def symbolic_operator(function, *operands):
    return function(*operands)


@symbolic
def symbolic_add(x, y):
    return x + y


@symbolic
def symbolic_sub(x, y):
    return x - y


@symbolic
def symbolic_mul(x, y):
    return x * y


@symbolic
def symbolic_div(x, y):
    return x / y


@symbolic
def symbolic_pow(x, y):
    return x**y


@symbolic
def symbolic_matmul(x, y):
    return product(x, y)


@symbolic
def symbolic_less(x, y):
    return x < y


@symbolic
def symbolic_less_equal(x, y):
    return x <= y


@symbolic
def symbolic_greater(x, y):
    return x > y


@symbolic
def symbolic_greater_equal(x, y):
    return x >= y


@symbolic
def symbolic_item(x, key):
    return x[key]


def Input(shape=None, batch_size=None, dtype=None, sparse=None, batch_shape=None, name=None, tensor=None, **_):
    """keras.Input."""
    if batch_shape is not None:
        batch_size, shape = batch_shape[0], tuple(batch_shape[1:])
    shape = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
    node = Node(InputOperation(name or Names.unique("input_layer")), (), {})
    sample, other = (input_sample(shape, batch_size, dtype, size) for size in OPEN_SIZES)
    node.outputs = KerasTensor(sample, (batch_size, *shape), node, name, other if None in shape else None)
    return node.outputs


def fitting_input(symbol, value):
    """In the input's type, and with as many axes: Keras adds a last one of one place, or takes it away."""
    if not isinstance(value, Tensor):
        return value
    made = value if value.dtype == symbol.dtype else ops.cast(value, symbol.dtype)
    if made.ndim == symbol.ndim + 1 and made.shape[-1] == 1:
        made = ops.squeeze(made, -1)
    elif made.ndim == symbol.ndim - 1 and symbol.shape[-1] == 1:
        made = ops.expand_dims(made, -1)
    if made is not value and hasattr(value, "_keras_mask"):
        made._keras_mask = value._keras_mask
    return made


def input_sample(shape, batch_size, dtype, size):
    whole = (batch_size or 2, *(size if each is None else int(each) for each in shape))
    is_text = dtype == "string" or dtype == ms.string
    return np.full(whole, "") if is_text else ops.zeros(whole, as_dtype(dtype or ms.float32))


class Graph:
    """What leads from some symbolic tensors to others, in the order in which it is computed."""

    def __init__(self, inputs, outputs):
        self.inputs, self.outputs = inputs, outputs
        self.nodes = []
        self.indices = {}
        for each in flat(outputs):
            self._visit(each.node)

    def _visit(self, node):
        """Without recursion: networks are deeper than Python's stack."""
        stops = {id(each) for each in flat(self.inputs)}
        waiting, entered, finished = (
            [(node, False)],
            {id(each) for each in self.nodes},
            {id(each) for each in self.nodes},
        )
        while waiting:
            current, is_left = waiting.pop()
            if is_left:
                if id(current) not in finished:
                    finished.add(id(current))
                    self.nodes.append(current)
                continue
            if id(current) in entered:
                continue
            entered.add(id(current))
            self.indices.setdefault(id(current.operation), len(self.indices))
            waiting.append((current, True))
            if not any(id(each) in stops for each in flat(current.outputs)):
                waiting += [(each.node, False) for each in reversed(current.inputs)]

    @property
    def operations(self):
        """In Keras' order: by their distance from the outputs, then as they are met."""
        depths, of_node, found = {}, {}, {}
        for node in reversed(self.nodes):
            depth = max(of_node.get(id(node), 0), depths.get(id(node.operation), 0))
            depths[id(node.operation)] = of_node[id(node)] = depth
            found[id(node.operation)] = node.operation
            for each in node.inputs:
                of_node[id(each.node)] = max(depth + 1, of_node.get(id(each.node), 0))
        order = sorted(found, key=lambda key: (-depths[key], self.indices[key]))
        return [found[key] for key in order]

    def run(self, given, training):
        """The outputs for these inputs."""
        pairs = zip(flat(self.inputs), flat(given), strict=True)
        values = {id(symbol): fitting_input(symbol, value) for symbol, value in pairs}
        for node in self.nodes:
            if all(id(each) in values for each in flat(node.outputs)):
                continue
            if isinstance(node.operation, InputOperation):
                raise ValueError(f"the network needs the input {node.operation.name}, which it was not given")
            args, kwargs = (self._filled(each, values) for each in (node.args, node.kwargs))
            if training is not None and hasattr(node.operation, "_nodes"):
                kwargs["training"] = (
                    training  # also where the layer was told otherwise when the network was put together
                )
            made = node.operation(*args, **kwargs)
            values.update({id(symbol): value for symbol, value in zip(flat(node.outputs), flat(made), strict=True)})
        wanted = self.outputs
        if isinstance(wanted, (list, tuple)) and len(wanted) == 1:  # Keras hands the one output out of its list
            wanted = wanted[0]
        return map_structure(lambda each: values[id(each)], wanted)

    def _filled(self, structure, values):
        return map_structure(lambda each: values[id(each)] if is_symbolic(each) else each, structure)
