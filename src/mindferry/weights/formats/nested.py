"""Find the parameters in what a .pth holds: a bare state dict, or a training checkpoint around one or several."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .limits import DEPTH, ENTRIES, bad, shown
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
    sets = _sets(path, value)
    if not sets:
        raise bad(path, "holds no tensors by name; save model.state_dict() from torch")
    if key is not None:
        if key not in sets:
            raise bad(path, f"has no tensors under {shown(key)!r}; it has them under {_listed(sets)}")
        chosen = key
    else:
        chosen = _choose(path, sets)
    table = sets[chosen]
    tensors = {name: tensor for name, tensor in table.items() if isinstance(tensor, Tensor)}
    extras = tuple(shown(name) for name, tensor in table.items() if not isinstance(tensor, Tensor))
    others = tuple(other for other in sets if other != chosen and not _is_about(other, TRAINING))
    is_whole = chosen == ""
    return Found(chosen, tensors, () if is_whole and others else extras, others)


def _sets(path: Path, value: Any) -> dict[str, dict[Any, Any]]:
    """Every dictionary that holds tensors by name, by its dotted path. Each object is looked at once."""
    found: dict[str, dict[Any, Any]] = {}
    seen: set[int] = set()
    pending = [("", value, 0)]
    while pending:
        key, table, depth = pending.pop(0)
        if id(table) in seen or not isinstance(table, dict):
            continue
        seen.add(id(table))
        if depth > DEPTH or len(seen) > ENTRIES:
            raise bad(path, f"nests dictionaries more than {DEPTH} deep")
        if any(isinstance(name, str) and isinstance(item, Tensor) for name, item in table.items()):
            found[key] = {name: item for name, item in table.items() if isinstance(name, str)}
        for name, item in table.items():
            if isinstance(name, str) and isinstance(item, dict):
                pending.append((f"{key}.{name}" if key else name, item, depth + 1))
    return found


def _choose(path: Path, sets: dict[str, dict[Any, Any]]) -> str:
    models = [key for key in sets if not _is_about(key, TRAINING)] or list(sets)
    if len(models) > 1:
        # A stray tensor beside a model (best_accuracy) doesn't make the whole file a state dict.
        models = [key for key in models if len(sets[key]) > 1 and not _holds_larger(key, sets)] or models
    plain = [key for key in models if not _is_about(key, AVERAGED)] or models
    if len(plain) == 1:
        return plain[0]
    for usual in USUAL:
        if usual in plain:
            return usual
    raise bad(
        path, f"holds several sets of parameters: {_listed({key: sets[key] for key in models})}; choose with --key"
    )


def _holds_larger(key: str, sets: dict[str, dict[Any, Any]]) -> bool:
    inside = [other for other in sets if other != key and (not key or other.startswith(f"{key}."))]
    own = sum(isinstance(item, Tensor) for item in sets[key].values())
    return any(len(sets[other]) > own for other in inside)


def _is_about(key: str, words: tuple[str, ...]) -> bool:
    return any(word in key.lower() for word in words)


def _listed(sets: dict[str, dict[Any, Any]]) -> str:
    shown_sets = [f"{shown(key) or 'the top'} ({len(table)})" for key, table in list(sets.items())[:6]]
    return ", ".join(shown_sets)
