"""Which lines of the model's own code ran: those that a lazy package runs to find a name are not the model's."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from mindferry.verify.reach import Reach

LAZY = "def __getattr__(name):\n    if name == 'other':\n        return 3\n    raise AttributeError(name)\n"
OWN = "def forward(x):\n    if x > 3:\n        return 1\n    return 2\n"


def made(folder: Path, name: str, text: str) -> ModuleType:
    (folder / f"{name}.py").write_text(text)
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_package_that_is_asked_for_a_name_did_not_run_as_a_network(tmp_path: Path) -> None:
    lazy, own = made(tmp_path, "lazy", LAZY), made(tmp_path, "own", OWN)
    with (reach := Reach()):
        assert not hasattr(lazy, "__file_") and own.forward(1) == 2
    assert {code.co_name for code in reach.lines} == {"forward"}
