"""The ledger: every place that may be torch's is converted, asked at run time, left with a finding, or not torch's."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import torch

from mindferry import convert_project, convert_source
from mindferry.accounts import OUTCOMES, summarize_sites
from mindferry.apis.torch._members import members, own_members
from mindferry.artifacts import FileConversion, Site

PROJECTS = sorted((Path(__file__).parents[1] / "projects").iterdir())
NAMES = {name for owner in members().values() for name in owner}


def outcome(text: str, name: str) -> str:
    return next(each.outcome for each in convert_source(text).sites if each.name == name)


def unlisted(folder: Path, file: FileConversion) -> list[str]:
    """Methods and attributes of torch's classes in the source that the ledger doesn't mention, found without the converter."""
    listed = {(each.line, each.name) for each in file.sites}
    lines = {each.line for each in file.sites if not each.name.startswith(".")}
    tree = ast.parse((folder / file.path).read_bytes())
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    return [
        f"{file.path}:{node.end_lineno} {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in NAMES
        and node.end_lineno not in lines
        and (node.end_lineno, f".{node.attr}") not in listed
        and root(node) not in imported  # a function of numpy's or math's
    ]


def root(node: ast.expr) -> str:
    """np in np.linalg.norm; '' if something is called or indexed on the way."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def check(folder: Path, output: Path) -> Counter[str]:
    result = convert_project(folder, output, check=True)
    counts: Counter[str] = Counter()
    for file in result.files:
        if not file.sites:
            continue
        counts.update(each.outcome for each in file.sites)
        told = {each.line for each in file.findings}
        assert unlisted(folder, file) == []
        assert {each.outcome for each in file.sites} <= set(OUTCOMES)
        for each in file.sites:
            assert each.outcome != "left" or told, f"{file.path}:{each.line} {each.name} is left without a finding"
            assert each.receiver in ("proven", "assumed", "unknown")
    return counts


@pytest.mark.parametrize("folder", PROJECTS, ids=lambda each: each.name)
def test_every_place_of_a_project_is_in_the_ledger(folder: Path, tmp_path: Path) -> None:
    counts = check(folder, tmp_path / "out")
    assert counts["converted"] >= 20 and counts["left"] == 0


def test_every_place_of_torchvision_is_in_the_ledger(tmp_path: Path) -> None:
    found = importlib.util.find_spec("torchvision")
    assert found is not None and found.origin is not None
    counts = check(Path(found.origin).parent / "models", tmp_path / "out")
    assert counts["converted"] > 2000 and counts["left"] < 0.06 * counts.total()


HEAD = "import torch\nfrom torch import nn\n"


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("x = torch.zeros(3)\n", "torch.zeros", "converted"),
        ("net = nn.ReLU()\n", "torch.nn.ReLU", "converted"),
        ("def f(box):\n    return box['x'].chunk(2, dim=1)\n", ".chunk", "dispatched"),
        ("def f(m):\n    return m.part.real\n", ".real", "dispatched"),
        ("def f(box):\n    return box['x'].mean()\n", ".mean", "converted"),
        ("x = torch.nested.nested_tensor([])\n", "torch.nested.nested_tensor", "left"),
        ("def f(x):\n    return x.to_mkldnn()\n", ".to_mkldnn", "left"),
        ("def f(x: torch.Tensor):\n    return map(x.view, [1])\n", ".view", "left"),
        ("a = 'a,b'.split(',')\n", ".split", "not torch's"),
        ("def f(line):\n    return line.split(',')\n", ".split", "not torch's"),
        ("import pandas as pd\nm = pd.read_csv('a').mean()\n", ".mean", "not torch's"),
        (
            "from torchvision import transforms as T\ndef f(img):\n"
            "    return T.functional.center_crop(img, min(img.size))\n",
            ".size",
            "not torch's",
        ),
        ("class Own:\n    def view(self):\n        return 1\n\nv = Own().view()\n", ".view", "not torch's"),
    ],
)
def test_a_place_has_the_outcome_that_the_text_shows(text: str, name: str, expected: str) -> None:
    assert outcome(HEAD + text, name) == expected


