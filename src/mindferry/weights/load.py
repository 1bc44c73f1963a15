"""Load a torch state dict into a live MindSpore cell, in place."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..artifacts import WeightsReport
from .match import Move, Plan, Record, match
from .outcome import WeightsMismatchError, report_of
from .transforms import combine
from .tree import Slot, describe

if TYPE_CHECKING:
    from .transforms import Array

_KINDS = {"bfloat": "float", "uint": "int"}


def load_torch_weights(
    cell: Any,
    state_dict: Mapping[str, Any],
    *,
    strict: bool = True,
    record: Record | None = None,
    are_given: bool = False,
) -> WeightsReport:
    """Copy `state_dict` (name -> torch tensor or numpy array) into `cell`.

    Parameters keep their identity, so an optimizer that was given them sees the new values. A value takes the
    parameter's dtype, as in torch. With `strict`, nothing is set unless every parameter finds its place. `are_given`: arrays that
    can be written into are nobody else's, and become a parameter's memory as they are.
    """
    tensors = {name: value for name, value in state_dict.items() if hasattr(value, "dtype") and hasattr(value, "shape")}
    _build_lazy(cell, tensors)
    tree = describe(cell)
    shapes = {name: tuple(int(size) for size in value.shape) for name, value in tensors.items()}
    dtypes = {name: _dtype_name(value) for name, value in tensors.items()}
    plan = match(tree, shapes, record=record)
    slots = {slot.path: slot for slot in tree.slots}
    plan = _refuse_other_kinds(plan, slots, dtypes)
    plan = _refuse_torn_ties(plan, tensors)
    others = tuple(name for name in state_dict if name not in tensors)
    plan = dataclasses.replace(plan, unexpected=plan.unexpected + others)
    report = report_of(plan, dtypes, "the state dict", type(cell).__name__)
    if strict and not report.complete:
        raise WeightsMismatchError(report)
    places = cell.state_dict()
    for move in plan.moves:
        _set(places[move.path], _array(move, slots[move.path], tensors), slots[move.path], are_given)
    return report


def _build_lazy(cell: Any, tensors: Mapping[str, Any]) -> None:
    """Layers that wait for their first input to learn their size learn it from the file."""
    for path, part in list(cell.cells_and_names()):
        if hasattr(part, "build_from"):
            prefix = f"{path}." if path else ""
            part.build_from({name[len(prefix) :]: each for name, each in tensors.items() if name.startswith(prefix)})


def _refuse_other_kinds(plan: Plan, slots: Mapping[str, Slot], dtypes: Mapping[str, str]) -> Plan:
    """A float may become another float; it may not become an integer on the way."""
    wrong = [m for m in plan.moves if _kind(dtypes[m.sources[0]]) != _kind(slots[m.path].dtype)]
    lines = [f"{m.path} is {slots[m.path].dtype} in the model, {dtypes[m.sources[0]]} in the file" for m in wrong]
    moves = tuple(move for move in plan.moves if move not in wrong)
    return dataclasses.replace(plan, moves=moves, mismatched=plan.mismatched + tuple(lines))


def _refuse_torn_ties(plan: Plan, tensors: Mapping[str, Any]) -> Plan:
    """Where the model ties two parameters, the file has to hold the same values twice."""
    import numpy as np

    first = {move.target: move.sources[0] for move in plan.moves}
    lines = []
    for alias in plan.aliases:
        name, other = alias.sources[0], first.get(alias.target, alias.sources[0])
        same = tensors[name] is tensors[other] or np.array_equal(
            _numpy(tensors[name]), _numpy(tensors[other]), equal_nan=True
        )
        if not same:
            lines.append(f"{name} is tied to {other} in the model, and differs from it in the file")
    return dataclasses.replace(plan, mismatched=plan.mismatched + tuple(lines))


def _array(move: Move, slot: Slot, tensors: Mapping[str, Any]) -> Array:
    arrays = [_numpy(tensors[name]) for name in move.sources]
    return combine(move.fold, arrays, move.path).reshape(slot.shape)


def _numpy(value: Any) -> Array:
    """Values as numpy; the types that numpy lacks as float32, which holds every one of them exactly."""
    import numpy as np

    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    value = value.detach().cpu()
    if _dtype_name(value).startswith(("bfloat16", "float8")):
        value = value.float()
    result: Array = value.resolve_conj().resolve_neg().numpy()
    return result


def _set(place: Any, array: Array, slot: Slot, is_given: bool) -> None:
    import mindspore as ms
    import numpy as np

    if slot.dtype == "bfloat16":
        tensor = ms.Tensor(np.ascontiguousarray(array, np.float32)).astype(ms.bfloat16)
    else:
        ready = np.ascontiguousarray(array).astype(slot.dtype, copy=False).reshape(slot.shape)
        is_own = is_given and ready.flags.writeable and ready.ndim > 0
        tensor = ms.Tensor.from_numpy(ready) if is_own else ms.Tensor(ready)
    if isinstance(place, ms.Parameter):
        place.set_data(tensor)
    else:
        if place.has_init:
            place.init_data()  # otherwise its initializer would run later, over the new values
        place.assign_value(tensor)


def _dtype_name(value: Any) -> str:
    return str(value.dtype).removeprefix("torch.")


def _kind(dtype: str) -> str:
    letters = dtype.partition("_")[0].rstrip("0123456789")
    return _KINDS.get(letters, letters)
