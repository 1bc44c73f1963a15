"""torch's out= is written into as torch does; a tensor class that is handed on makes tensors as torch's does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mindferry import convert_source

SCRIPT = """
import sys
from collections import defaultdict

import torch

use_cuda = len(sys.argv) > 5
Tensor = torch.cuda.FloatTensor if use_cuda else torch.Tensor


class Keeper:
    def __init__(self):
        self.make = torch.cuda.FloatTensor if use_cuda else torch.Tensor
        self.kept = torch.zeros(3)

    def step(self, x):
        torch.mul(x, 2.0, out=self.kept)
        return torch.arange(0, 4, out=self.make()).long()


keeper = Keeper()
x = torch.tensor([1.5, -2.0, 4.0])
print(keeper.step(x).tolist(), keeper.kept.tolist())
total = torch.empty(2)
back = torch.cat((x, torch.ones(1)), 0, out=total)
print(total.tolist(), back is total)
values, places = torch.empty(0), torch.empty(0, dtype=torch.long)
torch.max(torch.stack((x, -x)), 0, out=(values, places))
print(values.tolist(), places.tolist())
print(Tensor(2, 3).shape[1], Tensor([1, 2]).tolist(), Tensor().shape[0])
losses = defaultdict(torch.Tensor)
for step in range(3):
    losses["a"] = torch.cat((losses["a"], torch.tensor([[step / 4]])), dim=0)
print(losses["a"].tolist())
print([each.tolist() for each in map(torch.Tensor, ([1, 2], [0.5]))])
"""


def test_what_out_names_holds_what_torch_writes_into_it(tmp_path: Path) -> None:
    conversion = convert_source(SCRIPT)
    assert [each for each in conversion.findings if each.severity == "error"] == []
    told = []
    for name, code in (("torch_side.py", SCRIPT), ("other_side.py", conversion.code)):
        (tmp_path / name).write_text(code)
        done = subprocess.run(
            [sys.executable, name], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=True
        )
        told.append(done.stdout)
    assert told[0] == told[1]


@pytest.mark.parametrize("out", ["rows[0]", "rows.view(-1)", "rows.data", "part"])
def test_a_view_given_as_out_is_left_with_a_finding(out: str) -> None:
    code = f"import torch\nrows = torch.zeros(2, 3)\npart = rows[1]\ntorch.add(rows[0], rows[1], out={out})\n"
    found = [each for each in convert_source(code).findings if each.severity == "error"]
    assert [(each.code, each.line) for each in found] == [("MF101", 4)]
    assert "view" in found[0].message
