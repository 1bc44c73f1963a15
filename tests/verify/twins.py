"""Small networks written twice, once for torch and once by hand for MindSpore, with the same attribute names.

A twin is two source texts, since MindSpore compiles only what it can read from a file. `load` writes both to a folder
and imports them; `mutate` plants a fault in the MindSpore text.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_HEAD_T = "import math\nimport random\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
_HEAD_M = "import mindspore as ms\nfrom mindspore import nn, ops, Parameter, Tensor\nimport numpy as np\n"


@dataclass(frozen=True)
class Twin:
    name: str
    torch: str
    mindspore: str
    inputs: tuple[str, ...]

    def mutate(self, before: str, after: str) -> Twin:
        assert self.mindspore.count(before) == 1, (
            f"{before!r} occurs {self.mindspore.count(before)} times in {self.name}"
        )
        return replace(self, mindspore=self.mindspore.replace(before, after))

    def with_batch(self, size: int) -> Twin:
        """The same on another number of samples; the first size of every input is that."""
        inputs = tuple(re.sub(r"\[\d+", f"[{size}", text, count=1) for text in self.inputs)
        return replace(self, inputs=inputs)

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Two projects with a `net.py` each; the model is `net:Net`."""
        for side, text in (("torch", _HEAD_T + self.torch), ("mindspore", _HEAD_M + self.mindspore)):
            (folder / side).mkdir(parents=True, exist_ok=True)
            (folder / side / "net.py").write_text(text)
        return folder / "torch", folder / "mindspore"

    def load(self, folder: Path, seed: int = 0) -> tuple[Any, Any]:
        """The two models, in this process; `seed` is that of the weights."""
        import torch

        from mindferry.verify.named import shake

        torch.manual_seed(seed)
        module, cell = (load_module(path / "net.py").Net() for path in self.write(folder))
        shake(module, seed)
        return module, cell


def compare_twin(twin: Twin, folder: Path, seed: int = 0, **options: Any) -> Any:
    """The verdict on a twin, with what its constructor computes taken into account."""
    from mindferry.verify.live import compare

    module, cell = twin.load(folder, seed)
    made = optimizers(module, cell)
    return compare(module, cell, twin.inputs, seed=seed, optimizers=made, rebuild=type(module), **options)


def optimizers(module: Any, cell: Any) -> tuple[Any, Any] | None:
    """What makes the optimizers, where the twin has any."""
    found = [getattr(sys.modules[type(net).__module__], "optimizer", None) for net in (module, cell)]
    return (found[0], found[1]) if all(found) else None


def load_module(path: Path) -> Any:
    name = f"twin_{abs(hash(str(path)))}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


RESNET = Twin(
    "resnet",
    """
class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv1 = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(c)
        self.conv2 = nn.Conv2d(c, c, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(c)
        self.relu = nn.ReLU(inplace=True)
    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        y += x
        return self.relu(y)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 5, stride=2, padding=2)
        self.pool = nn.MaxPool2d(2, stride=1)
        self.layers = nn.Sequential(*[Block(8) for _ in range(3)])
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(8, 10)
    def forward(self, x):
        x = self.layers(self.pool(self.stem(x)))
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.fc(F.dropout(self.drop(x), 0.1, self.training))

def optimizer(net):
    decay = [p for p in net.parameters() if p.ndim > 1]
    others = [p for p in net.parameters() if p.ndim <= 1]
    groups = [{"params": decay, "weight_decay": 1e-4}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.SGD(groups, lr=0.1, momentum=0.9)
""",
    """
class Block(nn.Cell):
    def __init__(self, c):
        super().__init__()
        self.conv1 = nn.Conv2d(c, c, 3, pad_mode='pad', padding=1, has_bias=False)
        self.bn1 = nn.BatchNorm2d(c, eps=1e-5, momentum=0.9)
        self.conv2 = nn.Conv2d(c, c, 3, pad_mode='pad', padding=1, has_bias=True)
        self.bn2 = nn.BatchNorm2d(c)
        self.relu = nn.ReLU()
    def construct(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        y = y + x
        return self.relu(y)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 5, stride=2, pad_mode='pad', padding=2, has_bias=True)
        self.pool = nn.MaxPool2d(2, stride=1)
        self.layers = nn.SequentialCell(*[Block(8) for _ in range(3)])
        self.drop = nn.Dropout(p=0.5)
        self.fc = nn.Dense(8, 10)
    def construct(self, x):
        x = self.layers(self.pool(self.stem(x)))
        x = ops.adaptive_avg_pool2d(x, 1).flatten(start_dim=1)
        return self.fc(ops.dropout(self.drop(x), 0.1, self.training))

def optimizer(net):
    decay = [p for p in net.trainable_params() if p.ndim > 1]
    others = [p for p in net.trainable_params() if p.ndim <= 1]
    groups = [{"params": decay, "weight_decay": 1e-4}, {"params": others, "weight_decay": 0.0}]
    return nn.SGD(groups, learning_rate=0.1, momentum=0.9)
""",
    ("float32[4,3,16,16]",),
)

