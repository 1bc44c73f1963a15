"""`hasattr(x, name)` answers as torch's would, for every name that torch's tensors and networks have."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import mindferry
from mindferry.apis.torch._members import members
from mindferry.convert import convert_project

SCRIPT = """import json

import numpy as np
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        return self.fc(x)


class Box:
    cuda = True

    def detach(self):
        return self


def ask(v):
    return {
ASKED
    }


def plain(v):
    return v.detach().cpu().numpy().tolist() if hasattr(v, "detach") and not hasattr(v, "cuda") or hasattr(v, "cpu") else v


def first(make):
    return hasattr(make(), "detach"), hasattr(make(), "named_parameters")


values = {
    "tensor": torch.ones(2, 3), "parameter": nn.Parameter(torch.ones(2, 2)), "network": Net(), "layer": nn.Linear(3, 2),
    "array": np.ones(2), "number": 3.0, "list": [1], "none": None, "box": Box(),
}
found = {name: ask(value) for name, value in values.items()}
found["plain"] = [plain(values["tensor"]), plain(4)]
found["asked once"] = [list(first(lambda: value)) for value in (values["tensor"], values["network"], 3)]
json.dump(found, open("found.json", "w"))
"""


def test_hasattr_answers_as_with_torch(tmp_path: Path) -> None:
    names = sorted(
        {name for owner in ("Tensor", "Module") for name in members()[owner] if not name.startswith("_")} - {"imag"}
    )  # an error
    asked = "\n".join(f'        "{name}": hasattr(v, "{name}"),' for name in names)
    (tmp_path / "source").mkdir()
    (tmp_path / "source/main.py").write_text(SCRIPT.replace("ASKED", asked))
    assert convert_project(tmp_path / "source", tmp_path / "out").findings == ()
    for name in ("source", "out"):
        subprocess.run([sys.executable, "main.py"], cwd=tmp_path / name, check=True, timeout=600)
    theirs, ours = (json.loads((tmp_path / name / "found.json").read_text()) for name in ("source", "out"))
    wrong = {(each, name) for each in theirs if isinstance(theirs[each], dict) for name in names}
    wrong = {(each, name) for each, name in wrong if theirs[each][name] != ours[each][name]}
    own = {("layer", "matmul"), ("layer", "reshape"), ("layer", "requires_grad"), ("network", "requires_grad")}
    assert wrong == own  # what MindSpore's cells have besides
    assert theirs["plain"] == ours["plain"] and theirs["asked once"] == ours["asked once"]
    assert sum(theirs["tensor"].values()) > 500 and sum(theirs["network"].values()) > 40


@pytest.mark.parametrize(
    "code",
    [
        "def f(thing):\n    return getattr(thing, 'detach', None)\n",
        "def f(p):\n    return getattr(p, 'grad', None)\n",
        "x = torch.ones(3)\ny = getattr(x, 'cuda')()\n",
        "def f(net: torch.nn.Module):\n    return getattr(net, 'named_parameters')()\n",
    ],
)
def test_what_getattr_would_not_find_is_said(code: str) -> None:
    assert [each.code for each in mindferry.convert_source(f"import torch\n{code}").findings] == ["MF123"]


@pytest.mark.parametrize(
    "code",
    [
        "def f(args):\n    return getattr(args, 'detach', None), hasattr(args, 'cuda')\n",
        "def f(thing):\n    return getattr(thing, 'values', None), getattr(thing, 'requires_grad', False)\n",
        "def f(x):\n    return hasattr(x, 'shape'), hasattr(x, 'item'), hasattr(x, 'own_name')\n",
    ],
)
def test_settings_and_names_that_both_have_are_left(code: str) -> None:
    result = mindferry.convert_source(f"import torch\nx = torch.ones(2)\n{code}")
    assert code in result.code and result.findings == ()
