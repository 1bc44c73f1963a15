"""Training steps whose parts stand where a first look does not expect them: each trains as torch does, or is named."""

from __future__ import annotations

import pytest
from two_frameworks import Both, plain, same

from mindferry.convert import convert_source

FILLED = """
import math

def filled(net):
    with torch.no_grad():
        for k, p in enumerate(net.parameters()):
            p.copy_(torch.sin(torch.arange(p.numel()).float() + k).view(p.shape) * 0.5)
    return net

def small():
    return filled(nn.Sequential(nn.Linear(6, 3), nn.Tanh(), nn.Linear(3, 1)))
"""

WRAPPERS = """
class Averaged:
    def __init__(self, base):
        self.base = base
        self.slow = [p.clone().detach() for p in base.param_groups[0]["params"]]
    def zero_grad(self):
        self.base.zero_grad()
    def step(self):
        self.base.step()
        for p, q in zip(self.base.param_groups[0]["params"], self.slow):
            q.add_(0.5 * (p.data - q))
            p.data.copy_(q)

class Halved:
    def __init__(self, inner):
        self.inner = inner
    def clear(self):
        self.inner.zero_grad()
    def advance(self):
        self.inner.step()
        for g in self.inner.param_groups:
            g["lr"] *= 0.5

def made(name, net):
    if name == "averaged":
        return Averaged(torch.optim.Adam(net.parameters(), lr=0.05))
    return torch.optim.SGD(net.parameters(), lr=0.1)
"""

SHAPES = {
    "a class that holds an optimizer clears gradients that add up": WRAPPERS
    + """
def run():
    net, seen = small(), []
    opt = Halved(torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9))
    for i in range(4):
        opt.clear()
        loss = net(torch.from_numpy(X) * (i + 1)).pow(2).mean()
        loss.backward()
        opt.advance()
        seen.append(loss.item())
    return seen
""",
    "an optimizer or a class that holds one": WRAPPERS
    + """
def run():
    seen = []
    for name in ("averaged", "plain"):
        net = small()
        opt = made(name, net)
        for i in range(3):
            opt.zero_grad()
            loss = net(torch.from_numpy(X) * (i + 1)).pow(2).mean()
            loss.backward()
            opt.step()
            seen.append(loss.item())
    return seen
""",
    "a leaf is made between what its loss is computed by": """
def run():
    kept = []
    x = torch.from_numpy(X).requires_grad_()
    kept.append(x * 2)
    place = torch.zeros(4, 6)
    place[0] = 1
    kept.append(place)
    place.masked_fill_(place > 2, 1.0)
    kept.append(place + x.exp())
    (kept[0].pow(2).sum() + kept[2].sum()).backward()
    kept.append(x.grad)
    return kept
""",
    "an earlier loop has a variable of the same name": """
class Player:
    def __init__(self):
        self.net = small()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def learn(self, x):
        loss = self.net(x).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

def run():
    player, seen = Player(), []
    for i in range(3):
        seen.append(player.learn(torch.from_numpy(X) * i))
    other, parts = small(), []
    opt = torch.optim.SGD(other.parameters(), lr=0.1)
    for i in range(3):
        parts.append(other(torch.from_numpy(X) + i).mean())
    opt.zero_grad()
    loss = torch.stack(parts).sum()
    loss.backward()
    opt.step()
    return seen, loss, [p for p in other.parameters()]
""",
    "leaves that a loop over gradients updates": """
def run():
    w = torch.zeros(6) + 0.1
    w.requires_grad_(True)
    b = torch.zeros(1)
    b.requires_grad_(True)
    for step in range(3):
        loss = (torch.from_numpy(X).mv(w) + b - 1).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            for p in (w, b):
                p -= 0.1 * p.grad
                p.grad.zero_()
    return w, b, loss
""",
    "the loss is left to subclasses": """
import abc

class Trainer(abc.ABC):
    def __init__(self, net):
        self.net, self.opt = net, torch.optim.SGD(net.parameters(), lr=0.1)
    @abc.abstractmethod
    def training_step(self, batch):
        ...
    def metric(self, batch):
        raise NotImplementedError
    def fit(self, batches):
        seen = []
        for batch in batches:
            loss = self.training_step(batch)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            seen.append(loss.item())
        return seen

class Squares(Trainer):
    def training_step(self, batch):
        return self.net(batch).pow(2).mean()

def run():
    return Squares(small()).fit([torch.from_numpy(X), torch.from_numpy(X) + 1])
""",
    "a method of a network that a function of any network gives": """
class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(6, 2)
    def log_prob(self, x):
        return -self.lin(x).pow(2).sum(1)

def run():
    flow, seen = filled(Flow()), []
    other = filled(nn.Linear(2, 2))
    opt = torch.optim.SGD(flow.parameters(), lr=0.1)
    for i in range(3):
        loss = -flow.log_prob(torch.from_numpy(X)).mean() / math.log(2)
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen.append(loss.item())
    return seen
""",
    "nothing is left to search for the largest": """
def run():
    boxes = torch.from_numpy(X)[torch.from_numpy(X)[:, 0] > 100]
    scores, labels = boxes.max(1)
    return scores.tolist(), labels.tolist(), list(boxes.min(dim=1, keepdim=True)[0].shape)
""",
}


