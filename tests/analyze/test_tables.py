"""Each table on a few lines of code: what it shows, and what it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.analyze import analyze_project
from mindferry.artifacts import FileConversion, Finding, Inventory, ProjectConversion

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def analyze(folder: Path, code: str, **others: str) -> Inventory:
    (folder / "main.py").write_text(HEAD + code)
    for name, text in others.items():
        (folder / name.replace("_", ".", 1)).write_text(text)
    return analyze_project(folder)


@pytest.mark.parametrize(
    ("settings", "rate"),
    [
        ("RATE = 0.3\n", "RATE"),
        ("BASE = 0.1\nRATE = BASE * 3\n", "RATE"),
        (
            "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('-l', '--rate', type=float, default=0.3)\nargs = parser.parse_args()\n",
            "args.rate",
        ),
        (
            "from dataclasses import dataclass\n@dataclass\nclass Config:\n    rate: float = 0.3\nconfig = Config()\n",
            "config.rate",
        ),
        ("config = {'optim': {'rate': 0.3}}\n", "config['optim']['rate']"),
        ("settings = dict(rate=0.3)\n", "settings['rate']"),
        ("class Config:\n    def __init__(self):\n        self.rate = 0.3\n", "cfg.rate"),
    ],
)
def test_a_value_is_followed_to_where_it_is_set(tmp_path: Path, settings: str, rate: str) -> None:
    inventory = analyze(
        tmp_path, f"{settings}net = nn.Linear(2, 2)\noptimizer = torch.optim.SGD(net.parameters(), lr={rate})\n"
    )
    assert [trick.value for trick in inventory.tricks if trick.topic == "optimizer"] == ["lr=0.3"]


def test_a_value_is_followed_through_calls_and_files(tmp_path: Path) -> None:
    (tmp_path / "constants.py").write_text("RATE = 0.3\n")
    code = "from constants import RATE\ndef build(net, rate=1.0):\n    return torch.optim.SGD(net.parameters(), lr=rate)\nbuild(nn.Linear(2, 2), RATE)\n"
    assert ("SGD", "lr=0.3") in {(trick.name, trick.value) for trick in analyze(tmp_path, code).tricks}


def test_a_value_from_a_yaml_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "train.yaml").write_text("# settings\noptim:\n  rate: 3e-1   # high\n  betas: &b [0.9]\n")
    code = "import yaml\ncfg = yaml.safe_load(open('train.yaml'))\nopt = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=cfg['optim']['rate'])\n"
    assert ("SGD", "lr=0.3") in {(trick.name, trick.value) for trick in analyze(tmp_path, code).tricks}


def test_a_value_that_is_set_twice_is_shown_as_written(tmp_path: Path) -> None:
    code = "rate = 0.1\nif torch.cuda.is_available():\n    rate = 0.2\nopt = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=rate)\n"
    assert ("SGD", "lr=rate") in {(trick.name, trick.value) for trick in analyze(tmp_path, code).tricks}


def test_a_learning_rate_with_a_schedule_is_not_called_fixed(tmp_path: Path) -> None:
    code = "opt = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.1)\nschedule = torch.optim.lr_scheduler.StepLR(opt, 30)\n"
    rates = [(trick.name, trick.value) for trick in analyze(tmp_path, code).tricks if trick.topic == "learning rate"]
    assert rates == [("initial", "0.1"), ("StepLR", "30")]


def test_shapes_from_data_are_told_from_shape_arithmetic(tmp_path: Path) -> None:
    code = """
def static(x):
    b, c = x.shape[0], x.size(1)
    h = int(x.shape[2] * 0.5)
    y = torch.zeros(b, c, h)
    k = min(10, x.shape[1])
    x[x > 0] = 1.0
    return F.interpolate(y, size=x.shape[2:]), x.topk(k), torch.where(x > 0, x, 0.0), x[:, :h]

def dynamic(x, lengths: torch.Tensor):
    kept = x[x > 0]
    where = torch.nonzero(x)
    pairs = torch.where(x > 0)
    longest = int(lengths.max())
    mask = torch.arange(longest)
    part = x[:, :longest]
    if x.sum() > 0:
        part = part * 2
    return x.masked_select(x > 1)
