"""Find the parameters in what a .pth holds: a bare state dict, or a training checkpoint around one or several."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .limits import DEPTH, ENTRIES, FREE, NAME, bad, shown
from .rebuilt import NumpyArray, TensorRef

Tensor = TensorRef | NumpyArray
# What training loops call the thing, most telling first.
USUAL = (
    "state_dict",
    "model_state_dict",
    "model_state",
    "model",
    "network",
    "net",
    "module",
    "params",
    "weights",
    "generator",
)
TRAINING = ("optim", "sched", "scaler", "rng", "queue", "loss", "callback", "loop", "hyper", "config", "args")
AVERAGED = ("ema", "swa", "average", "teacher", "shadow")


@dataclass(frozen=True, slots=True)
class Found:
    key: str
    tensors: dict[str, Tensor]
    extras: tuple[str, ...]  # values beside the tensors that are none
    others: tuple[str, ...]  # keys of other sets of parameters


def find_parameters(path: Path, value: Any, key: str | None) -> Found:
    """The state dict at `key`, or the only one that can be meant."""
    sets, inside, unnamed = _sets(path, value)
    if not sets:
        raise bad(path, "holds no tensors by name; save model.state_dict() from torch")
    if key is not None:
        if key not in sets:
            raise bad(path, f"has no tensors under {shown(key)!r}; it has them under {_listed(sets)}")
        chosen = key
    else:
        chosen = _choose(path, sets, inside)
    if chosen in unnamed:
        raise bad(path, f"has a tensor under the key {shown(repr(unnamed[chosen]))}, which is no text; give it a name")
    table = sets[chosen]
    tensors = {name: tensor for name, tensor in table.items() if isinstance(tensor, Tensor)}
    extras = tuple(shown(name) for name, tensor in table.items() if not isinstance(tensor, Tensor))
    others = tuple(other for other in sets if other != chosen and not _is_about(other, TRAINING))
    is_whole = chosen == ""
    return Found(chosen, tensors, () if is_whole and others else extras, others)


@dataclass(frozen=True, slots=True)
class _Place:
    """A dictionary on the way to the tensors; its path is spelled out only if it holds some."""

    table: dict[Any, Any]
    name: str = ""
    above: _Place | None = None
    depth: int = 0

    def places(self) -> list[_Place]:
        """From the top to here."""
        chain: list[_Place] = []
        here: _Place | None = self
        while here is not None:
            chain.append(here)
            here = here.above
        return chain[::-1]


def _sets(path: Path, value: Any) -> tuple[dict[str, dict[Any, Any]], dict[str, int], dict[str, Any]]:
    """Every dictionary that holds tensors by name, by its dotted path; the size of the largest inside each; a key of one that names no tensor."""
    found: dict[str, dict[Any, Any]] = {}
    keys: dict[int, str] = {}  # of the dictionaries found, by identity
    largest: dict[str, int] = {}
    unnamed: dict[str, Any] = {}
    seen: set[int] = set()  # each object is looked at once
    pending = deque([_Place(value)] if isinstance(value, dict) else [])
    spelled = 0
    while pending:
        place = pending.popleft()
        table = place.table
        if id(table) in seen:
            continue
        seen.add(id(table))
        if place.depth > DEPTH or len(seen) > ENTRIES:
            raise bad(path, f"nests dictionaries more than {DEPTH} deep, or holds more than {ENTRIES}")
        if any(isinstance(name, str) and isinstance(item, Tensor) for name, item in table.items()):
            chain = place.places()
            spelled += sum(len(each.name) for each in chain)
            if spelled > FREE or any(len(each.name) > NAME for each in chain):
                raise bad(path, "holds tensors under keys that are longer than any name")
            key = ".".join(each.name for each in chain[1:] if each.name)
            found[key] = {name: item for name, item in table.items() if isinstance(name, str)}
            if lost := [name for name, item in table.items() if isinstance(item, Tensor) and type(name) is not str]:
                unnamed[key] = lost[0]
            keys[id(table)] = key
            for each in chain[:-1]:
                if (above := keys.get(id(each.table))) is not None:
                    largest[above] = max(largest.get(above, 0), len(found[key]))
        for name, item in table.items():
            if isinstance(name, str) and isinstance(item, dict) and id(item) not in seen:
                pending.append(_Place(item, name, place, place.depth + 1))
    return found, largest, unnamed


def _choose(path: Path, sets: dict[str, dict[Any, Any]], inside: dict[str, int]) -> str:
    models = [key for key in sets if not _is_about(key, TRAINING)] or list(sets)
    if len(models) > 1:
        # A stray tensor beside a model (best_accuracy) doesn't make the whole file a state dict.
        models = [key for key in models if len(sets[key]) > 1 and inside.get(key, 0) <= _count(sets[key])] or models
    plain = [key for key in models if not _is_about(key, AVERAGED)] or models
    if len(plain) == 1:
        return plain[0]
    for usual in USUAL:
        if usual in plain:
            return usual
    raise bad(
        path, f"holds several sets of parameters: {_listed({key: sets[key] for key in models})}; choose with --key"
    )


def _count(table: dict[Any, Any]) -> int:
    return sum(isinstance(item, Tensor) for item in table.values())


def _is_about(key: str, words: tuple[str, ...]) -> bool:
    return any(word in key.lower() for word in words)


def _listed(sets: dict[str, dict[Any, Any]]) -> str:
    shown_sets = [f"{shown(key) or 'the top'} ({len(table)})" for key, table in list(sets.items())[:6]]
    return ", ".join(shown_sets)