@pytest.mark.parametrize("title", SHAPES)
def test_it_computes_what_torch_computes(title: str, both: Both) -> None:
    theirs, ours = both(FILLED + SHAPES[title])
    assert same(plain(ours), plain(theirs))


COMPUTED = """
import torch
from torch import nn

class LossCompute:
    def __init__(self, head, opt):
        self.head, self.opt = head, opt
    def __call__(self, x, y):
        x = self.head(x)
        loss = nn.functional.cross_entropy(x, y)
        loss.backward()
        self.opt.step()
        self.opt.zero_grad()
        return loss.item()

def run_epoch(batches, body, compute):
    for x, y in batches:
        out = body(x)
        compute(GIVEN, y)

body, head = nn.Linear(4, 4), nn.Linear(4, 2)
"""


@pytest.mark.parametrize(("given", "found"), [("out", ["MF201"]), ("out.detach()", [])])
def test_a_graph_that_an_object_is_called_with_is_named(given: str, found: list[str]) -> None:
    conversion = convert_source(COMPUTED.replace("GIVEN", given))
    assert [each.code for each in conversion.findings if each.severity != "note"] == found


def test_a_loss_whose_branch_a_text_chooses_carries_no_graph(both: Both) -> None:
    theirs, ours = both("""
class Adversarial(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind, self.dis = kind, nn.Linear(4, 1)
        nn.init.constant_(self.dis.weight, 0.3)
        nn.init.zeros_(self.dis.bias)
        self.optimizer = torch.optim.SGD(self.dis.parameters(), lr=0.1)

    def forward(self, fake, real):
        self.loss = 0
        fake_detach = fake.detach()
        for _ in range(2):
            self.optimizer.zero_grad()
            d_fake = self.dis(fake_detach)
            d_real = self.dis(real)
            if self.kind == "GAN":
                loss_d = torch.sigmoid(d_fake).mean() - torch.sigmoid(d_real).mean()
            elif self.kind.find("WGAN") >= 0:
                loss_d = (d_fake - d_real).mean()
                if self.kind.find("L2") >= 0:
                    loss_d += d_real.pow(2).mean()
            self.loss += loss_d.item()
            loss_d.backward()
            self.optimizer.step()
        return self.loss


def run():
    x = torch.arange(8.0).reshape(2, 4) / 8
    return [Adversarial(kind)(x, 1 - x * x) for kind in ("GAN", "WGAN", "WGAN-L2")]
""")
    assert same(ours, theirs)
