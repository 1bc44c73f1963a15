"""A notebook trains as a script does: its cells are run one after another, until enough steps are made."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from mindferry.observe.use import training_of
from mindferry.train.script import EnoughSteps, run_script

CELLS = (
    "%matplotlib inline\nimport sys\nseen = [sys.argv[0]]",
    "sys.heard.append(1)\nfor n in range(9):\n    sys.heard.append(n)\n    sys.enough(n)",
    "sys.heard.append('never')",
)


def test_the_cells_of_a_notebook_run_until_enough_steps_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [{"cell_type": "code", "source": [text]} for text in CELLS]
    (tmp_path / "demo.ipynb").write_text(json.dumps({"cells": cells}))
    heard: list[object] = []

    def enough(step: int) -> None:
        if step == 2:
            raise EnoughSteps

    for name, value in {"argv": [], "path": [*sys.path], "stdin": sys.stdin, "heard": heard, "enough": enough}.items():
        monkeypatch.setattr(sys, name, value, raising=False)
    told = training_of(["demo.ipynb"], 3)
    assert told is not None
    run_script(tmp_path, told.script, told.args)
    assert heard == [1, 0, 1, 2]


def test_which_commands_run_a_notebook() -> None:
    for words in (
        ["demo.ipynb"],
        ["jupyter", "execute", "demo.ipynb"],
        ["A=1", "papermill", "demo.ipynb", "out.ipynb"],
    ):
        told = training_of(words, 3)
        assert told is not None and told.script == "demo.ipynb"
    assert training_of(["python", "train.py", "demo.ipynb"], 3).script == "train.py"  # type: ignore[union-attr]


def test_code_of_a_command_runs_as_its_main_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = training_of(["A=1", "python", "-u", "-c", "import fit; fit.run(__name__)", "-e", "2"], 3)
    assert told is not None and told.command == ["python", "-c", "import fit; fit.run(__name__)", "-e", "2"]
    (tmp_path / "fit.py").write_text("import sys\ndef run(name):\n    sys.heard += [name, *sys.argv]\n")
    heard: list[str] = []
    for name, value in {"argv": [], "path": [*sys.path], "stdin": sys.stdin, "heard": heard}.items():
        monkeypatch.setattr(sys, name, value, raising=False)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    run_script(tmp_path, told.script, told.args)
    assert heard == ["__main__", "-c", "-e", "2"]
