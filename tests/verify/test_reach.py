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


def test_what_runs_while_it_is_paused_is_not_noted_and_what_runs_afterwards_is(tmp_path: Path) -> None:
    own, other = made(tmp_path, "own", OWN), made(tmp_path, "other", OWN.replace("forward", "hook"))
    with (reach := Reach()):
        with reach.paused():
            other.hook(1)
        own.forward(1)
    assert {code.co_name for code in reach.lines} == {"forward"}


def test_functions_that_are_alike_in_two_files_are_told_apart_by_their_files(tmp_path: Path) -> None:
    own = made(tmp_path, "own", OWN)
    (tmp_path / "site-packages").mkdir()
    library = made(tmp_path / "site-packages", "library", OWN)
    with (reach := Reach()):
        library.forward(1)
        own.forward(1)
    assert [code.co_filename for code in reach.lines] == [str(tmp_path / "own.py")]