VIT = Twin(
    "vit",
    """
class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(d, eps=1e-6)
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = (q @ k.transpose(-2, -1)) * (d // self.heads) ** -0.5
        a = a.softmax(-1)
        return self.proj((a @ v).transpose(1, 2).reshape(b, n, d))

class Mlp(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.fc1 = nn.Linear(d, 2 * d)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(2 * d, d)
    def forward(self, x):
        return self.fc2(self.act(self.fc1(self.norm(x))))

class Net(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.patch = nn.Conv2d(3, d, 4, stride=4)
        self.cls = nn.Parameter(torch.zeros(1, 1, d))
        self.pos = nn.Parameter(torch.randn(1, 17, d) * 0.1)
        self.attn = nn.ModuleList([Attention(d, 4) for _ in range(2)])
        self.mlp = nn.ModuleList([Mlp(d) for _ in range(2)])
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, 5)
    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1) + self.pos
        for attn, mlp in zip(self.attn, self.mlp):
            x = x + attn(x)
            x = x + mlp(x)
        return self.head(self.norm(x)[:, 0])
""",
    """
class Attention(nn.Cell):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm((d,), epsilon=1e-6)
        self.qkv = nn.Dense(d, 3 * d)
        self.proj = nn.Dense(d, d)
    def construct(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = (q @ k.swapaxes(-2, -1)) * (d // self.heads) ** -0.5
        a = ops.softmax(a, axis=-1)
        return self.proj((a @ v).swapaxes(1, 2).reshape(b, n, d))

class Mlp(nn.Cell):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm((d,), epsilon=1e-5)
        self.fc1 = nn.Dense(d, 2 * d)
        self.act = nn.GELU(approximate=False)
        self.fc2 = nn.Dense(2 * d, d)
    def construct(self, x):
        return self.fc2(self.act(self.fc1(self.norm(x))))

class Net(nn.Cell):
    def __init__(self, d=32):
        super().__init__()
        self.patch = nn.Conv2d(3, d, 4, stride=4, pad_mode='pad', has_bias=True)
        self.cls = Parameter(Tensor(np.zeros((1, 1, d), np.float32)))
        self.pos = Parameter(Tensor(np.zeros((1, 17, d), np.float32)))
        self.attn = nn.CellList([Attention(d, 4) for _ in range(2)])
        self.mlp = nn.CellList([Mlp(d) for _ in range(2)])
        self.norm = nn.LayerNorm((d,), epsilon=1e-5)
        self.head = nn.Dense(d, 5)
    def construct(self, x):
        x = self.patch(x).flatten(start_dim=2).swapaxes(1, 2)
        x = ops.cat([ops.broadcast_to(self.cls, (x.shape[0], -1, -1)), x], axis=1) + self.pos
        for attn, mlp in zip(self.attn, self.mlp):
            x = x + attn(x)
            x = x + mlp(x)
        return self.head(self.norm(x)[:, 0])
""",
    ("float32[2,3,16,16]",),
)

