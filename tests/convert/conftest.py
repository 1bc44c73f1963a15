"""What the tests of the converter share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from two_frameworks import PRELUDE, Both, load

from mindferry import convert_source


@pytest.fixture
def both(tmp_path: Path) -> Both:
    """The result of `run()` in torch, and in the conversion, which must be clean."""

    def run(body: str) -> tuple[Any, Any]:
        conversion = convert_source(PRELUDE + body)
        assert [each for each in conversion.findings if each.severity != "note"] == []
        return load(PRELUDE + body, tmp_path / "theirs.py").run(), load(conversion.code, tmp_path / "ours.py").run()

    return run
