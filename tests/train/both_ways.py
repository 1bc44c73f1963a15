"""Small scripts run as they are in torch and, converted, in MindSpore: what each records must be the same, or a finding says why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mindferry.artifacts import Finding
from mindferry.convert import convert_project

COMMON = """
import numpy as np
import torch
from torch import nn

class Record:
    def __init__(self):
        self.values = []
    def __call__(self, *values):
        for value in values:
            if isinstance(value, torch.Tensor):
                value = value.detach().numpy()
            self.values.append(np.array(value))

record = Record()

def array(seed, *shape):
    return np.random.RandomState(seed).randn(*shape).astype("float32")

def start(net):
    for number, p in enumerate(net.parameters()):
        p.data.copy_(torch.from_numpy(array(number, *p.shape) * 0.4))
    return net

def weights(net):
    for p in net.parameters():
        record(p)

xs = [torch.from_numpy(array(10 + i, 8, 4)) for i in range(5)]
ys = [torch.from_numpy(np.random.RandomState(i).randint(0, 3, (8,))) for i in range(5)]

def network(last=3, first=4):
    return start(nn.Sequential(nn.Linear(first, 8), nn.Tanh(), nn.Linear(8, last)))

criterion = nn.CrossEntropyLoss()
"""
HEAD = """
import copy
import numpy as np
import torch
from torch import nn, autograd
import torch.nn.functional as F
from common import xs, ys, network, criterion, record, weights, start, array
"""
RUNNER = """
import contextlib, importlib, io, json, os, sys, traceback
import numpy as np
sys.path.insert(0, os.getcwd())
found = {}
for name in sys.argv[2:]:
    np.random.seed(0)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            record = importlib.import_module(name).record
        found[name] = np.concatenate([np.asarray(each, float).reshape(-1) for each in record.values]).tolist()
    except BaseException:
        found[name] = traceback.format_exc()[-1500:]
    if "common" in sys.modules:
        sys.modules["common"].record.values.clear()
with open(sys.argv[1], "w") as file:
    json.dump(found, file)
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """One script: what it recorded on both sides, or how it failed."""

    torch: list[float] | str
    mindspore: list[float] | str
    findings: tuple[Finding, ...]
    code: str

    def check(self) -> None:
        """The same numbers, and nothing that was left to the reader."""
        assert not isinstance(self.torch, str), self.torch
        assert [each for each in self.findings if each.severity == "error"] == []
        assert not isinstance(self.mindspore, str), self.mindspore
        assert len(self.torch) == len(self.mindspore) > 0
        np.testing.assert_allclose(self.mindspore, self.torch, rtol=2e-3, atol=1e-4)


def run_both(folder: Path, scripts: dict[str, str], others: dict[str, str] | None = None) -> dict[str, Ran]:
    """Each script is a module that records into `common.record`; one process runs all of them, one for each framework."""
    source, output = folder / "source", folder / "output"
    files = {"common.py": COMMON, **(others or {}), **{f"{name}.py": HEAD + text for name, text in scripts.items()}}
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    conversion = convert_project(source, output)
    findings = {each.path: each.findings for each in conversion.files}
    (folder / "runner.py").write_text(RUNNER)
    sides = [_run(folder, side, list(scripts)) for side in (source, output)]
    return {
        name: Ran(sides[0][name], sides[1][name], findings[f"{name}.py"], (output / f"{name}.py").read_text())
        for name in scripts
    }


def _run(folder: Path, side: Path, names: list[str]) -> dict[str, list[float] | str]:
    answer = folder / f"{side.name}.json"
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2", "GLOG_v": "3", "PYTHONPATH": ""}
    command = [sys.executable, str(folder / "runner.py"), str(answer), *names]
    subprocess.run(command, cwd=side, env=environment, check=True, capture_output=True, timeout=600)
    found: dict[str, list[float] | str] = json.loads(answer.read_text())
    return found
