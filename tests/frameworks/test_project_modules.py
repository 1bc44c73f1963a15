"""Modules of a project are found by their path, whatever Python calls its own, and with the neighbours that a script of theirs would find."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def said(project: Path, code: str) -> str:
    """What a process of its own prints that has the project's folder first on its path, as a worker has."""
    start = f"import sys\nsys.path.insert(0, {str(project)!r})\n"
    done = subprocess.run([sys.executable, "-c", start + code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("folder", ["code", "test", "examples"])  # a module and a package of Python's own, and neither
def test_a_folder_may_be_called_as_a_module_of_pythons_own(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "beside.py").write_text("NAME = 'the neighbour'\n")
    (tmp_path / folder / "train.py").write_text("from beside import NAME\n")
    code = f"from mindferry.frameworks.project_modules import import_of_project as f\nprint(f('{folder}.train').NAME)"
    assert said(tmp_path, code) == "the neighbour"


def test_pythons_own_module_of_that_name_stays_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "train.py").write_text("import code\n\nKIND = code.InteractiveConsole.__name__\n")
    code = "from mindferry.frameworks.project_modules import import_of_project as f\nprint(f('code.train').KIND)"
    assert said(tmp_path, code) == "InteractiveConsole"


def test_a_script_in_a_folder_of_its_own_imports_the_helpers_that_are_watched(tmp_path: Path) -> None:
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "ms_compat.py").write_text("VALUE = 1\n")
    code = (
        "from mindferry.frameworks.helper_modules import helpers_of\n[helpers] = helpers_of(['examples.ms_compat'])\n"
        "helpers.VALUE = 2\nimport ms_compat\nprint(ms_compat.VALUE)"
    )
    assert said(tmp_path, code) == "2"
