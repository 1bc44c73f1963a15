"""Gradients that a program writes itself (tf.custom_gradient), and tables of gradients (a tape's jacobian)."""

import functools
import inspect

import numpy as np
from mindspore import Tensor, nn, ops

from .tensors import as_tensor, flat, map_structure


class OwnGradient(nn.Cell):
    """A function that gives its value and the function for its gradient."""

    def __init__(self, function):
        super().__init__(auto_prefix=False)
        self.__dict__["function"] = function

    def construct(self, *args):
        return self.__dict__["function"](*args)[0]

    def bprop(self, *args):
        *given, _, upstream = args
        gradient = self.__dict__["function"](*given)[1]
        if "variables" in inspect.signature(gradient).parameters:
            raise NotImplementedError("a gradient of one's own by variables: hand them to the function as arguments")
        made = gradient(*upstream) if isinstance(upstream, tuple) else gradient(upstream)
        return tuple(made) if isinstance(made, (list, tuple)) else (made,)


def custom_gradient(f):
    """tf.custom_gradient."""

    @functools.wraps(f)
    def with_own_gradient(*args, **kwargs):
        given = [each if isinstance(each, Tensor) else as_tensor(each) for each in args]
        return OwnGradient(functools.partial(f, **kwargs))(*given)

    return with_own_gradient


class Jacobians:
    """Of a tape that can be run again for each number of what it computed."""

    def jacobian(self, target, sources, unconnected_gradients=None, **_):
        """Axes of the target, then those of the source."""
        rows = [self.gradient(target, sources, one) for one in each_place(target)]
        columns = [flat(each) for each in rows]
        places = iter(range(len(columns[0])))

        def table(source):
            place = next(places)
            return ops.stack([each[place] for each in columns]).reshape(tuple(target.shape) + tuple(source.shape))

        return map_structure(table, sources)

    def batch_jacobian(self, target, source, unconnected_gradients=None, **_):
        """A table a row: no row's numbers depend on another row."""
        rows = [self.gradient(target, source, one) for one in each_place(target, rows_at_once=True)]
        return ops.stack(rows, 1).reshape((*target.shape, *source.shape[1:]))


def each_place(target, rows_at_once=False):
    """Zeros of the target's shape with a one: at one place, or at one place of every row."""
    shape = (int(np.prod(target.shape[1:])),) if rows_at_once else (int(np.prod(target.shape)),)
    for place in range(shape[0]):
        one = np.zeros(shape, np.float32)
        one[place] = 1
        one = np.broadcast_to(one, (target.shape[0], *shape)) if rows_at_once else one
        yield Tensor(np.ascontiguousarray(one.reshape(target.shape)), target.dtype)
