"""ms_compat as a package: a module for each subject where one file would be long, with sorted imports and no cycles."""

from __future__ import annotations

import ast
import subprocess
import sys
import types
from pathlib import Path

import pytest

from mindferry.artifacts import FileConversion, ProjectConversion
from mindferry.convert import convert_project
from mindferry.convert.render.import_lines import sorted_imports
from mindferry.convert.settings import Settings
from mindferry.frameworks.watch.mindferry_watch.helper_package import as_one_module

SCRIPT = """import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
x = torch.arange(24.0).reshape(8, 3) / 10
loader = DataLoader(TensorDataset(x, torch.tensor([0, 1, 2, 0, 1, 2, 0, 1])), batch_size=4)
net = nn.Linear(3, 3)
nn.init.constant_(net.weight, 0.1)
nn.init.zeros_(net.bias)
optimizer = torch.optim.Adam([{"params": [net.weight]}, {"params": [net.bias], "lr": 0.05}], lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
criterion = nn.CrossEntropyLoss()
if __name__ == "__main__":
    for _ in range(2):
        for data, target in loader:
            optimizer.zero_grad()
            loss = criterion(net(data), target)
            loss.backward()
            optimizer.step()
            print(f"{loss.item():.6f}")
        scheduler.step()
"""


def converted(folder: Path, form: str) -> Path:
    source = folder / "source"
    source.mkdir(exist_ok=True)
    (source / "train.py").write_text(SCRIPT)
    convert_project(source, folder / form, settings=Settings(helpers=form))
    return folder / form


def test_a_long_ms_compat_is_a_package_with_a_module_a_subject(tmp_path: Path) -> None:
    out = converted(tmp_path, "package")
    assert not (out / "ms_compat.py").exists()
    names = {path.stem for path in (out / "ms_compat").glob("*.py")}
    assert {"__init__", "data", "optim", "schedulers", "settings"} <= names
    needs = {}
    for path in (out / "ms_compat").glob("*.py"):
        tree = ast.parse(path.read_text())
        assert ast.get_docstring(tree), f"{path.name} says what it is for"
        needs[path.stem] = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level}
    for start in needs:
        seen: set[str] = set()
        waiting = set(needs[start])
        while waiting:
            seen |= waiting
            waiting = {str(each) for name in waiting for each in needs[name]} - seen
        assert start not in seen, f"{start} needs itself"


def test_a_short_one_stays_a_file(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.argmax(x)\n")
    convert_project(tmp_path / "net.py", tmp_path / "out", settings=Settings(helpers="package"))
    assert (tmp_path / "out" / "ms_compat.py").is_file()


def test_both_forms_train_alike(tmp_path: Path) -> None:
    printed = [
        subprocess.run([sys.executable, "train.py"], cwd=converted(tmp_path, form), capture_output=True, text=True)
        for form in ("module", "package")
    ]
    assert [each.returncode for each in printed] == [0, 0], printed[-1].stderr[-2000:]
    assert printed[0].stdout == printed[1].stdout and printed[0].stdout.count("\n") == 4


def test_a_package_is_one_module_among_the_helpers_of_a_conversion() -> None:
    paths = ("ms_compat/__init__.py", "ms_compat/optim.py", "lib/ms_compat.py")
    files = tuple(FileConversion(path, "helpers", "") for path in paths)
    assert ProjectConversion("", "", files).helper_modules == ("lib.ms_compat", "ms_compat")


def test_what_is_replaced_in_a_package_is_replaced_in_all_its_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    package, inner = types.ModuleType("some_compat"), types.ModuleType("some_compat.gradients")
    package.__path__ = []
    inner.take = package.take = lambda: "original"  # type: ignore[attr-defined]
    inner.add = lambda: inner.take()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "some_compat.gradients", inner)
    seen = as_one_module(package)
    seen.take = lambda: "replaced"
    assert seen.add() == "replaced" and package.take() == "replaced" and seen.take() == "replaced"
    assert "add" in vars(seen) and as_one_module(inner) is inner


def test_imports_are_merged_and_sorted() -> None:
    lines = [
        "from mindspore import ops",
        "import os",
        "import numpy as np",
        "from mindspore import Tensor",
        "import ast",
    ]
    assert sorted_imports([*lines, "from .optim import Adam", "from mindspore import ops"]) == (
        "import ast\nimport os\n\nimport numpy as np\nfrom mindspore import Tensor, ops\n\nfrom .optim import Adam"
    )
