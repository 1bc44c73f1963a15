"""Small networks written twice, once for torch and once by hand for MindSpore, with the same attribute names.

A twin is two source texts, since MindSpore compiles only what it can read from a file. `load` writes both to a folder
and imports them; `mutate` plants a fault in the MindSpore text.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_HEAD_T = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
_HEAD_M = "import mindspore as ms\nfrom mindspore import nn, ops, Parameter, Tensor\nimport numpy as np\n"


@dataclass(frozen=True)
class Twin:
    name: str
    torch: str
    mindspore: str
    inputs: tuple[str, ...]

    def mutate(self, before: str, after: str) -> Twin:
        assert self.mindspore.count(before) == 1, f"{before!r} occurs {self.mindspore.count(before)} times in {self.name}"
        return replace(self, mindspore=self.mindspore.replace(before, after))

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Two projects with a `net.py` each; the model is `net:Net`."""
        for side, text in (("torch", _HEAD_T + self.torch), ("mindspore", _HEAD_M + self.mindspore)):
            (folder / side).mkdir(parents=True, exist_ok=True)
            (folder / side / "net.py").write_text(text)
        return folder / "torch", folder / "mindspore"

    def load(self, folder: Path) -> tuple[Any, Any]:
        """The two models, in this process."""
        import torch

        from mindferry.verify.named import shake

        torch.manual_seed(0)
        module, cell = (_import(path / "net.py").Net() for path in self.write(folder))
        shake(module, 0)
        return module, cell


def _import(path: Path) -> Any:
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
""",
    ("float32[4,3,16,16]",),
)
