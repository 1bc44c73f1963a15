"""A file without torch stays byte for byte, unless the project says that it works on tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.convert import convert_project

TEXTS = {
    "formats": "def tell(value):\n    print(f'{value:8.3f}', '{:d}'.format(value), '%d' % value)\n",
    "ranges": "import numpy as np\n\n\ndef test(n):\n    return np.array(range(n)).view(int), list(range(n))[::-1]\n",
    "reshapes": "def rows(x):\n    x = x.reshape(3, -1)\n    return x.sum(0), x.T, x.size, x.max(1)\n",
    "docstrings": 'def tell(value):\n    """As torch prints it."""\n    print(f\'{value:8.3f}\')  # torch.Tensor, or not\n',
    "settings": "from . import other\n\n\ndef widen(block):\n    block.padding = (1, 1)\n    setattr(block, 'stride', 2)\n",
    "names": "from . import other\n\n\ndef copy(rv, values):\n    for key, value in values.items():\n        setattr(rv, key, value)\n",
    "comments": "import sys  # noqa: F401\n\n\nclass Meter:\n    def update(self, val, n=1):\n        self.sum += val * n  # type: ignore\n",
}


def convert(tmp_path: Path, text: str, main: str) -> bytes:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "plain.py").write_text(text)
    (tmp_path / "in" / "main.py").write_text(main)
    convert_project(tmp_path / "in", tmp_path / "out")
    return (tmp_path / "out" / "plain.py").read_bytes()


@pytest.mark.parametrize("kind", TEXTS)
def test_a_file_without_torch_is_never_changed(kind, tmp_path):
    assert convert(tmp_path, TEXTS[kind], "import torch\n\nx = torch.ones(2)\n") == TEXTS[kind].encode()


def test_one_that_asks_for_what_only_networks_have_is_converted(tmp_path):
    """Nothing imports it, and it imports nothing: a Cell that comes in all the same has no named_parameters()."""
    text = "def names(thing):\n    print(f'{len(str(thing)):8d}')\n    return [name for name, _ in thing.named_parameters()]\n"
    written = convert(tmp_path, text, "import torch\n\nx = torch.ones(2)\n").decode()
    assert "import ms_compat\n" in written and "in ms_compat.named_parameters(thing)]" in written
    assert "    print(f'{len(str(thing)):8d}')\n" in written


def test_one_with_methods_of_its_own_by_such_names_stays(tmp_path):
    text = "class Table:\n    def named_children(self):\n        return []\n\n\nprint(Table().named_children())\n"
    assert convert(tmp_path, text, "import torch\n\nx = torch.ones(2)\n") == text.encode()


def test_one_that_is_given_a_tensor_is_converted(tmp_path):
    main = "import torch\nfrom plain import rows\n\n\nif __name__ == '__main__':\n    print(rows(torch.ones(6, 2)))\n"
    assert b"ops.sum(x, 0)" in convert(tmp_path, TEXTS["reshapes"], main)


def test_a_file_of_python_2_without_torch_stays_byte_for_byte_with_a_finding(tmp_path: Path) -> None:
    project, old = tmp_path / "project", b'import os\nprint "hello"\n'
    project.mkdir()
    (project / "old.py").write_bytes(old)
    (project / "net.py").write_text("import torch\n\nx = torch.ones(3)\n")
    result = convert_project(project, tmp_path / "out")
    assert (tmp_path / "out" / "old.py").read_bytes() == old
    assert [each.code for each in result.findings if each.path == "old.py"] == ["MF900"]


METRIC = """class Accuracy:
    def __call__(self, outputs, target):
        pred = outputs[0].data.max(1, keepdim=True)[1]
        self.correct = pred.eq(target[0].data.view_as(pred)).cpu().sum()
        return float(self.correct) / target[0].size(0)
"""


@pytest.mark.parametrize("main", ["import torch\n\nx = torch.ones(2)\n", "import torch\nfrom plain import Accuracy\n"])
def test_one_that_calls_what_only_tensors_have_asks_when_it_runs(main: str, tmp_path: Path) -> None:
    """A metric's file need not import torch to get tensors, and who gives it some may not name it."""
    written = convert(tmp_path, METRIC, main).decode()
    assert "ms_compat.any_max(outputs[0].data, 1, keepdim=True)[1]" in written
    assert "ms_compat.any_size(target[0], 0)" in written and "ms_compat.any_cpu(" in written


def test_a_package_that_is_not_installed_and_needs_torch_by_its_name_is_an_error_of_a_project(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import torch\nimport torch_nowhere\n\nx = torch_nowhere.run(torch.ones(2))\n")
    result = convert_project(tmp_path, tmp_path / "out")
    assert [(each.code, each.severity, each.line) for each in result.findings] == [("MF150", "error", 2)]
