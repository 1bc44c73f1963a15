"""What a program reads out of a type's text is what torch writes there; where it can't be, a finding says so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import mindferry
from mindferry.convert import convert_project

SCRIPT = """import json

import numpy as np
import torch


def described(value):
    return f"{value.dtype}-{tuple(value.shape)}"


found = []
for kind in (torch.float32, torch.int64, torch.bool, torch.float16, torch.uint8, torch.bfloat16, torch.complex64):
    x = torch.ones(2).to(kind)
    found.append([
        str(x.dtype), str(x.dtype).split(".")[1], str(kind).replace("torch.", ""), repr(x.dtype), f"{kind}_{x.dtype}",
        str(x.dtype) == "torch.float32", str(x.dtype) in ("torch.int64", "torch.int32"), described(x),
    ])
a = np.ones(2, dtype="float32")
found.append([str(a.dtype), described(a), str(np.dtype(str(torch.zeros(1).dtype)[6:]))])
print(f"of {x.dtype}")
json.dump(found, open("found.json", "w"))
"""


def test_texts_of_element_types_are_those_of_torch(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source/main.py").write_text(SCRIPT)
    assert convert_project(tmp_path / "source", tmp_path / "out").findings == ()
    assert 'print(f"of {x.dtype}")' in (tmp_path / "out/main.py").read_text()  # for people to read
    for name in ("source", "out"):
        subprocess.run([sys.executable, "main.py"], cwd=tmp_path / name, check=True, timeout=600)
    theirs, ours = (json.loads((tmp_path / name / "found.json").read_text()) for name in ("source", "out"))
    assert ours == theirs


@pytest.mark.parametrize(
    "asked",
    [
        "type(x).__module__.startswith('torch')",
        "'torch' in str(type(x))",
        "x.__class__.__module__ == 'torch.nn.modules.linear'",
        "type(x).__module__.split('.')[0] in ('torch',)",
    ],
)
def test_a_class_that_is_asked_where_it_is_defined_is_said(asked: str) -> None:
    result = mindferry.convert_source(f"import torch\n\n\ndef f(x):\n    return {asked}\n")
    assert [(each.code, each.severity) for each in result.findings] == [("MF102", "error")]


@pytest.mark.parametrize(
    "asked", ["str(type(x))", "x.__class__.__module__ == 'mine'", "'torch' in x", "x.dtype == 'float32'"]
)
def test_nothing_is_said_of_other_texts(asked: str) -> None:
    assert mindferry.convert_source(f"import torch\n\n\ndef f(x):\n    return {asked}\n").findings == ()
