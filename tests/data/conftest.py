"""A piece of torch source and its conversion, both loaded."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from mindferry import convert_source

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]
import torchvision_ops  # noqa: E402, F401  (before torchvision: it declares missing operators)
from data_pairs import Both, load  # noqa: E402


@pytest.fixture
def both(tmp_path: Path) -> Both:
    """Source text -> (the torch module, its conversion)."""

    def make(source: str) -> tuple[ModuleType, ModuleType]:
        conversion = convert_source(source)
        left = [each.message for each in conversion.findings if each.severity == "error"]
        assert not left, left
        assert "torch" not in conversion.main.replace("torch_", "").split("def ")[0].replace("torchvision's", ""), (
            conversion.main
        )
        return load(source, tmp_path, "theirs"), load(conversion.code, tmp_path, "ours")

    return make
