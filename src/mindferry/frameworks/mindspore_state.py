"""What a run changes in a cell without an optimizer, put back: statistics, tensors and plain values that are attributes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from .mindspore_tensors import as_numpy, is_activation, overwrite

Cell = Any
ROUNDING = 2.0**-21  # of the largest value: a few roundings of float32
MANY = 64  # numbers in a list that may be counts


@dataclass(frozen=True, slots=True)
class State:
    """Parameters that take no gradient, and plain tensors: the buffers of the converted network. And every plain attribute."""

    tensors: tuple[tuple[Cell, str, Any, Any], ...]  # owner, attribute ("" for a parameter), tensor, value
    plain: tuple[
        tuple[Cell, dict[str, Any], dict[str, Any]], ...
    ]  # owner, attributes, copies of lists and dictionaries


def state_of(cell: Cell) -> State:
    found: list[tuple[Cell, str, Any, Any]] = [
        (cell, "", parameter, as_numpy(parameter).copy())
        for parameter in cell.get_parameters()
        if not parameter.requires_grad
    ]
    plain = []
    for _, owner in cell.cells_and_names():
        held = [*vars(owner).items(), *owner.named_buffers(recurse=False)]
        tensors = [(name, value) for name, value in held if is_activation(value)]
        found += [(owner, name, tensor, as_numpy(tensor).copy()) for name, tensor in tensors]
        own = _plain(owner)
        copies = {name: type(value)(value) for name, value in own.items() if type(value) in (list, dict, set)}
        plain.append((owner, own, copies))
    return State(tuple(found), tuple(plain))


def has_other_values(state: State) -> bool:
    """Whether a run left something else in a plain attribute: a later one may compute something else."""
    for owner, own, copies in state.plain:
        held = _plain(owner)
        if held.keys() != own.keys() or any(held[name] is not own[name] for name in own):
            return True
        if any(_is_other(held[name], copies[name]) for name in copies):
            return True
    return False


def new_tensors(state: State) -> list[tuple[Cell, str]]:
    """(owner, attribute) of each tensor that a run has left where there was none: a cache."""
    return [
        (owner, name)
        for owner, own, _ in state.plain
        for name, value in _plain(owner).items()
        if is_activation(value) and not is_activation(own.get(name))
    ]


def changed_tensors(state: State) -> list[tuple[str, Any, Any]]:
    """(attribute, tensor, old value) of those that a run replaced or wrote into; "" for a parameter that takes no gradient."""
    import numpy as np

    return [
        (name, tensor, value)
        for owner, name, tensor, value in state.tensors
        if (name and getattr(owner, name, None) is not tensor) or not np.array_equal(as_numpy(tensor), value)
    ]


def names_of_moved(changed: list[tuple[str, Any, Any]]) -> list[str]:
    """Of what changed, the parameters that moved by more than a rounding: 0.9 k + 0.1 k is not k, and moves nothing."""
    return [tensor.name for name, tensor, value in changed if not name and not _is_rounding(as_numpy(tensor), value)]


def _is_rounding(value: Any, before: Any) -> bool:
    import numpy as np

    if value.dtype.kind != "f" or value.shape != before.shape:
        return False
    return bool(np.abs(value - before).max(initial=0.0) <= ROUNDING * np.abs(before).max(initial=0.0))


def moved_numbers(state: State) -> list[str]:
    """Plain numbers that are attributes, alone or in a list, and are no longer what they were: counts."""
    return [
        f"{type(owner).__name__}.{name}"
        for owner, own, copies in state.plain
        for name, value in own.items()
        if (name in copies or vars(owner).get(name) is not value)
        and _is_count(value)
        and copies.get(name, value) != vars(owner).get(name)
    ]


def _is_count(value: Any) -> bool:
    if isinstance(value, list | dict):
        return 0 < len(value) <= MANY and all(map(_is_count, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_other(value: Any, before: Any) -> bool:
    if len(value) != len(before):
        return True
    if isinstance(value, set):
        return bool(value != before)
    pairs = (
        zip(value.values(), before.values(), strict=True)
        if isinstance(value, dict)
        else zip(value, before, strict=True)
    )
    return any(one is not other for one, other in pairs)


def restore(state: State) -> None:
    """Every run starts from the same values, whether the last one assigned to a tensor or bound a new one."""
    import mindspore as ms
    import numpy as np

    for owner, own, copies in state.plain:
        _restore_plain(owner, own, copies)
    for owner, name, tensor, value in state.tensors:
        if name and getattr(owner, name, None) is not tensor:
            setattr(owner, name, tensor)
        if np.array_equal(as_numpy(tensor), value):
            continue
        if name:
            overwrite(tensor, value)
        else:
            tensor.set_data(ms.Tensor(value).astype(tensor.dtype))


def _plain(owner: Cell) -> dict[str, Any]:
    """The attributes that a cell's class may keep something in: of a project's own class, those with an underscore too."""
    own = not type(owner).__module__.startswith("mindspore.")
    hidden = framework_names() if own else frozenset()
    return {
        name: value
        for name, value in vars(owner).items()
        if name != "training" and (name[0] != "_" or (own and name not in hidden))
    }


@cache
def framework_names() -> frozenset[str]:
    """What MindSpore itself keeps in a cell."""
    from mindspore import nn

    cell = nn.Cell()
    cell.set_train(False)
    return frozenset(vars(cell))


def _restore_plain(owner: Cell, own: dict[str, Any], copies: dict[str, Any]) -> None:
    held: dict[str, Any] = owner.__dict__
    for name in _plain(owner).keys() - own.keys():
        del held[name]
    for name, value in own.items():
        if name not in held or held[name] is not value:
            held[name] = value
        if isinstance(value, list) and name in copies:
            value[:] = copies[name]
        elif name in copies and _is_other(value, copies[name]):
            value.clear()
            value.update(copies[name])
