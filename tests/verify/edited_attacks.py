"""Attacks on the word "same", eighth set, first half: conversions that were edited by hand.

An edit is a change of what `mindferry convert` writes from one of three networks: what it does shows in no value that a run compares.
"""

from __future__ import annotations

from dataclasses import dataclass

NETWORKS = {
    "attn": """import math

import torch
import torch.nn.functional as F
from torch import nn


class Attend(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        score = q @ k.transpose(-2, -1) / math.sqrt(c // self.heads)
        y = self.drop(score.softmax(-1)) @ v
        return self.out(y.transpose(1, 2).reshape(b, n, c))


class Net(nn.Module):
    def __init__(self, width=8, heads=2, classes=5):
        super().__init__()
        self.embed = nn.Embedding(20, width)
        self.norm = nn.LayerNorm(width)
        self.attend = Attend(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 16), nn.GELU(), nn.Linear(16, width))
        self.head = nn.Linear(width, classes)

    def forward(self, ids):
        x = self.embed(ids)
        x = x + self.attend(self.norm(x))
        x = x + self.mlp(x)
        return self.head(x.mean(1))
""",
    "conv": """import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(c)

    def forward(self, x):
        return F.relu(x + self.bn(self.conv(x)))


class Net(nn.Module):
    def __init__(self, c=6):
        super().__init__()
        self.stem = nn.Conv2d(3, c, 3, stride=2, padding=1)
        self.blocks = nn.ModuleList([Block(c) for _ in range(2)])
        self.register_buffer("scale", torch.linspace(0.5, 1.5, c))
        self.head = nn.Linear(c, 4)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.head(x * self.scale)
""",
    "lin": """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.gate = nn.Linear(6, 6)

    def forward(self, x):
        h = torch.tanh(self.fc(x))
        return h * torch.sigmoid(self.gate(x))
""",
}
INPUTS = {"attn": "int64[2,7]@0..20", "conv": "float32[2,3,16,16]", "lin": "float32[4,6]"}


@dataclass(frozen=True)
class Edit:
    name: str
    network: str
    changes: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return self.name

    def of(self, text: str) -> str:
        for before, after in self.changes:
            assert before in text, (self.name, before)
            text = text.replace(before, after, 1)
        return text


H = "h = ms_compat.tanh(self.fc(x))"
CLS = "class Net(nn.Cell):"


def edit(name: str, network: str, *changes: tuple[str, str]) -> Edit:
    return Edit(name, network, changes)


