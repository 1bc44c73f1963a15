"""Compiled parts of a project: no file holds them, and what they were built with is torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry import convert_project
from mindferry.cli.migrate import _propose_libraries

NET = "import torch\n{0}\n\n\ndef f(x: torch.Tensor):\n    return x.view(-1)\n"


def found_in(folder: Path, line: str, **files: str) -> list[str]:
    package = folder / "source" / "pkg"
    package.mkdir(parents=True)
    for name, text in {"__init__": "", "net": NET.format(line), **files}.items():
        (package / f"{name}.py").write_text(text)
    result = convert_project(folder / "source", folder / "out")
    compile((folder / "out" / "pkg" / "net.py").read_text(), "net.py", "exec")
    return [str(each.code) for each in result.findings]


@pytest.mark.parametrize(
    "line", ["from . import _C", "from ._C import nms", "from pkg._C import nms as n", "from pkg import roi_align_cuda"]
)
def test_compiled_code_is_named_and_does_not_stop_the_import(line: str, tmp_path: Path) -> None:
    assert found_in(tmp_path, line) == ["MF150"]
    assert "except ImportError:" in (tmp_path / "out" / "pkg" / "net.py").read_text()


@pytest.mark.parametrize(
    "line",
    [
        "from . import other",
        "from .other import anything",
        "from pkg import _C_of_python",
        "from pkg import _ConvBN",
        "from pkg import _extract",
        "try:\n    from . import _C\nexcept ImportError:\n    _C = None",
        "from . import __version__",
        "from .. import not_carried",
    ],
)
def test_files_names_and_options_of_the_project_are_no_compiled_code(line: str, tmp_path: Path) -> None:
    assert found_in(tmp_path, line, other="anything = 1\n", _C_of_python="x = 1\n") == []


def test_migrate_proposes_packages_and_no_compiled_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found_in(tmp_path, "from . import _C\nimport timm")
    _propose_libraries(tmp_path / "source", tmp_path / "out")
    assert 'with = ["timm"]' in capsys.readouterr().out


def test_a_package_beside_the_script_that_imports_it_is_the_projects_own(tmp_path: Path) -> None:
    text = "import torch\n\n\ndef build(x):\n    return torch.tensor(x).size(0)\n"
    taking = "import torch\nimport clip\nfrom clip.model import build\nfrom timm import {}\nprint(clip.build(3))\n"
    for folder in ("plain", "package"):
        home = tmp_path / "source" / "tasks" / folder
        (home / "clip").mkdir(parents=True)
        (home / "clip" / "__init__.py").write_text("from .model import build\n")
        (home / "clip" / "model.py").write_text(text)
        (home / "timm.py").write_text(text)
        (home / "run.py").write_text(taking.format("build"))
        (home / "clip" / "other.py").write_text(taking.format("create_model"))
    (tmp_path / "source" / "tasks" / "package" / "__init__.py").write_text("")
    found = [each for each in convert_project(tmp_path / "source", tmp_path / "out").findings if each.code == "MF150"]
    assert {each.path for each in found} == {f"tasks/{folder}/clip/other.py" for folder in ("plain", "package")}
    assert all(each.rule == "timm" for each in found)