"""
    inventory = analyze(tmp_path, code)
    start = (HEAD + code).splitlines().index("def dynamic(x, lengths: torch.Tensor):") + 1
    assert [(place.line - start, place.topic) for place in inventory.dynamic] == [
        (1, "index by mask"),
        (2, "nonzero"),
        (3, "nonzero"),
        (5, "arange with a size from data"),
        (6, "slice by data"),
        (7, "data-dependent branch"),
        (9, "masked_select"),
    ]
    assert all(place.advice for place in inventory.dynamic)


def test_a_flag_given_to_forward_is_no_data_dependent_branch(tmp_path: Path) -> None:
    code = "class Net(nn.Module):\n    def forward(self, x, mask=None, flag=False, mode='a'):\n        if flag or mask is not None or mode == 'b' or x.dim() == 3 or len(x.shape) > 2:\n            x = x + 1\n        return x\n"
    assert analyze(tmp_path, code).dynamic == ()


def test_special_code_is_listed_with_a_way_out(tmp_path: Path) -> None:
    code = """
import timm
import torch.multiprocessing as mp
from torch.utils.cpp_extension import load

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x

native = load(name="native", sources=["native.cpp"])

def run(net, x):
    net = nn.Linear(2, 2)
    net.register_forward_hook(print)
    x = torch.zeros(3)
    x.add_(1)
    x[0] = 2
    indices = x.to_sparse()
    mp.spawn(run)
"""
    (tmp_path / "native.cu").write_text("__global__ void f() {}")
    inventory = analyze(tmp_path, code)
    assert {place.topic for place in inventory.special} == {
        "package that needs torch",
        "C++ or CUDA operator",
        "autograd function",
        "hook",
        "in-place",
        "sparse tensor",
        "multiprocessing",
    }
    assert all(place.advice for place in inventory.special)
    assert "MindCV" in next(place.advice for place in inventory.special if place.what == "timm")
    assert [place.what for place in inventory.special if place.topic == "in-place"] == ["x.add_", "x[0]"]


def test_a_missing_api_comes_with_a_strategy_and_a_place(tmp_path: Path) -> None:
    inventory = analyze(
        tmp_path,
        "x = torch.zeros(2)\ng = torch.hub.load('a/repository', 'net')\nh = torch.no_such_thing(x)\n",
    )
    left = {use.api: use for use in inventory.apis if use.kind in ("missing", "unknown")}
    assert set(left) == {"torch.hub.load", "torch.no_such_thing"}
    assert left["torch.hub.load"].strategy == "wrapper" and "mindferry convert" in left["torch.hub.load"].advice
    assert inventory.effort is not None and [task.what for task in inventory.effort.todo] == [
        "torch.hub.load",
        "torch.no_such_thing",
    ]
    assert inventory.effort.clean_sites == inventory.effort.sites - 2


def test_the_effort_is_measured_when_a_conversion_is_given(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(HEAD + "x = torch.zeros(2)\ny = torch.ones(2)\n")
    finding = Finding("MF101", "error", "main.py", 4, 5, "torch.zeros: not today", "write it out", "torch.zeros")
    inventory = analyze_project(
        tmp_path,
        check=lambda path: ProjectConversion(
            str(path), "", (FileConversion("main.py", "converted", "", (), (finding,)),)
        ),
    )
    assert inventory.effort is not None and inventory.effort.is_measured
    assert (inventory.effort.sites, inventory.effort.clean_sites, inventory.effort.clean_files) == (2, 1, 0)
    assert [task.what for task in inventory.effort.todo] == ["torch.zeros: not today"]


def test_a_file_that_stays_as_it_was_counts_with_all_its_lines(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(HEAD + "x = torch.zeros(2)\ny = torch.ones(2)\n")
    finding = Finding("MF901", "error", "main.py", 4, 1, "would not compile")
    record = ProjectConversion("", "", (FileConversion("main.py", "unchanged", "", (), (finding,)),))
    effort = analyze_project(tmp_path, check=lambda path: record).effort
    assert effort is not None and (effort.clean_sites, effort.clean_files, effort.clean_lines) == (0, 0, 0)


def test_a_file_that_is_not_python_is_a_finding_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import torch\ndef f(:\n")
    inventory = analyze(tmp_path, "x = torch.zeros(2)\n")
    assert [finding.path for finding in inventory.findings] == ["broken.py"]
    assert [use.api for use in inventory.apis] == ["torch.zeros"]


def test_heads_necks_and_backbones_are_told_by_their_names(tmp_path: Path) -> None:
    code = "class Bottleneck(nn.Module): pass\nclass PAFPN(nn.Module): pass\nclass YOLOXHead(nn.Module): pass\nclass CSPDarknet(nn.Module): pass\n"
    assert {part.name: part.role for part in analyze(tmp_path, code).parts} == {
        "Bottleneck": "",
        "PAFPN": "neck",
        "YOLOXHead": "head",
        "CSPDarknet": "backbone",
    }
