"""Statements that two losses share: what is shown is what the first run of them gave, and what would be another value twice is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.convert.two_frameworks import load, same

from mindferry import convert_source
from mindferry.convert import convert_project

TRAIN = """
import contextlib
import torch
from torch import nn
from torch.cuda.amp import autocast, GradScaler


def nets():
    g, d = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)), nn.Linear(3, 1)
    for number, p in enumerate([*g.parameters(), *d.parameters()]):
        with torch.no_grad():
            p.copy_(torch.linspace(-0.3, 0.7, p.numel()).reshape(p.shape) + 0.1 * number)
    return g, d, torch.optim.SGD(g.parameters(), lr=0.1), torch.optim.SGD(d.parameters(), lr=0.1)


def batches():
    values = torch.linspace(-1, 1, 36).reshape(6, 2, 3) ** 3
    return list(zip(values[:3], values[3:]))


def mixed(is_half=False):
  net_g, net_d, opt_g, opt_d = nets()
  scaler = GradScaler(enabled=False)
  seen = []
  for x, y in batches():
    with autocast(enabled=is_half):
      fake = net_g(x)

      twice = y * 2
      with autocast(enabled=False):
        d_loss = (1 - net_d(twice)).pow(2).mean() + net_d(fake.detach()).pow(2).mean()
    opt_d.zero_grad()
    scaler.scale(d_loss).backward()
    scaler.step(opt_d)
    with autocast(enabled=is_half):
      g_loss = (1 - net_d(fake)).pow(2).mean() + (fake - twice).pow(2).mean()
    opt_g.zero_grad()
    scaler.scale(g_loss).backward()
    scaler.step(opt_g)
    scaler.update()
    seen += [d_loss.item(), g_loss.item()]
  return seen


def in_a_block():
    net_g, net_d, opt_g, opt_d = nets()
    seen = []
    for x, y in batches():
        with contextlib.nullcontext():
            x = x.contiguous()
            fake = net_g(x)
            d_loss = (1 - net_d(y)).pow(2).mean() + net_d(fake.detach()).pow(2).mean()
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
        g_loss = (1 - net_d(fake)).pow(2).mean() + (fake - y).pow(2).mean()
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
        seen += [d_loss.item(), g_loss.item(), x.sum().item()]
    return seen
"""
REBINDS = """
import torch
from torch import nn

def train(net_g, net_d, opt_g, opt_d, batches):
    for x, y in batches:
        {}
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
        g_loss = (1 - net_d(x)).pow(2).mean() + y.mean()
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
"""


def test_what_is_shown_is_what_the_first_run_gave(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "gan.py").write_text(TRAIN)
    said = convert_project(theirs, tmp_path / "ours").findings
    assert not [each for each in said if each.severity == "error"]
    expected = load(TRAIN, tmp_path / "gan.py")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path / "ours")
        sys.modules.pop("ms_compat", None)
        found = load((tmp_path / "ours" / "gan.py").read_text(), tmp_path / "ours" / "gan.py")
        for name in ("mixed", "in_a_block"):
            assert same(getattr(found, name)(), getattr(expected, name)())
        sys.modules.pop("ms_compat", None)


@pytest.mark.parametrize(
    "shared",
    [
        "x = net_g(x)\n        d_loss = net_d(x.detach()).mean()",
        "with torch.autograd.set_detect_anomaly(False):\n            x = net_g(x)\n            y = y * 2\n"
        "            d_loss = net_d(x.detach()).mean()",
    ],
)
def test_what_changes_its_own_input_is_not_run_twice(shared: str) -> None:
    said = [each for each in convert_source(REBINDS.format(shared)).findings if each.severity == "error"]
    assert [each.code for each in said] == ["MF201"] and "give what it makes another name" in said[0].message
