"""Gradients by rows: of what is looked up in a variable, TensorFlow keeps one part a lookup, and Keras' optimizers square each part alone."""

import mindspore as ms
from mindspore import ops

CLOSE = 1e-5  # of the largest gradient


class Lookups:
    """What came back to each variable's lookups; nothing is kept unless a gradient is being taken."""

    parts = None
    whole = set()  # those that have a penalty, however small


def look_up(table, rows):
    """Rows of a table, such as an embedding's."""
    found, parts = ops.gather(table, rows, 0), Lookups.parts
    if parts is not None and isinstance(table, ms.Parameter):
        found.register_hook(lambda gradient: parts.setdefault(id(table), []).append((rows, gradient)))
    return found


def penalised(table):
    """A variable as a regularizer takes it: all of it."""
    if Lookups.parts is not None:
        Lookups.whole.add(id(table))
    return table


def gradients_by_rows(take, weights):
    """What `take` gives: (value, gradients of the weights); those of lookups alone have their parts as `rows`."""
    before, Lookups.parts, Lookups.whole = (Lookups.parts, Lookups.whole), {}, set()
    try:
        value, gradients = take()
        parts = {key: found for key, found in Lookups.parts.items() if key not in Lookups.whole}
        return value, [mark_rows(each, parts.get(id(weight))) for weight, each in zip(weights, gradients)]
    finally:
        Lookups.parts, Lookups.whole = before


def mark_rows(gradient, parts):
    """A variable that also has a penalty, or is multiplied with, has a gradient that is more than its rows: it stays whole."""
    if parts:
        rows = ops.cat([each.reshape(-1) for each, _ in parts])
        values = ops.cat([each.reshape(-1, *gradient.shape[1:]) for _, each in parts])
        rest = ops.abs(gradient - ops.unsorted_segment_sum(values, rows, gradient.shape[0])).max()
        if float(rest.asnumpy()) <= CLOSE * float(ops.abs(gradient).max().asnumpy()):
            gradient.rows = (rows, values)
    return gradient


def map_rows(gradient, function):
    """A function of the gradient; where it consists of rows, of each, and the result consists of rows too."""
    if not hasattr(gradient, "rows"):
        return function(gradient)
    rows, values = gradient.rows[0], function(gradient.rows[1])
    made = ops.unsorted_segment_sum(values, rows, gradient.shape[0])
    made.rows = (rows, values)
    return made


def squared(gradient):
    return map_rows(gradient, lambda each: each * each)
