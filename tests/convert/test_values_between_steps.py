"""A network trains on after its parameters were given other values: MindSpore's own optimizers, and graphs, go on with the memory they saw."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import numpy as np
import pytest

from mindferry.convert import convert_project

NETWORK = """import copy
import numpy as np
import torch
from torch import nn
from torch.nn.init import constant_ as fill
from torch.nn.utils import parameters_to_vector as to_vector, vector_to_parameters as to_net


def data(step):
    return torch.from_numpy(np.random.default_rng(step).standard_normal((6, 4)).astype("float32"))


def network():
    net = nn.Sequential(nn.Linear(4, 5), nn.LeakyReLU(0.2), nn.Linear(5, 1))
    draw = np.random.default_rng(7)
    for p in net.parameters():
        p.data.copy_(torch.from_numpy(draw.standard_normal(tuple(p.shape)).astype("float32")))
    return net


def show(losses, net):
    print(*(round(each, 4) for each in losses), *(round(p.sum().item(), 4) for p in net.parameters()))

"""
LOOP = """
net = network()
optimizer = torch.optim.{optimizer}
losses, kept = [], None
for step in range(5):
    loss = net(data(step)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
{between}
show(losses, net)
"""
PENALTY = """

def penalty(net, x):
    x = (x * 0.5).requires_grad_(True)
    score = net(x)
    slope = torch.autograd.grad(score, x, torch.ones_like(score), create_graph=True)[0]
    return ((slope.norm(2, dim=1) - 1) ** 2).mean()


net = network()
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-2)
losses, kept = [], None
for step in range(5):
    x = data(step)
    loss = net(x).mean() + penalty(net, x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
{between}
show(losses, net)
"""
FUNCTIONS = """

def epoch(net, optimizer, steps):
    losses = []
    for step in steps:
        loss = net(data(step)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def back_to(net, kept):
    net.load_state_dict(kept)


net = network()
optimizer = torch.optim.{optimizer}
losses = epoch(net, optimizer, range(2))
kept = copy.deepcopy(net.state_dict())
losses += epoch(net, optimizer, range(2, 4))
back_to(net, kept)
losses += epoch(net, optimizer, range(4, 7))
show(losses, net)
"""
TWICE = f"{LOOP.partition('{between}')[0]}net.load_state_dict(copy.deepcopy(net.state_dict()))\nfor step in range(5, 8):{LOOP.partition('range(5):')[2]}"
SGD, ADAMW = "SGD(net.parameters(), lr=0.05)", "AdamW(net.parameters(), lr=0.01)"
BETWEEN = {
    "clipped": "for p in net.parameters():\n    p.data.clamp_(-0.5, 0.5)",
    "restored": "if step == 1:\n    kept = copy.deepcopy(net.state_dict())\nif step == 3:\n    net.load_state_dict(kept)",
    "shrunk": "with torch.no_grad():\n    for p in net.parameters():\n        p.mul_(0.9)",
    "one layer": "net[0].weight.data = net[0].weight.data / net[0].weight.data.norm()",
    "from one vector": "to_net(to_vector(net.parameters()) * 0.8, net.parameters())",
    "by another name": "if step == 2:\n    fill(net[2].weight, 0.25)",
    "drawn again": "if step == 2:\n    nn.init.constant_(net[2].weight, 0.25)",
}


def script(shape: str, between: str = "", optimizer: str = SGD) -> str:
    return shape.format(between=indent(between, "    "), optimizer=optimizer)


def printed(file: Path) -> list[list[float]]:
    environment = {**os.environ, "GLOG_v": "4", "ONEDNN_MAX_CPU_ISA": "AVX2"}
    command = [sys.executable, file.name]
    run = subprocess.run(command, cwd=file.parent, env=environment, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr[-2000:]
    return [[float(word) for word in line.split()] for line in run.stdout.splitlines()]


def converted(folder: Path, text: str) -> Path:
    (folder / "train.py").write_text(NETWORK + text)
    conversion = convert_project(folder / "train.py", folder / "out")
    assert [each for file in conversion.files for each in file.findings if each.severity != "note"] == []
    return folder / "out" / "train.py"


def test_training_goes_on_after_parameters_were_given_values(tmp_path: Path) -> None:
    scripts = [script(LOOP, each, optimizer) for each in BETWEEN.values() for optimizer in (SGD, ADAMW)]
    penalties = [script(PENALTY, BETWEEN[each]) for each in ("clipped", "restored", "shrunk")]
    ours = converted(tmp_path, "\n".join([*scripts, *penalties, script(FUNCTIONS), script(TWICE)]))
    theirs, found = printed(tmp_path / "train.py"), printed(ours)
    assert len(found) == len(theirs) == len(scripts) + len(penalties) + 2
    for mine, wanted in zip(found, theirs, strict=True):
        np.testing.assert_allclose(mine, wanted, atol=5e-3)


@pytest.mark.parametrize("between", BETWEEN)
def test_values_that_are_given_in_the_loop_need_a_helper(tmp_path: Path, between: str) -> None:
    assert "= ms_compat.SGD(net" in converted(tmp_path, script(LOOP, BETWEEN[between])).read_text()


def test_values_that_are_given_between_functions_that_train_need_a_helper(tmp_path: Path) -> None:
    assert "= ms_compat.SGD(net" in converted(tmp_path, script(FUNCTIONS)).read_text()


def test_values_that_are_given_between_two_loops_need_a_helper(tmp_path: Path) -> None:
    assert "= ms_compat.SGD(net" in converted(tmp_path, script(TWICE)).read_text()


@pytest.mark.parametrize("between", ["", "print(step)", "net.train()", "torch.save(net.state_dict(), 'a.pth')"])
def test_values_that_are_given_before_the_first_step_leave_mindspores_own(tmp_path: Path, between: str) -> None:
    assert "= optim.SGD(net" in converted(tmp_path, script(LOOP, between)).read_text()