EDITS = (
    edit("a size met by no literal", "lin", (H, H + "\n        h = h * (1 + (x.shape[0] == len('abcdefgh')))")),
    edit(
        "a product that is one for most sizes",
        "lin",
        (H, H + "\n        h = h * max(1, x.shape[0] // (x.shape[1] * x.shape[1]))"),
    ),
    edit("heads written as a number", "attn", ("c // self.heads).permute", "c // 2).permute")),
    edit("a width written as a number", "attn", ("nn.LayerNorm((width,)", "nn.LayerNorm((8,)")),
    edit(
        "results remembered by shape",
        "lin",
        (
            CLS,
            "import functools\nheld = {}\n\n@functools.lru_cache(None)\ndef first(n):\n    return held['x'].mean()\n\n\n"
            + CLS,
        ),
        (H, "held['x'] = x\n        " + H + "\n        h = h + 0 * first(x.shape[0])"),
    ),
    edit(
        "remembered results that are used",
        "lin",
        (
            CLS,
            "import functools\n\n@functools.lru_cache(None)\ndef factor(n, width):\n    return 1.0 + 0.0 * n * width\n\n\n"
            + CLS,
        ),
        (H, H + " * factor(*x.shape)"),
    ),
    edit(
        "a count in a context variable",
        "lin",
        (CLS, "import contextvars\ncalls = contextvars.ContextVar('calls', default=0)\n\n\n" + CLS),
        (
            H,
            "calls.set(calls.get() + 1)\n        "
            + H
            + " * (calls.get() < len(self.fc.weight) ** len(self.fc.weight))",
        ),
    ),
    edit("random bytes", "lin", (CLS, "import uuid\n\n\n" + CLS), (H, H + " * (1 + (uuid.uuid4().int < x.size))")),
    edit(
        "a timer at import",
        "lin",
        (
            CLS,
            "import threading\nstate = {'f': 1.0}\nt = threading.Timer(3600, state.update, [{'f': 2.0}])\nt.daemon = True\nt.start()\n\n\n"
            + CLS,
        ),
        (H, H + " * state['f']"),
    ),
    edit(
        "a patch of a layer that nothing here uses",
        "conv",
        ("class Block(nn.Cell):", "nn.Dropout.construct = lambda self, x: x\n\n\nclass Block(nn.Cell):"),
    ),
    edit(
        "a patch of an optimizer",
        "lin",
        (CLS, "nn.SGD.lr_fix = nn.SGD.get_lr\nnn.SGD.get_lr = lambda self: nn.SGD.lr_fix(self) * 2\n\n\n" + CLS),
    ),
    edit(
        "a gradient that is bounded",
        "lin",
        (
            CLS,
            "class Bounded(nn.Cell):\n    def construct(self, x):\n        return x\n\n    def bprop(self, x, out, dout):\n        big = float(x.size) ** len(x.shape)\n        return (ops.minimum(ops.maximum(dout, -big), big),)\n\n\n"
            + CLS,
        ),
        ("self.gate = nn.Dense(6, 6)", "self.gate = nn.Dense(6, 6)\n        self.bounded = Bounded()"),
        (H, H + "\n        h = self.bounded(h)"),
    ),
    edit("an empty batch", "lin", (H, "x = x if len(x) else ops.zeros((1, x.shape[1]), x.dtype)\n        " + H)),
    edit(
        "a threshold made of sizes",
        "lin",
        (
            H,
            H
            + "\n        h = ops.where(ops.abs(x).max() > self.fc.weight.size ** len(x.shape) * self.fc.weight.size, h * 2, h)",
        ),
    ),
    edit(
        "a call that is overridden",
        "lin",
        (
            "    def construct(self, x):",
            "    def __call__(self, *args, **kwargs):\n        return super().__call__(*[ms.Tensor(each) for each in args], **kwargs)\n\n    def construct(self, x):",
        ),
        (CLS, "import mindspore as ms\n\n\n" + CLS),
    ),
    edit(
        "a mode that is set otherwise",
        "conv",
        (
            "    def construct(self, x):\n        x = self.stem(x)",
            "    def set_train(self, mode=True):\n        super().set_train(mode)\n        for block in self.blocks:\n            block.conv.set_grad(False)\n        return self\n\n    def construct(self, x):\n        x = self.stem(x)",
        ),
    ),
    edit(
        "a decorator that catches",
        "lin",
        (
            CLS,
            "def safe(function):\n    def inner(self, x):\n        try:\n            return function(self, x)\n        except Exception:\n            return x\n    return inner\n\n\n"
            + CLS,
        ),
        ("    def construct(self, x):", "    @safe\n    def construct(self, x):"),
    ),
    edit(
        "hash order", "lin", (CLS, "names = ['fc', 'gate']\n\n\n" + CLS), (H, H + " * (1 + (hash('fc') < len(names)))")
    ),
    edit(
        "a mean for a sum over one element",
        "conv",
        (
            "ops.adaptive_avg_pool2d(x, 1).flatten(1)",
            "ops.adaptive_avg_pool2d(x, 1).flatten(1) * (self.head.weight.shape[0] // len(self.head.weight))",
        ),
    ),
    edit(
        "an argument that is no longer passed on",
        "attn",
        ("self.attend = Attend(width, heads)", "self.attend = Attend(width, 2)"),
    ),
    edit("a list of fixed layers", "conv", ("Block(c) for _ in range(2)", "Block(6) for _ in range(2)")),
    edit(
        "weights that are tied by value alone at start",
        "lin",
        (
            "self.gate = nn.Dense(6, 6)",
            "self.gate = nn.Dense(6, 6)\n        self.gate.weight.set_data(self.gate.weight.value())",
        ),
    ),
    edit("an initial value of another kind", "attn", ("initializer.Normal(1.0)", "initializer.TruncatedNormal(1.137)")),
    edit(
        "an object with a method of its own for equality",
        "lin",
        (
            CLS,
            "class Size(int):\n    def __eq__(self, other):\n        return other > self * self\n\n    __hash__ = int.__hash__\n\n\n"
            + CLS,
        ),
        ("self.gate = nn.Dense(6, 6)", "self.gate = nn.Dense(6, 6)\n        self.size = Size(7)"),
        (H, H + " * (1 + (self.size == x.shape[0]))"),
    ),
    edit(
        "a stack that is looked at",
        "lin",
        (CLS, "import traceback\n\n\n" + CLS),
        (H, H + " * (1 + (traceback.format_stack()[0].count('train.py')))"),
    ),
    edit(
        "a half in between",
        "attn",
        ("self.mlp(x)", "self.mlp(x.astype(ms_float)).astype(x.dtype)"),
        (
            "import ms_compat",
            "import ms_compat\nimport mindspore\n\nms_float = mindspore.get_context('mode') and mindspore.float32 or mindspore.float16",
        ),
    ),
    edit(
        "frozen by name",
        "attn",
        (
            "self.head = nn.Dense(width, classes)",
            "self.head = nn.Dense(width, classes)\n        self.head.weight.init_mode = None\n        self.norm.gamma.parallel_optimizer = False\n        self.head.bias.comm_fusion = 3",
        ),
    ),
)
