"""Runs one source text in torch, and its conversion in MindSpore."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mindferry.convert import convert_source

PRELUDE = (
    "import copy\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom torch import optim\n\n"
)
Both = Callable[[str], tuple[Any, Any]]


@pytest.fixture
def both(tmp_path: Path) -> Both:
    """The result of `run()` in torch, and in the conversion."""
    count = iter(range(100))

    def run(body: str) -> tuple[Any, Any]:
        source = PRELUDE + body
        conversion = convert_source(source)
        assert not [finding for finding in conversion.findings if finding.severity == "error"], conversion.findings
        number = next(count)
        theirs = _load(source, tmp_path / f"theirs{number}.py").run()
        return theirs, _load(conversion.code, tmp_path / f"ours{number}.py").run()

    return run


def _load(source: str, path: Path) -> ModuleType:
    path.write_text(source, "utf-8")
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
