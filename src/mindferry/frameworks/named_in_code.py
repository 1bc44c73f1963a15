"""What the code of a torch network names: the mode that it asks for, gaps that it expects."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import CodeType
from typing import Any

MODE = frozenset({"training"})
SURROUNDINGS = {  # what code may ask for beside its inputs, and the names by which it does
    "float16": frozenset({"float16", "half", "autocast"}),
    "bfloat16": frozenset({"bfloat16", "autocast"}),
    "float64": frozenset({"float64", "double"}),
    "the environment": frozenset({"environ", "getenv", "putenv"}),
    "the time": frozenset({"perf_counter", "monotonic", "time_ns", "process_time", "datetime"}),
    "files": frozenset({"open", "read_text", "write_text", "exists"}),
}
GAPS = frozenset({"isnan", "nan_to_num", "isfinite", "nansum", "nanmean", "nanmedian", "nanquantile"})


def is_modal(model: Any) -> bool:
    """Whether some module may compute something else in train mode: it drops, keeps statistics, or asks."""
    import torch

    steady = (torch.nn.modules.dropout._DropoutNd, torch.nn.modules.batchnorm._NormBase)
    return asks_mode(model) or any(isinstance(each, steady) or hidden_rate(each) for each in model.modules())


def asks_mode(model: Any) -> bool:
    """Whether the code of some module of its own asks for the mode: what it computes and what it trains may differ there."""
    return any(names_any(kind, MODE, "torch.") for kind in _own_kinds(model))


def handles_gaps(model: Any) -> bool:
    """Whether its own code asks for what is no number: then it may be given some."""
    return any(names_any(kind, GAPS, "torch.") for kind in _own_kinds(model))


def surroundings_asked(model: Any) -> list[str]:
    """What the code of its own modules asks for beside the inputs: see SURROUNDINGS."""
    return asked_by(_own_kinds(model), "torch.")


def asked_by(kinds: set[type], framework: str) -> list[str]:
    return [what for what, names in SURROUNDINGS.items() if any(names_any(kind, names, framework) for kind in kinds)]


def _own_kinds(model: Any) -> set[type]:
    return {type(each) for each in model.modules() if not is_torchs(each)}


def names_any(kind: type, names: frozenset[str], framework: str) -> bool:
    """Whether a method of the class, or of a base that is not the framework's, names one of these attributes."""
    own = [base for base in kind.__mro__ if base is not object and not base.__module__.startswith(framework)]
    return any(_has_name(code, names) for base in own for code in _codes(base))


def _codes(kind: type) -> Iterator[CodeType]:
    for value in vars(kind).values():
        for each in (value, getattr(value, "__func__", None), getattr(value, "fget", None)):
            code = getattr(inspect.unwrap(each), "__code__", None) if callable(each) else None
            if isinstance(code, CodeType):
                yield code


def _has_name(code: CodeType, names: frozenset[str]) -> bool:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    texts = (each for each in code.co_consts if isinstance(each, str))
    return not names.isdisjoint((*code.co_names, *texts)) or any(_has_name(each, names) for each in inner)


def hidden_rate(module: Any) -> float:
    rate = getattr(module, "dropout", 0.0)
    return float(rate) if hasattr(module, "proj_size") and isinstance(rate, int | float) else 0.0


def is_torchs(module: Any) -> bool:
    return type(module).__module__.startswith("torch.")
