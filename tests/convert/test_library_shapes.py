"""Shapes of code from public packages that converted without a word, and then crashed or gave another value or gradient."""

from __future__ import annotations

from pathlib import Path

import pytest
from two_frameworks import Both, same

from mindferry import convert_source
from mindferry.convert import convert_project

SAME = {
    "no gradient passes whole numbers and truth values": """
class Net(nn.Module):
    def forward(self, x):
        place = (x * 3).long()
        part = x - x.to(torch.int64)
        return part * x + place.float() * x + x.int() * x + (x * 2).bool().unsqueeze(0).float() * x


def run():
    net = Net()
    x = torch.from_numpy(X).clone().requires_grad_()
    loss = net(x).sum()
    loss.backward()
    return plain(x.grad)
""",
    "a condition may be computed with twice": """
class Net(nn.Module):
    def forward(self, x):
        m = x > 0.2
        n = (x < 1) & (x > -1)
        return m * x + m[:, :1] * x * 2 + n * x + n.unsqueeze(0) * x * 3


def basis(x, grid):
    x = x.unsqueeze(2)
    value = (x >= grid[:, :-1]) * (x < grid[:, 1:])
    return value[:, :, 1:] * x + value[:, :, :-1] * x * 2


def run():
    net = Net()
    x = torch.from_numpy(X).clone().requires_grad_()
    loss = net(x).sum() + basis(x, torch.linspace(-2, 2, 6)[None, :]).sum()
    loss.backward()
    return plain(x.grad)
""",
    "one of two contexts switches gradients off": """
import contextlib


class Net(nn.Module):
    def context(self, k):
        return torch.no_grad() if k else contextlib.nullcontext()

    def forward(self, x):
        y = x
        for k in reversed(range(3)):
            chosen = contextlib.nullcontext if k == 0 else torch.no_grad
            with chosen():
                y = y * x
        if y.shape[0] == 4:
            ctx = torch.no_grad()
        else:
            ctx = contextlib.nullcontext()
        with ctx:
            z = y * x
        with self.context(1):
            w = x * x
        with self.context(0):
            v = x * x
        return z * x + y + w * x + v * x


def run():
    net = Net()
    x = torch.from_numpy(X).clone().requires_grad_()
    loss = net(x).sum()
    loss.backward()
    return plain(x.grad)
""",
    "a function keeps what backward needs; its context may be set up apart": """
class Magnitude(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, b):
        r = torch.sqrt(x ** 2 + b ** 2)
        if x.requires_grad:
            ctx.save_for_backward(x, r)
        return r - b

    @staticmethod
    def backward(ctx, g):
        x, r = ctx.saved_tensors
        return g * x / r, None


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(x, alpha):
        return (x > 0).float()

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, alpha = inputs
        ctx.alpha = alpha
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g / (ctx.alpha * x.abs() + 1.0).pow(2), None


class Total(torch.autograd.Function):
    @classmethod
    def forward(cls, ctx, x, dim=1):
        ctx.dim = dim
        ctx.save_for_backward(x)
        return x.sum(dim, keepdim=True)

    @classmethod
    def backward(cls, ctx, g):
        (x,) = ctx.saved_tensors
        return g.transpose(0, 1).sum(ctx.dim).view(1, 1) * x, None


class Columns(Total):
    @classmethod
    def forward(cls, ctx, x):
        return super().forward(ctx, x, 0)


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, sizes, x, settings, y):
        ctx.factor = settings["factor"] * len(sizes)
        return x * y * ctx.factor

    @staticmethod
    def backward(ctx, g):
        return None, g * ctx.factor, None, None


class Net(nn.Module):
    def forward(self, x):
        scaled = Scaled.apply([1, 2, 3], x, {"factor": 0.1, "name": "a", "more": (1, 2)}, x.detach())
        return Magnitude.apply(x, 0.5) + Spike.apply(x, 3.0) + Total.apply(x) + Columns.apply(x) + scaled


def run():
    net = Net()
    x = torch.from_numpy(X).clone().requires_grad_()
    loss = net(x).sum()
    loss.backward()
    return plain([net(x.detach()), x.grad])
""",
    "a parameter that is frozen where it is made stays a parameter": """
class Kept(nn.Parameter):
    pass


class Net(nn.Module):
    def __init__(self, trains):
        super().__init__()
        self.a = nn.Parameter(torch.zeros(3)).requires_grad_(False)
        self.b = nn.Parameter(torch.ones(3)).requires_grad_(trains)
        self.c = nn.Parameter(torch.ones(3), requires_grad=False).requires_grad_()
        self.d = Kept(torch.ones(3))
        self.e = Kept(torch.ones(3), requires_grad=False)
        self.f = nn.Parameter(torch.ones(3), requires_grad=False)
        self.f.requires_grad = True


def run():
    net = Net(False)
    return [[name, bool(p.requires_grad), isinstance(p, Kept)] for name, p in net.named_parameters()]
""",
    "a class names its forward again": """
class Net(nn.Module):
    def forward(self, x):
        return x * 2

    step = forward
    __call__ = forward


class Slow(nn.Module):
    def _slow(self, x):
        return x * 3

    forward = _slow


def run():
    x = torch.from_numpy(X)
    return plain([Net()(x), Net().step(x), Slow()(x)])
""",
    "the weight of a Conv1d is set in torch's shape": """
class Frames(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 4, 4, bias=False)
        self.conv.weight.data = torch.eye(4)[:, None, :]
        self.back = nn.Conv1d(4, 2, 1, bias=False)
        self.back.weight.data.copy_(torch.arange(8.0).view(2, 4, 1))

    def forward(self, x):
        return self.back(self.conv(x.unsqueeze(1)))


def run():
    return plain(Frames()(torch.from_numpy(X)))
""",
    "places times frequencies, and a device that forward is given": """
class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scales", torch.logspace(0.0, 1.0, 3))

    def forward(self, n, device):
        scales = self.scales.to(device)
        places = torch.arange(n, device=device)
        return torch.einsum("i, j -> i j", places, scales), torch.einsum("i,j->ij", scales, places)


def run():
    return plain(list(Rotary()(4, torch.device("cpu"))))
""",
    "a copy of a layer's weight passes the gradient on": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 2)
        with torch.no_grad():
            for p in self.parameters():
                p.copy_(torch.arange(float(p.numel())).view(p.shape).sin())

    def forward(self, x):
        use = lambda layer, given: nn.functional.linear(given, layer.weight.clone(), layer.bias.clone())
        return use(self.fc, x)


