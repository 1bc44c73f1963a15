"""Whole projects: layout, helpers, files that can't be read, output folders."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mindferry.convert import convert_project, convert_source
from mindferry.errors import MindferryError

NET = "import torch.nn as nn\n\n\nclass Net(nn.Module):\n    def __init__(self, conv=nn.Conv2d):\n        super().__init__()\n        self.conv = conv(3, 8, 3)\n"


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_the_layout_stays_and_other_files_are_copied(tmp_path: Path) -> None:
    project = write(
        tmp_path / "p", {"pkg/__init__.py": "", "pkg/net.py": NET, "conf/a.yaml": "lr: 1\n", "README.md": "# p\n"}
    )
    convert_project(project, tmp_path / "out")
    assert (tmp_path / "out/conf/a.yaml").read_text() == "lr: 1\n"
    assert "nn.Cell" in (tmp_path / "out/pkg/net.py").read_text()


def test_a_package_gets_its_helpers_inside_and_imports_them_relatively(tmp_path: Path) -> None:
    project = write(
        tmp_path / "p",
        {
            "pkg/__init__.py": "",
            "pkg/models/__init__.py": "",
            "pkg/models/net.py": NET,
            "run.py": "import torch\nfrom pkg.models.net import Net\n",
        },
    )
    convert_project(project, tmp_path / "out")
    assert (tmp_path / "out/pkg/ms_compat.py").is_file()
    assert "from .. import ms_compat" in (tmp_path / "out/pkg/models/net.py").read_text()
    assert not (tmp_path / "out/ms_compat.py").exists()


def test_a_root_that_has_an_init_file_is_no_package_to_the_scripts_in_it(tmp_path: Path) -> None:
    files = {
        "__init__.py": "from . import layers\nfrom . import gone\n",
        "layers/__init__.py": "",
        "layers/net.py": NET,
        "train.py": "import torch\nfrom layers.net import Net\n\nnet = Net()\n",
    }
    convert_project(write(tmp_path / "p", files), tmp_path / "out")
    assert "from . import ms_compat" in (tmp_path / "out/layers/net.py").read_text()
    del files["train.py"]
    files["layers/more.py"] = "import torch\nfrom .net import Net\n\nnet = Net(torch.nn.Conv1d)\n"
    convert_project(write(tmp_path / "q", files), tmp_path / "inside")
    assert "from .. import ms_compat" in (tmp_path / "inside/layers/net.py").read_text()


def test_a_folder_with_an_init_file_that_its_scripts_are_run_from_finds_its_helpers_both_ways(tmp_path: Path) -> None:
    files = {
        "part/__init__.py": "",
        "part/src/__init__.py": "",
        "part/src/models/__init__.py": "",
        "part/src/models/net.py": NET.replace("import torch.nn", "from ..sizes import SIZE\nimport torch.nn"),
        "part/src/sizes.py": "SIZE = 3\n",
        "part/train.py": "import torch\nfrom src.models.net import Net\n\nprint(type(Net().conv).__name__)\n",
    }
    convert_project(write(tmp_path / "p", files), tmp_path / "out")
    for folder, command in (("out/part", "import train"), ("out", "from part.src.models.net import Net; Net()")):
        done = subprocess.run(
            [sys.executable, "-c", command], cwd=tmp_path / folder, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stderr


def test_what_a_star_brings_from_a_file_beside_a_script_is_known(tmp_path: Path) -> None:
    data = "import torch\n\n\ndef line(n):\n    return torch.zeros(n, 4)\n"
    train = (
        "import torch\nimport torch.nn as nn\nfrom lines_of_text import *\n\nnet = nn.Linear(4, 2)\n"
        "opt = torch.optim.SGD(net.parameters(), 0.1)\n\n\ndef pair():\n    return torch.zeros(1), line(3)\n\n\n"
        "def train(a, b):\n    loss = net(b).sum() + a.sum()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
        "    return loss.item()\n\n\na, b = pair()\nprint(train(a, b))\n"
    )
    project = write(tmp_path / "p", {f"{folder}/{name}": text for folder in ("a-net", "b-net") for name, text in
                                     (("lines_of_text.py", data), ("train.py", train))})  # fmt: skip
    found = convert_project(project, tmp_path / "out")
    assert [finding.message for file in found.files for finding in file.findings] == []


def test_what_a_file_has_of_torch_by_a_star_is_known_where_it_is_imported_from(tmp_path: Path) -> None:
    files = {
        "common.py": "import torch as t\nfrom math import *\nfrom torch.nn import *\nfrom torch.utils.data import *\n",
        "below.py": "from common import *\n",
        "by_star.py": "from below import *\n\nprint(TensorDataset(t.ones(3)), Linear(2, int(sqrt(9))))\n",
        "by_name.py": "import common\nfrom common import Conv2d\n\nlayers = Conv2d(1, 2, 3), common.ReLU()\n",
    }
    assert convert_project(write(tmp_path / "p", files), tmp_path / "out").findings == ()
    starred, named = ((tmp_path / "out" / name).read_text() for name in ("by_star.py", "by_name.py"))
    assert "ms_compat.TensorDataset(ops.ones((3,))), nn.Dense(2, int(sqrt(9)))" in starred
    assert "nn.Conv2d(1, 2, 3, has_bias=True, pad_mode='pad'), nn.ReLU()" in named


def test_a_method_without_a_rule_of_what_is_a_tensor_is_left_for_the_user() -> None:
    said = convert_source("import torch\n\nx = torch.ones(3)\ny = x.storage_offset()\n").findings
    assert [(each.code, each.severity) for each in said] == [("MF100", "error")]


def test_only_the_helpers_in_use_are_written(tmp_path: Path) -> None:
    project = write(tmp_path / "p", {"net.py": NET})
    convert_project(project, tmp_path / "out")
    helpers = (tmp_path / "out/ms_compat.py").read_text()
    assert "class Conv2d" in helpers and "class BatchNorm2d" not in helpers
    compile(helpers, "ms_compat.py", "exec")


def test_one_bad_file_does_not_stop_the_others(tmp_path: Path) -> None:
    project = write(tmp_path / "p", {"good.py": NET, "bad.py": "no python = at all\nimport torch\n"})
    (project / "binary.py").write_bytes(b"\x80\x00import torch")
    result = convert_project(project, tmp_path / "out")
    status = {file.path: file.status for file in result.files}
    assert status["good.py"] == "converted" and status["bad.py"] == "failed" and status["binary.py"] == "failed"
    assert {finding.code for finding in result.findings if finding.path != "good.py"} == {"MF900"}


def test_imports_of_an_excluded_file_go_with_it(tmp_path: Path) -> None:
    project = write(
        tmp_path / "p",
        {
            "shim.py": "import torch\n",
            "net.py": "import shim\nimport torch\nx = 1\n",
            "mindferry.toml": '[convert]\nexclude = ["shim.py"]\n',
        },
    )
    convert_project(project, tmp_path / "out")
    assert not (tmp_path / "out/shim.py").exists()
    assert (tmp_path / "out/net.py").read_text() == "x = 1\n"


def test_classes_and_functions_are_followed_across_files(tmp_path: Path) -> None:
    files = {
        "layers.py": "import torch.nn as nn\n\n\nclass Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.bn = nn.BatchNorm2d(3)\n\n    def forward(self, x):\n        return self.bn(x)\n",
        "net.py": "from layers import Block\n\n\nclass Net(Block):\n    def forward(self, x):\n        n = x.size(0)\n        return super().forward(x) * self.bn.weight * n\n",
        "main.py": "import torch\nfrom net import Net\n\nmodel = Net()\nmodel.eval()\n",
    }
    convert_project(write(tmp_path / "p", files), tmp_path / "out")
    net = (tmp_path / "out/net.py").read_text()
    assert (
        "def construct(self, x):\n        n = x.shape[0]\n        return super().construct(x) * self.bn.gamma * n"
        in net
    )
    assert "model.set_train(False)" in (tmp_path / "out/main.py").read_text()


def test_a_folder_that_holds_something_else_is_not_touched(tmp_path: Path) -> None:
    project = write(tmp_path / "p", {"net.py": NET})
    out = write(tmp_path / "out", {"thesis.tex": "ten years of work"})
    with pytest.raises(MindferryError, match="already holds something else"):
        convert_project(project, out)
    assert [each.name for each in out.iterdir()] == ["thesis.tex"]


def test_a_file_that_was_edited_since_is_kept(tmp_path: Path) -> None:
    project = write(tmp_path / "p", {"net.py": NET})
    convert_project(project, tmp_path / "out")
    (tmp_path / "out/net.py").write_text("mine = 1\n")
    result = convert_project(project, tmp_path / "out")
    assert (tmp_path / "out/net.py").read_text() == "mine = 1\n"
    assert [finding.code for finding in result.findings] == ["MF903"]


def test_requirements_name_mindspore_instead_of_torch(tmp_path: Path) -> None:
    project = write(
        tmp_path / "p",
        {"net.py": NET, "requirements.txt": "tqdm\ntorch>=2.0  # the framework\ntorchvision\nnumpy>=1.20\n"},
    )
    convert_project(project, tmp_path / "out")
    assert (tmp_path / "out/requirements.txt").read_text() == "tqdm\n# the framework\nmindspore==2.10.0\nnumpy<2\n"


def test_folders_that_a_script_writes_into_are_made_although_nothing_of_theirs_is_copied(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for folder in ("results/pictures", "weights", ".hidden", "__pycache__"):
        (project / folder).mkdir(parents=True)
    (project / "weights/best.pth").write_bytes(b"")
    (project / "train.py").write_text("import torch\nprint(torch.ones(2))\n")
    convert_project(project, tmp_path / "out")
    found = {each.relative_to(tmp_path / "out").as_posix() for each in (tmp_path / "out").rglob("*") if each.is_dir()}
    assert {"results", "results/pictures", "weights"} == {each for each in found if not each.startswith(".mindferry")}


def test_no_folder_is_made_through_a_link(tmp_path: Path) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    (project / "results/pictures").mkdir(parents=True)
    elsewhere.mkdir()
    (project / "train.py").write_text("import torch\n")
    convert_project(project, tmp_path / "out")
    shutil.rmtree(tmp_path / "out/results")
    (tmp_path / "out/results").symlink_to(elsewhere)
    with pytest.raises(MindferryError, match="link"):
        convert_project(project, tmp_path / "out")
    assert list(elsewhere.iterdir()) == []


def test_what_is_run_in_a_folder_finds_its_helpers_there_by_whatever_name(tmp_path: Path) -> None:
    draw = "import torch\n\n\ndef draw():\n    return torch.randint(0, 4, (3,)).tolist()\n"
    files = {
        "code/train.py": "from lib.net import Net\nfrom parts import draw\n\nprint(draw(), Net())\n",
        "code/parts.py": draw,
        "code/lib/net.py": NET,
        "examples/main.py": "import torch\nfrom pkg.parts import draw\n\nprint(draw(), torch.randint(0, 4, (3,)))\n",
        "my-code/run.py": "import torch\n\nprint(torch.randint(0, 4, (3,)))\n",
        "pkg/parts.py": draw,
        "pkg/__init__.py": "",
    }
    out = tmp_path / "out"
    convert_project(write(tmp_path / "p", files), out)
    homes = {path.parent.relative_to(out).as_posix() for path in out.rglob("ms_compat.py")}
    assert homes == {"code", "examples", "my-code", "pkg"}
    for words in ("code/train.py", "-m examples.main", "my-code/run.py"):
        done = subprocess.run([sys.executable, *words.split()], cwd=out, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
