"""A network that keeps a state, called again: on other values, on other sizes; and what it hands out of itself."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..verify.compare import distance
from ..verify.golden import CallRecord, Golden, ModeRecord
from ..verify.handed_out import OUTPUT, handed_out
from ..verify.nested_inputs import call
from ..verify.nesting import leaves
from ..verify.seeding import seeded
from .mindspore_conduct import is_own, other_numbers
from .mindspore_state import restore, state_of
from .mindspore_tensors import as_numpy, is_tensor, make_inputs, rolled
from .requests import Shortfall

if TYPE_CHECKING:
    from .mindspore_session import Session

Cell = Any
NETWORK = CallRecord("", 0, "", ())


def second_call(session: Session) -> None:
    """One that keeps a state or a cache has to keep what the reference keeps."""
    golden, record = session.golden, session.record
    session.doing("the second call")
    positional, named = make_inputs(golden, golden.inputs)
    shifted = [rolled(value) for value in positional], {name: rolled(value) for name, value in named.items()}
    _called(session, *shifted, [f"{session.mode}/second.{index}" for index in range(record.second)], "second call")
    session.shortfalls += other_numbers(session.cell, record.numbers)
    for said, inputs, keys in record.again:
        state = state_of(session.cell)
        try:
            _called(session, *make_inputs(golden, inputs), list(keys), f"second call, {said}")
        except Exception as error:  # whatever a cache of another size comes to
            why = f"{' '.join(str(error).split())[:150]}, in a second call, {said}"
            session.add("whole", "network", NETWORK, "", (), math.inf, math.nan, why)
        finally:
            restore(state)


def _called(session: Session, positional: list[Any], named: dict[str, Any], keys: list[str], said: str) -> None:
    with seeded(session.golden.seed), session.reach or contextlib.nullcontext():
        found = leaves(call(session.cell, positional, named), is_tensor, objects=True)
    if len(found) != len(keys):
        problem = f"{len(found)} output tensors in a {said}, not {len(keys)}"
        session.add("whole", "network", NETWORK, "", (), math.inf, math.nan, problem)
        return
    outputs = session.record.outputs
    for index, (tensor, key) in enumerate(zip(found, keys, strict=True)):
        value = as_numpy(tensor)
        at = CallRecord(f"output {index}, {said}", 0, "", ())
        measured = distance(value, session.golden.array(key))
        session.add("whole", "network", at, outputs[min(index, len(outputs) - 1)], value.shape, *measured)


def own_outputs(cell: Cell, output: Any, golden: Golden, record: ModeRecord) -> Iterator[Shortfall]:
    """What the conversion hands out of itself, and the reference as a copy."""
    if golden.source != "torch":
        return
    cells = list(cell.cells_and_names())
    own = {id(each) for _, owner in cells for each in vars(owner).values() if is_tensor(each)}
    own |= {id(each) for each in cell.get_parameters()}
    outputs = leaves(output, is_tensor, objects=True)
    mine = [(path, each) for path, each in cells if is_own(each)]
    ours = handed_out(output, outputs, lambda tensor: id(tensor) in own, mine)
    lists = [name for name in record.handed_out if not name.startswith(OUTPUT)]
    for name in dict.fromkeys((*ours, *lists)):
        if (name in ours) != (name in record.handed_out):
            who = ("the conversion", "the reference") if name in ours else ("the reference", "the conversion")
            why = f"{who[0]} hands out what it keeps itself, and {who[1]} a copy: whoever writes into it changes the network"
            yield Shortfall("state", name, "not comparable", why)


def other_checkpoint(cell: Cell, golden: Golden, names: dict[str, str]) -> Iterator[Shortfall]:
    """Buffers that only one side's checkpoint holds."""
    if golden.source != "torch":
        return
    saved = {name for name, _ in cell.parameters_and_names()}
    cells = dict(cell.cells_and_names())
    for name in golden.weights:
        owner, _, last = name.rpartition(".")
        if name not in names and name not in saved and is_tensor(getattr(cells.get(owner), last, None)):
            why = "torch's checkpoint holds it and the conversion's does not: a plain tensor is no Parameter"
            yield Shortfall("checkpoint", name, "not comparable", why)
    for name in golden.loose:
        owner, _, _ = name.rpartition(".")
        if name in saved and is_own(cells.get(owner)):
            why = "the conversion's checkpoint holds it, and torch's does not"
            yield Shortfall("checkpoint", name, "not comparable", why)