def run():
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    seen = []
    for step in range(2):
        opt.zero_grad()
        loss = net(torch.from_numpy(X)).pow(2).mean()
        loss.backward()
        opt.step()
        seen.append(loss.item())
    return seen
""",
    "what layers have in common is a type, and a norm may be derived from": """
from typing import Optional, Type
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd
from torch.nn.modules.dropout import _DropoutNd

Maybe = Optional[_ConvNd]


class Norm(_BatchNorm):
    def _check_input_dim(self, input):
        pass


def pick(op: Type[_ConvNd], drop: Optional[Type[_DropoutNd]] = None, norm: _BatchNorm = None) -> Maybe:
    return op(1, 1, 1)


def run():
    made = pick(nn.Conv2d)
    net = Norm(6)
    net.train()
    kinds = [isinstance(made, _ConvNd), isinstance(made, (_BatchNorm, _DropoutNd))]
    return [kinds, plain(net(torch.from_numpy(X)))]
""",
}


@pytest.mark.parametrize("name", SAME)
def test_it_gives_the_same(name: str, both: Both) -> None:
    theirs, ours = both(SAME[name])
    assert same(ours, theirs), (ours, theirs)


NAMED = {
    "class Own(torch.nn.modules.conv._ConvNd):\n    pass\n": "_ConvNd",
    "class Net(nn.Module):\n    def forward(self, x):\n        return (x + 1j * torch.sin(x)).real\n": "complex number",
}


@pytest.mark.parametrize("code", NAMED)
def test_what_can_t_run_is_named(code: str) -> None:
    found = convert_source("import torch\nfrom torch import nn\n\n" + code).findings
    assert [each.severity for each in found if NAMED[code] in each.message] == ["error"]


def test_a_class_that_a_package_s_modules_take_from_the_package_stays_a_network(tmp_path: Path) -> None:
    """Each part of the package starts with `from . import Base`, and the package takes everything from its parts."""
    files = {
        "flows/__init__.py": "from .base import *\nfrom .coupling import *\n",
        "flows/base.py": "from torch import nn\n\nclass Base(nn.Module):\n    def forward(self, x):\n        raise NotImplementedError\n",
        "flows/coupling.py": "from . import Base\n\nclass Coupling(Base):\n    def forward(self, x):\n        return x\n",
        "chain.py": "from flows import Base\n\nclass Chain(Base):\n    def forward(self, x):\n        return x * 2\n",
    }
    for name, text in files.items():
        (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / name).write_text(text)
    convert_project(tmp_path / "source", tmp_path / "out")
    assert "def construct" in (tmp_path / "out" / "chain.py").read_text()
    assert "def construct" in (tmp_path / "out" / "flows" / "coupling.py").read_text()
