"""Gradients that are part of a loss: MindSpore 2.10 follows reshapes, sums and slices twice in a graph only."""

import os
import traceback
import types

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.graph import jit_trace

from .random_values import Chance
from .row_gradients import Lookups
from .tensors import Calls, Names


class Nesting:
    """Gradients that are being taken in each other, and the graphs that were made for the inner ones."""

    depth = 0
    has_inner = False  # a gradient was asked for while this one's function ran
    is_traced = False  # the graph of a gradient is being made
    graphs = {}


def take_gradients(run, *given):
    """Run what takes gradients; those that are asked for meanwhile stand within."""
    Nesting.depth += 1
    try:
        return run(*given)
    finally:
        Nesting.depth -= 1


def is_taken_again():
    """Whether a gradient that is asked for now is part of another one's loss. Of three in each other only the first can be."""
    Nesting.has_inner = True
    return Nesting.depth == 1


def held(value):
    """tf.stop_gradient: no derivative goes through it, the second neither.

    In the graph of a gradient MindSpore drops its own stop_gradient; rounding, by less than float32 tells apart, has none of any order.
    """
    if not Nesting.is_traced or value.dtype not in (ms.float16, ms.float32):
        return ops.stop_gradient(value)
    return ops.cast(ops.floor(ops.cast(value, ms.float64) * 2.0**40) / 2.0**40, value.dtype)


def rehearse(forward):
    """Run again what was run before; nothing is assigned to, and no metric is updated."""
    before, Calls.is_rehearsal = Calls.is_rehearsal, True
    try:
        return forward()
    finally:
        Calls.is_rehearsal = before


def graph_gradients(forward, given, variables=None):
    """(what `forward` gives, its gradients by what it is given, or by variables); None instead where it asks for gradients itself."""
    first, Nesting.has_inner = Chance.generator.bit_generator.state, False
    noted, Chance.noted = Chance.noted, []
    try:
        out = take_gradients(forward, *given)
    finally:
        draws, Chance.noted = Chance.noted, noted
    if Nesting.has_inner:
        Chance.generator.bit_generator.state = first
        return None
    weights = None if variables is None else variables()  # layers may have made them just now
    last = Chance.generator.bit_generator.state
    states = [first, *(state for draw in draws for state in draw[1:]), last]
    is_explained = all(one == other for one, other in zip(states[::2], states[1::2]))
    key, held = graph_key(forward, len(given), weights)
    graph = Nesting.graphs[key][0] if key in Nesting.graphs else make_graph(forward, len(given), weights)
    if is_explained:  # what else was drawn is part of the graph
        Nesting.graphs[key] = graph, held  # what is held keeps its id
    Chance.generator.bit_generator.state = first
    gradients = graph(*given, *(draw[0] for draw in draws))
    Chance.generator.bit_generator.state = last
    return out, gradients if isinstance(gradients, (list, tuple)) else [gradients]


def graph_key(forward, count, weights):
    """The function and the values that its text reads: another graph where one of these is another."""
    held = [each.cell_contents for each in forward.__closure__ or ()]
    held += [forward.__globals__.get(name) for name in forward.__code__.co_names]
    held += forward.__defaults__ or ()
    held += [each for owner in held for each in plain_attributes(owner)]
    marks = [each if isinstance(each, (bool, int, float, str)) else id(each) for each in held]
    return (forward.__code__, count, *map(id, weights or ()), *marks), held


def plain_attributes(owner):
    """Numbers and tensors of an object; its weights are the graph's own, whatever their values."""
    named = {} if isinstance(owner, types.ModuleType) else getattr(owner, "__dict__", {})
    return [
        each
        for each in named.values()
        if isinstance(each, (bool, int, float, str))
        or (isinstance(each, Tensor) and not isinstance(each, ms.Parameter))
    ]


def leave_out_callers():
    """MindSpore reads the line of every caller of every operator that it traces, and fails where one has no file (`python -m`).

    Only there its function for that is replaced, which no page of MindSpore's describes; nothing public leaves the lines out.
    """
    callers = (frame.f_code.co_filename for frame, _ in traceback.walk_stack(None))
    if not all(map(os.path.exists, callers)):
        jit_trace._get_caller_lines = lambda: (["ms_keras.py"], [0])


def make_graph(forward, count, weights):
    leave_out_callers()

    def gradients_again(*values):
        parts, Lookups.parts, Chance.given = Lookups.parts, None, list(values[count:])
        Nesting.is_traced = True
        try:
            out = rehearse(lambda: forward(*values[:count]))
        finally:
            Lookups.parts, Chance.given, Nesting.is_traced = parts, None, False
        return ops.sum(out[0] if isinstance(out, tuple) else out)

    # MindSpore knows graphs by name and address, and addresses are used again.
    gradients_again.__name__ = Names.unique("gradients_again")
    graph = ms.jit(gradients_again, capture_mode="trace")
    return ms.grad(graph, tuple(range(count)) if weights is None else None, weights)
