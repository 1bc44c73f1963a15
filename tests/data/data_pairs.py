"""Torch source and its conversion: how tests load both, and when their values are equal."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

Both = Callable[[str], tuple[ModuleType, ModuleType]]
_numbers = itertools.count()


def load(text: str, folder: Path, kind: str) -> ModuleType:
    path = folder / f"{kind}_{next(_numbers)}.py"
    path.write_text(text, "utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # workers look classes up here
    spec.loader.exec_module(module)
    return module


def assert_equal(theirs: Any, ours: Any) -> None:
    """The same form, types and values; a torch.Tensor's counterpart is a mindspore.Tensor of the same type."""
    import mindspore as ms
    import torch

    if isinstance(theirs, torch.Tensor):
        assert isinstance(ours, ms.Tensor), type(ours)
        assert ours.asnumpy().dtype == theirs.numpy().dtype
        assert np.array_equal(ours.asnumpy(), theirs.numpy())
    elif isinstance(theirs, dict):
        assert list(theirs) == list(ours)
        for key in theirs:
            assert_equal(theirs[key], ours[key])
    elif isinstance(theirs, list | tuple):
        assert type(theirs).__name__ == type(ours).__name__ or type(theirs) is tuple
        assert len(theirs) == len(ours)
        for one, other in zip(theirs, ours, strict=True):
            assert_equal(one, other)
    else:
        assert theirs == ours and type(theirs) is type(ours)
