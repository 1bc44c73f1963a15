"""A piece of torch source and its conversion, both loaded."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from mindferry import convert_source

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
import torchvision_ops  # noqa: F401  (before torchvision: it declares missing operators)

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


@pytest.fixture
def both(tmp_path: Path) -> Both:
    """Source text -> (the torch module, its conversion)."""

    def make(source: str) -> tuple[ModuleType, ModuleType]:
        conversion = convert_source(source)
        left = [each.message for each in conversion.findings if each.severity == "error"]
        assert not left, left
        assert "torch" not in conversion.main.replace("torch_", "").split("def ")[0].replace("torchvision's", ""), conversion.main
        return load(source, tmp_path, "theirs"), load(conversion.code, tmp_path, "ours")

    return make