BERT = Twin(
    "bert",
    """
class Layer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.out = nn.Linear(d, d)
        self.norm1 = nn.LayerNorm(d, eps=1e-12)
        self.up, self.down = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
        self.norm2 = nn.LayerNorm(d, eps=1e-12)
        self.dropout = nn.Dropout(0.1)
    def forward(self, x, mask):
        b, n, d = x.shape
        split = lambda t: t.view(b, n, self.heads, d // self.heads).transpose(1, 2)
        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = q @ k.transpose(-1, -2) / (d // self.heads) ** 0.5
        scores = scores.masked_fill(mask == 0, -1e9)
        y = (self.dropout(scores.softmax(-1)) @ v).transpose(1, 2).reshape(b, n, d)
        x = self.norm1(x + self.dropout(self.out(y)))
        y = self.down(F.gelu(self.up(x)))
        return self.norm2(x + self.dropout(y))

class Net(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.words = nn.Embedding(50, d)
        self.places = nn.Embedding(16, d)
        self.norm = nn.LayerNorm(d, eps=1e-12)
        self.layers = nn.ModuleList([Layer(d, 4) for _ in range(2)])
        self.pooler = nn.Linear(d, d)
        self.classifier = nn.Linear(d, 3)
    def forward(self, ids):
        mask = (ids != 0)[:, None, None, :]
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x, mask)
        pooled = torch.tanh(self.pooler(x[:, 0]))
        return {"logits": self.classifier(pooled), "hidden": x}
""",
    """
class Layer(nn.Cell):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = nn.Dense(d, d), nn.Dense(d, d), nn.Dense(d, d)
        self.out = nn.Dense(d, d)
        self.norm1 = nn.LayerNorm((d,), epsilon=1e-12)
        self.up, self.down = nn.Dense(d, 2 * d), nn.Dense(2 * d, d)
        self.norm2 = nn.LayerNorm((d,), epsilon=1e-12)
        self.dropout = nn.Dropout(p=0.1)
    def construct(self, x, mask):
        b, n, d = x.shape
        split = lambda t: t.view(b, n, self.heads, d // self.heads).swapaxes(1, 2)
        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = q @ k.swapaxes(-1, -2) / (d // self.heads) ** 0.5
        scores = scores.masked_fill(mask == 0, -1e9)
        y = (self.dropout(ops.softmax(scores, axis=-1)) @ v).swapaxes(1, 2).reshape(b, n, d)
        x = self.norm1(x + self.dropout(self.out(y)))
        y = self.down(ops.gelu(self.up(x), approximate='none'))
        return self.norm2(x + self.dropout(y))

class Net(nn.Cell):
    def __init__(self, d=32):
        super().__init__()
        self.words = nn.Embedding(50, d)
        self.places = nn.Embedding(16, d)
        self.norm = nn.LayerNorm((d,), epsilon=1e-12)
        self.layers = nn.CellList([Layer(d, 4) for _ in range(2)])
        self.pooler = nn.Dense(d, d)
        self.classifier = nn.Dense(d, 3)
    def construct(self, ids):
        mask = (ids != 0)[:, None, None, :]
        x = self.words(ids) + self.places(ops.arange(ids.shape[1]))
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x, mask)
        pooled = ops.tanh(self.pooler(x[:, 0]))
        return {"logits": self.classifier(pooled), "hidden": x}
""",
    ("int64[2,12]@0..50",),
)

