"""What TensorFlow writes in other ways than by calls: gradient tapes, compiled functions."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts import Facts
from ...plan import Change
from .. import format_tensors
from . import brought_networks, compiled_functions, gradient_tapes, shape_members

SOURCE = "tensorflow"


def plan(facts: Facts) -> Iterator[Change]:
    yield from compiled_functions.plan(facts)
    yield from gradient_tapes.plan(facts)
    yield from brought_networks.plan(facts)
    yield from shape_members.plan(facts)
    yield from format_tensors.plan(facts)