def test_the_line_that_sums_it_up_names_every_outcome() -> None:
    line = summarize_sites([Site(1, 1, ".size", each) for each in ("converted", "converted", "left", "not torch's")])
    assert line == "4 of 4 accounted: 2 converted, 0 dispatched, 1 left, 1 not torch's"
    assert summarize_sites([]) == ""


def test_the_command_prints_the_line_and_its_json_has_the_sites(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HEAD + "def f(box):\n    return box['x'].size(1), box['y'].clone()\n")
    command = [sys.executable, "-m", "mindferry", "convert", str(tmp_path / "a.py")]
    shown = subprocess.run([*command, "-o", str(tmp_path / "out")], capture_output=True, text=True, check=True)
    assert "2 of 2 accounted: 1 converted, 1 dispatched, 0 left, 0 not torch's" in shown.stdout
    told = subprocess.run([*command, "--check", "--json"], capture_output=True, text=True, check=True)
    sites = [site for file in json.loads(told.stdout)["files"] for site in file["sites"]]
    assert {each["name"]: each["outcome"] for each in sites} == {".size": "converted", ".clone": "dispatched"}


def test_what_the_helper_for_sparse_tensors_lacks_is_said() -> None:
    found = convert_source(
        "import torch\n\n\ndef f(x: torch.Tensor):\n    y = x.to_sparse()\n    return y.coalesce().values(), y.size(0), y.sparse_mask(y), y.crow_indices()\n"
    ).findings
    assert [(each.code, each.rule) for each in found] == [
        ("MF100", "torch.sparse.Tensor.sparse_mask"),
        ("MF100", "torch.sparse.Tensor.crow_indices"),
    ]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (
            "def f(r: nn.LSTM):\n    return r.get_expected_hidden_size(None, None)\n",
            ".get_expected_hidden_size",
            "left",
        ),
        ("def f(a: nn.MultiheadAttention):\n    return a.num_heads\n", ".num_heads", "converted"),
        ("def f(thing):\n    return thing._flat_weights\n", "._flat_weights", "left"),
        ("act = nn.ELU()\nprint(act.alpha)\n", ".alpha", "left"),
        ("act = nn.CELU()\nprint(act.alpha)\n", ".alpha", "converted"),
        (
            "class Act(nn.ELU):\n    def __init__(self):\n        super().__init__()\n        self.alpha = 2\n\n\nprint(Act().alpha)\n",
            ".alpha",
            "",
        ),
        (
            "class Own:\n    def merge_masks(self):\n        return 1\n\n\ndef f(thing):\n    return thing.merge_masks()\n",
            ".merge_masks",
            "not torch's",
        ),
        ("d = torch.distributions.Normal(0.0, 1.0)\nprint(d.support)\n", ".support", "left"),
        (
            "from torch.utils import data\n\n\ndef f(loader: data.DataLoader):\n    return loader.num_workers\n",
            ".num_workers",
            "converted",
        ),
        (
            "from torch.utils import data\n\n\ndef f(loader: data.DataLoader):\n    return loader.in_order\n",
            ".in_order",
            "left",
        ),
    ],
)
def test_a_member_that_one_class_has_is_kept_or_has_a_finding(text: str, name: str, expected: str) -> None:
    conversion = convert_source(HEAD + text)
    outcomes = [each.outcome for each in conversion.sites if each.name == name]
    assert outcomes == [expected] * len(outcomes) and bool(outcomes) == bool(expected)
    assert any(each.severity != "note" for each in conversion.findings) == (expected == "left")


def test_every_attribute_of_torchs_layers_is_listed() -> None:
    """One that torch adds has to be measured: `python scripts/members/write_own_members.py`."""
    unlisted = []
    for made in (torch.nn.Linear(2, 2), torch.nn.Conv2d(1, 1, 1), torch.nn.GRU(1, 1), torch.nn.BatchNorm2d(1)):
        known = own_members()[f"torch.nn.{type(made).__name__}"]
        names = {each for each in vars(made) if not each.startswith("_")} - {"training", "weight"}
        unlisted += [f"{type(made).__name__}.{each}" for each in names - known.kept - known.lost]
    assert unlisted == []
    assert all(each.kept.isdisjoint(each.lost) for each in own_members().values())
