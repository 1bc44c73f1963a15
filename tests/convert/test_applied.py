"""`net.apply(init)`: init gets layers of every kind, and names their parameters and classes as torch does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindferry import convert_source

CODE = """import torch
from torch import nn

def init(m):
    classname = m.__class__.__name__
    if classname.find('Conv') != -1:
        nn.init.constant_(m.weight, 2.0)
        if m.bias is not None:
            nn.init.zeros_(m.bias)
    elif classname.find('Linear') != -1:
        m.weight.data.fill_(3.0)
    elif classname.find('BatchNorm') != -1:
        nn.init.constant_(m.weight, 4.0)
        m.bias.data.fill_(5.0)
    elif 'Embedding' in classname:
        nn.init.constant_(m.weight, 6.0)

net = nn.Sequential(nn.Conv2d(1, 2, 3, bias=False), nn.BatchNorm2d(2), nn.Linear(2, 2), nn.Embedding(2, 2), nn.ConvTranspose2d(1, 1, 2))
net.apply(init)
"""


def test_every_kind_of_layer_is_initialised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    conversion = convert_source(CODE)
    assert [each for each in conversion.findings if each.severity == "error"] == []
    values: dict[str, Any] = {"__name__": "converted"}
    exec(compile(conversion.code, "converted", "exec"), values)
    conv, norm, linear, embedding, transposed = values["net"].cells()
    found = [
        conv.weight,
        norm.gamma,
        norm.beta,
        linear.weight,
        embedding.embedding_table,
        transposed.weight,
        transposed.bias,
    ]
    assert [np.unique(each.asnumpy()).tolist() for each in found] == [[2.0], [4.0], [5.0], [3.0], [6.0], [2.0], [0.0]]


def test_a_branch_that_tests_the_class_keeps_the_native_name() -> None:
    text = convert_source(
        "from torch import nn\n\ndef init(m):\n    if isinstance(m, nn.BatchNorm2d):\n        nn.init.ones_(m.weight)\n\nnn.Sequential().apply(init)\n"
    ).main
    assert "m.gamma" in text and "layer_parameter" not in text


def test_weights_tied_in_a_dictionary_of_layers_are_one_parameter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = """import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict(dict(embed=nn.Embedding(5, 3), drop=nn.Dropout(0.1)))
        self.head = nn.Linear(3, 5, bias=False)
        self.parts.embed.weight = self.head.weight

net = Net()
count = len(list(net.parameters()))
"""
    conversion = convert_source(code)
    values: dict[str, Any] = {"__name__": "converted"}
    exec(compile(conversion.code, "converted", "exec"), values)
    net = values["net"]
    assert values["count"] == 1 and net.parts["embed"].embedding_table is net.head.weight
