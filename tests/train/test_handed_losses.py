"""A loss that is handed to a function which differentiates it: scripts of several shapes and files learn the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry import convert_source
from mindferry.config import Train
from mindferry.convert import convert_project
from mindferry.train import train_side_by_side

COMMON = """
import torch
from torch import nn
torch.manual_seed(3)
xs = [torch.randn(8, 4) for _ in range(6)]
ys = [torch.randn(8, 1) for _ in range(6)]

def network(inputs=4, outputs=1):
    return nn.Sequential(nn.Linear(inputs, 8), nn.Tanh(), nn.Linear(8, outputs))

"""
SCALER = """import torch
from torch import nn


class NativeScalerWithNorm:
    def __init__(self):
        self._scaler = torch.amp.GradScaler("cpu", enabled=False)

    def __call__(self, loss, optimizer, clip_grad=None, parameters=None, create_graph=False, update_grad=True):
        self._scaler.scale(loss).backward(create_graph=create_graph)
        norm = None
        if update_grad:
            if clip_grad is not None:
                self._scaler.unscale_(optimizer)
                norm = nn.utils.clip_grad_norm_(parameters, clip_grad)
            self._scaler.step(optimizer)
            self._scaler.update()
        return norm
"""
OPTIMIZE = """
from torch import nn


def optimize(optimizer, loss, net=None, max_norm=None):
    optimizer.zero_grad()
    loss.backward()
    if max_norm is not None:
        nn.utils.clip_grad_norm_(net.parameters(), max_norm)
    optimizer.step()
"""
SHAPES = {
    "scaler_of_another_file": """
from common import network, xs, ys

from own.scaler import NativeScalerWithNorm

def train_one_epoch(model, data, optimizer, loss_scaler, accum):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(data):
        loss = ((model(x) - y) ** 2).mean()
        value = loss.item()
        loss /= accum
        norm = loss_scaler(loss, optimizer, clip_grad=0.5, parameters=model.parameters(), update_grad=(i + 1) % accum == 0)
        if (i + 1) % accum == 0:
            optimizer.zero_grad()

model = network()
train_one_epoch(model, zip(xs, ys), torch.optim.AdamW(model.parameters(), lr=0.1), NativeScalerWithNorm(), 2)
""",
    "actor_and_critic": """
from common import network, xs, ys
from own.scaler import optimize
actor, critic = network(4, 2), network(6)
log_alpha = torch.zeros(1, requires_grad=True)
a_opt, c_opt = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (actor, critic))
t_opt = torch.optim.SGD([log_alpha], lr=0.1)
for x, y in zip(xs, ys):
    c_loss = F.mse_loss(critic(torch.cat([x, actor(x).detach()], 1)), y)
    optimize(c_opt, c_loss)
    act = actor(x)
    a_loss = (log_alpha.exp().detach() * act ** 2).mean() - critic(torch.cat([x, act], 1)).mean()
    optimize(a_opt, loss=a_loss, net=actor, max_norm=0.5)
    optimize(t_opt, -(log_alpha * (act.mean() + 1).detach()).mean())
""",
    "methods_that_hand_on": """
from common import network, xs, ys

class Base:
    accum = 2

    def backward(self, loss):
        loss = loss / self.accum
        loss *= 1.5
        loss.backward()
        self.count += 1
        if self.count % self.accum == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()

    def account(self, loss, weight):
        self.backward(loss * weight)
        return loss.item()

    def judge(self, loss, trains):
        loss = loss * 2
        if trains and self.count < 3:
            loss.backward()
        elif trains:
            (loss / 2).backward()
        return loss.item()

class Trainer(Base):
    def __init__(self):
        self.model, self.count, self.total = network(), 0, 0.0
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)

    def fit(self):
        for x, y in zip(xs, ys):
            out = self.model(x)
            if out.shape[0] > 2:
                self.total += self.account(((out - y) ** 2).mean() + out.abs().mean(), 0.5)

        with torch.no_grad():
            self.total += self.judge(self.model(xs[0]).mean(), False)
        self.judge(self.model(xs[0]).mean(), True)

Trainer().fit()
""",
    "losses_left_to_subclasses": """
from abc import ABC, abstractmethod
from own.scaler import optimize
class Base(ABC):
    @abstractmethod
    def calc_critic_loss(self, x): pass
    @abstractmethod
    def calc_entropy_loss(self, e): pass
    def learn(self, x):
        q1_loss, q2_loss, e = self.calc_critic_loss(x)
        entropy_loss = self.calc_entropy_loss(e)
        optimize(self.q1_opt, q1_loss)
        optimize(self.q2_opt, q2_loss)
        optimize(self.a_opt, entropy_loss)
        self.alpha = self.log_alpha.exp()

class Agent(Base):
    def __init__(self):
        self.q1 = nn.Linear(3, 1)
        self.q2 = nn.Linear(3, 1)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.alpha = self.log_alpha.exp()
        self.q1_opt = torch.optim.SGD(self.q1.parameters(), lr=0.02)
        self.q2_opt = torch.optim.SGD(self.q2.parameters(), lr=0.02)
        self.a_opt = torch.optim.SGD([self.log_alpha], lr=0.05)
    def calc_critic_loss(self, x):
        a, b = self.q1(x), self.q2(x)
        with torch.no_grad():
            t = torch.min(a, b) * 0.9 + self.alpha * x.mean()
        return ((a - t) ** 2).mean(), ((b - t) ** 2).mean(), (a - b).abs().detach()
    def calc_entropy_loss(self, e):
        assert not e.requires_grad
        return -torch.mean(self.log_alpha * (0.5 - e))

agent = Agent()
for i in range(4):
    agent.learn(torch.arange(12.0).reshape(4, 3) / 10 - i)
""",
}
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


@pytest.mark.parametrize(
    "name, steps",
    [
        ("scaler_of_another_file", 3),
        ("actor_and_critic", 18),
        ("methods_that_hand_on", 3),
        ("losses_left_to_subclasses", 12),
    ],
)
def test_a_loss_that_is_handed_on_teaches_the_same(name: str, steps: int, tmp_path: Path) -> None:
    source, output = tmp_path / "source", tmp_path / "output"
    source.mkdir()
    (source / "common.py").write_text(COMMON)
    (source / "own").mkdir()
    (source / "own" / "scaler.py").write_text(
        SCALER if name == "scaler_of_another_file" else "" if name == "methods_that_hand_on" else OPTIMIZE
    )
    (source / "train.py").write_text(HEAD + SHAPES[name])
    result = convert_project(source, output)
    assert [str(each) for each in result.findings if each.severity == "error"] == []
    curves = train_side_by_side(output, Train("train.py", (), 1000, 1e-4))
    assert curves.first_difference == ""
    assert len(curves.reference) == steps
    assert max(curves.distances) < 1e-4


UPDATE = """
import torch
def update(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    "text, place",
    [
        (UPDATE, "this backward() was not lifted"),  # nobody calls it
        (
            UPDATE + "def run(optimizer, losses):\n    update(optimizer, losses[-1].sum())\n",
            "update differentiates losses[-1].sum()",
        ),
        (
            UPDATE.replace("loss.backward()", "loss.backward(create_graph=True)")
            + "update(torch.optim.SGD(net.parameters(), 0.1), net(x))",
            "",
        ),
    ],
)
def test_what_nobody_can_differentiate_is_a_finding(text: str, place: str) -> None:
    found = [each for each in convert_source(text).findings if each.severity == "error"]
    assert [each.code for each in found] == ["MF201"]
    assert place in found[0].message