UNET = Twin(
    "unet",
    """
class Double(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv1 = nn.Conv2d(i, o, 3, padding=1)
        self.norm1 = nn.GroupNorm(2, o)
        self.conv2 = nn.Conv2d(o, o, 3, padding=2, dilation=2)
        self.norm2 = nn.BatchNorm2d(o)
        self.act = nn.LeakyReLU(0.1)
    def forward(self, x):
        x = self.act(self.norm1(self.conv1(x)))
        return self.act(self.norm2(self.conv2(x)))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc1, self.enc2 = Double(3, 8), Double(8, 16)
        self.pool = nn.AvgPool2d(2)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.dec = Double(16, 8)
        self.out = nn.Conv2d(8, 2, 1)
    def forward(self, x):
        a = self.enc1(x)
        b = self.enc2(self.pool(a))
        c = self.dec(torch.cat([a, self.up(b)], dim=1))
        return torch.sigmoid(self.out(c)), F.interpolate(b, scale_factor=2, mode="nearest")
""",
    """
class Double(nn.Cell):
    def __init__(self, i, o):
        super().__init__()
        self.conv1 = nn.Conv2d(i, o, 3, pad_mode='pad', padding=1, has_bias=True)
        self.norm1 = nn.GroupNorm(2, o)
        self.conv2 = nn.Conv2d(o, o, 3, pad_mode='pad', padding=2, dilation=2, has_bias=True)
        self.norm2 = nn.BatchNorm2d(o)
        self.act = nn.LeakyReLU(0.1)
    def construct(self, x):
        x = self.act(self.norm1(self.conv1(x)))
        return self.act(self.norm2(self.conv2(x)))

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.enc1, self.enc2 = Double(3, 8), Double(8, 16)
        self.pool = nn.AvgPool2d(2, stride=2)
        self.up = nn.Conv2dTranspose(16, 8, 2, stride=2, pad_mode='pad', has_bias=True)
        self.dec = Double(16, 8)
        self.out = nn.Conv2d(8, 2, 1, pad_mode='pad', has_bias=True)
    def construct(self, x):
        a = self.enc1(x)
        b = self.enc2(self.pool(a))
        c = self.dec(ops.cat([a, self.up(b)], axis=1))
        return ops.sigmoid(self.out(c)), ops.interpolate(b, size=(b.shape[2] * 2, b.shape[3] * 2), mode="nearest")
""",
    ("float32[2,3,16,16]@0..1",),
)

LSTM = Twin(
    "lstm",
    """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 12)
        self.rnn = nn.LSTM(12, 16, num_layers=2, batch_first=True, bidirectional=True, dropout=0.2)
        self.gru = nn.GRU(32, 10)
        self.norm = nn.LayerNorm(10)
        self.fc = nn.Linear(10, 4)
    def forward(self, ids):
        y, (h, c) = self.rnn(self.embed(ids))
        z, _ = self.gru(y.transpose(0, 1))
        return F.log_softmax(self.fc(self.norm(z.mean(0))), dim=-1), h + c
""",
    """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 12)
        self.rnn = nn.LSTM(12, 16, num_layers=2, batch_first=True, bidirectional=True, dropout=0.2)
        self.gru = nn.GRU(32, 10)
        self.norm = nn.LayerNorm((10,), epsilon=1e-5)
        self.fc = nn.Dense(10, 4)
    def construct(self, ids):
        y, (h, c) = self.rnn(self.embed(ids))
        z, _ = self.gru(y.swapaxes(0, 1))
        return ops.log_softmax(self.fc(self.norm(z.mean(0))), axis=-1), h + c
""",
    ("int64[3,7]@0..40",),
)

GAN = Twin(
    "gan",
    """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(20, 16 * 4 * 4)
        self.main = nn.Sequential(
            nn.BatchNorm2d(16), nn.ReLU(True),
            nn.ConvTranspose2d(16, 8, 4, 2, 1, bias=False), nn.BatchNorm2d(8), nn.LeakyReLU(0.2),
            nn.ConvTranspose2d(8, 3, 4, 2, 1), nn.Tanh(),
        )
    def forward(self, z):
        x = self.fc(z).view(-1, 16, 4, 4)
        return self.main(x) * 0.5 + 0.5
""",
    """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(20, 16 * 4 * 4)
        self.main = nn.SequentialCell(
            nn.BatchNorm2d(16), nn.ReLU(),
            nn.Conv2dTranspose(16, 8, 4, 2, pad_mode='pad', padding=1, has_bias=False), nn.BatchNorm2d(8), nn.LeakyReLU(0.2),
            nn.Conv2dTranspose(8, 3, 4, 2, pad_mode='pad', padding=1, has_bias=True), nn.Tanh(),
        )
    def construct(self, z):
        x = self.fc(z).view(-1, 16, 4, 4)
        return self.main(x) * 0.5 + 0.5
""",
    ("float32[6,20]",),
)

TWINS = (RESNET, VIT, BERT, UNET, LSTM, GAN)
