"""Questions for what is installed are answered as they were where the project comes from, as far as the converted world has it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mindferry.library.gates import Gates
from mindferry.library.sources import Module

TEXT = """
def is_torch_available(): return find_spec("torch")
def is_torchvision_available(): return find_spec("torchvision")
"""
MODULE = Module("lib.gates", Path("gates.py"), False, TEXT, ast.parse(TEXT))


@pytest.mark.parametrize("is_installed", [True, False])
def test_torchvision_is_there_where_it_is_installed(is_installed: bool) -> None:
    gates = Gates(frozenset({"lib"}), lambda name: name in ("torch", "torchvision"), is_installed)

    assert gates.gate(MODULE, "is_torchvision_available") is is_installed
    assert gates.gate(MODULE, "is_torch_available") is True
