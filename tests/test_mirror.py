"""Tests stand where the source stands: a file among them names a module of the folder that it tests."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MIRRORED = {
    "tests/convert/fixers": "src/mindferry/convert/fixers",
    "tests/convert/render": "src/mindferry/convert/render",
    "tests/frameworks": "src/mindferry/frameworks",
}


@pytest.mark.parametrize("folder", MIRRORED)
def test_a_test_file_is_named_after_the_module_that_it_tests(folder: str) -> None:
    tested = {path.stem.removeprefix("test_") for path in (ROOT / folder).glob("test_*.py")}
    modules = {path.stem for path in (ROOT / MIRRORED[folder]).rglob("*.py")}
    folders = {path.name for path in (ROOT / MIRRORED[folder]).iterdir() if path.is_dir()}
    assert tested
    assert tested - modules - folders == set()
