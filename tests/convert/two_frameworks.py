"""Runs one source text in torch, and its conversion in MindSpore."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

PRELUDE = """import copy
from collections import namedtuple
from dataclasses import dataclass
from typing import Any
import numpy as np
import torch
from torch import nn

X = np.random.default_rng(3).standard_normal((4, 6)).astype("float32")
Pair = namedtuple("Pair", "first second")


@dataclass
class Holder:
    value: Any
    other: Any = None

"""
Both = Callable[[str], tuple[Any, Any]]


def plain(value: Any) -> Any:
    """Tensors of either framework as lists."""
    if hasattr(value, "detach") or hasattr(value, "asnumpy"):
        return (value.detach().numpy() if hasattr(value, "detach") else value.asnumpy()).tolist()
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def load(text: str, path: Path) -> ModuleType:
    path.write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    module.plain = plain  # type: ignore[attr-defined]
    spec.loader.exec_module(module)
    return module


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return bool(np.allclose(ours, theirs, atol=1e-5)) if isinstance(theirs, float) else ours == theirs
