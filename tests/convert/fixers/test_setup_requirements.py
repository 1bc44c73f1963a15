"""What a setup.py asks for: MindSpore in torch's place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mindferry import convert_project


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('["torch>=2", "numpy"]', ["mindspore==2.10.0", "numpy"]),
        ('["numpy", "torch", "torchvision>=0.1", "tqdm",]', ["numpy", "mindspore==2.10.0", "tqdm"]),
        ('["torchmetrics", "tqdm"]', ["torchmetrics", "tqdm"]),
        ('[\n  "torch",  # the newest\n  "torchaudio",\n]', ["mindspore==2.10.0"]),
    ],
)
def test_torch_s_packages_go_and_mindspore_comes(before: str, after: list[str], tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "net.py").write_text("import torch\nx = torch.zeros(3)\n")
    text = (
        f"import torch\nfrom setuptools import setup\n\nsetup(name='x', install_requires={before})\nx = torch.ones(2)\n"
    )
    (tmp_path / "source" / "setup.py").write_text(text)
    convert_project(tmp_path / "source", tmp_path / "out")
    tree = ast.parse((tmp_path / "out" / "setup.py").read_text())
    listed = next(
        each.value for each in ast.walk(tree) if isinstance(each, ast.keyword) and each.arg == "install_requires"
    )
    assert ast.literal_eval(listed) == after
