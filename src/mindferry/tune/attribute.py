"""Joins operators, spans and module calls: which phase and which module an operator's time belongs to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ..tune_record import Operator
from .clock import Span
from .executions import Execution, scope_module, scope_phase
from .layers import Finder, LayerCall


def operators_of(
    executions: list[Execution], spans: list[Span], calls: list[LayerCall], steps: int
) -> tuple[Operator, ...]:
    """Summed by kind, shapes, module and phase; times of one step, largest first."""
    phases, layers = _phase_finder(spans), Finder(calls)
    owners = [_owner(each, phases, layers) for each in executions]
    _name_backward(executions, owners)
    sums: dict[tuple[str, str, str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for each, (phase, module, shapes) in zip(executions, owners, strict=True):
        entry = sums[each.kind, each.shapes or shapes, module, phase]
        entry[0] += each.seconds
        entry[1] += 1
    found = [
        Operator(kind, seconds / steps, count / steps, shapes, module, phase)
        for (kind, shapes, module, phase), (seconds, count) in sums.items()
    ]
    return tuple(sorted(found, key=lambda each: -each.seconds))


def _phase_finder(spans: Iterable[Span]) -> Finder:
    return Finder([LayerCall(span.phase, span.start, span.end, "") for span in spans])


def _owner(each: Execution, phases: Finder, layers: Finder) -> tuple[str, str, str]:
    span, layer = phases.at(each.start), layers.at(each.start)
    phase = span.name if span is not None else ""
    if phase in ("graph", "step", "compile", "") and ("/" in each.name):
        phase = scope_phase(each.name) if phase else ""
    module = scope_module(each.name) or (layer.name if layer is not None else "")
    shapes = f"module given {layer.shapes}" if layer is not None and layer.shapes and not each.shapes else ""
    return phase, module, shapes


def _name_backward(executions: list[Execution], owners: list[tuple[str, str, str]]) -> None:
    """Gradients run in reverse: the k-th Conv2DBackpropFilter from the end belongs to the k-th Conv2D."""
    forward: dict[str, list[str]] = defaultdict(list)
    backward: dict[str, list[int]] = defaultdict(list)

    def settle() -> None:
        for kind, positions in backward.items():
            names = forward.get(_origin(kind, forward), [])[::-1]
            for position, module in zip(positions, names, strict=False):
                phase, known, shapes = owners[position]
                owners[position] = (phase, known or module, shapes)
        forward.clear()
        backward.clear()

    for position, (each, (phase, module, _)) in enumerate(zip(executions, owners, strict=True)):
        if phase == "forward":
            if backward:
                settle()
            forward[each.kind.lower()].append(module)
        elif phase == "backward" and not module:
            backward[each.kind].append(position)
    settle()


def _origin(kind: str, forward: dict[str, list[str]]) -> str:
    """Conv2DBackpropFilter -> conv2d, ReluGrad -> relu; the longest forward operator that the name begins with."""
    lower = kind.lower()
    return max((name for name in forward if lower.startswith(name) and lower != name), key=len, default="")
