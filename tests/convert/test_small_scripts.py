"""Small scripts in the manner of public projects: each prints the same, converted, as it does in torch.

They are converted as one project and run one after another in one process a framework; a script that prints something else,
or fails, is named by its test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mindferry import convert_source
from mindferry.convert import convert_project
from mindferry.frameworks.process import settings

HELPERS = {
    "model.py": """
from torch import nn


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x, h=0):
        out = self.fc(x)
        return out + h, out.mean()


class Other(nn.Transformer):
    def forward(self, x):
        return x
""",
    "batches.py": """
import torch


def pad(batch):
    xs, ys = zip(*batch)
    width = max(x.size(0) for x in xs)
    out = torch.zeros(len(xs), width)
    for i, x in enumerate(xs):
        out[i, :x.size(0)] = x
    return out, torch.stack(ys), torch.tensor([x.size(0) for x in xs])


class Collator:
    def __init__(self, value):
        self.value = value

    def __call__(self, batch):
        out, ys, lengths = pad(batch)
        return out + self.value, ys.float(), lengths
""",
}

SCRIPTS = {
    "a None in a list of modules": """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([])
        for i in range(3):
            block = nn.ModuleList([])
            block.append(nn.Linear(4, 4))
            block.append(None if i == 1 else nn.LayerNorm(4))
            block.append(nn.Linear(4, 4))
            self.layers.append(block)
        self.pair = nn.ModuleList([nn.Linear(4, 2), None])
        for p in self.parameters():
            nn.init.constant_(p, 0.25)

    def forward(self, x):
        for first, norm, second in self.layers:
            x = first(x)
            if norm is not None:
                x = norm(x)
            x = second(x)
        return self.pair[0](x) if self.pair[1] is None else x


net = Net()
print([round(v, 4) for v in net(torch.arange(8.0).view(2, 4)).flatten().tolist()])
print(len(net.layers[1]), net.layers[1][1], len(net.state_dict()))
""",
    "a device that is written out": """
import torch
x = torch.ones(2)
dev = x.device
print(str(x.device), f"{dev}", "%s" % dev, "on {}".format(x.device), x.device)
if str(dev).startswith("cuda") or "cuda" in str(x.device):
    raise SystemExit(1)
""",
    "names that no parameter of MindSpore's may begin with": """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        for name in ["my head", "x-1", "a/b"]:
            setattr(self, name, nn.Linear(2, 2))
        for i in range(2):
            setattr(self, f"fc{i}", nn.Linear(2, 2))

    def forward(self, x):
        for name in ["my head", "x-1", "a/b"]:
            x = getattr(self, name)(x)
        return self.fc1(self.fc0(x))


net = Net()
print(list(net(torch.ones(1, 2)).shape), sorted(name for name, _ in net.named_parameters()))
""",
    "others that hold what is changed in place": """
import torch
x = torch.arange(4.)
y = x
x.add_(1)
print(y.tolist())
a = torch.zeros(3)
parts = {"a": a}
a += 2
print(parts["a"].tolist())
seen = []
h = torch.ones(2)
seen.append(h)
h.mul_(3)
print(seen[0].tolist(), h.tolist())
k = torch.ones(2)
if k.sum() > 5:
    z = k
else:
    k.add_(1)
old = k
k = k * 2
k.add_(1)
print(old.tolist(), k.tolist())


class Holder:
    def __init__(self, t):
        self.t = t
        t.sub_(1)


print(Holder(torch.zeros(2)).t.tolist())
w = torch.tensor([1.0, 2.0], requires_grad=True)
total = (w * 3).sum()
log = {"first": total}
total += (w * w).sum()
(total + log["first"]).backward()
print(w.grad.tolist(), log["first"].item())
""",
    "an optimizer that is made only if asked for": """
import sys
import torch
from torch import nn
from model import Other, Plain
use_optimizer = "--use" in sys.argv

if len(sys.argv) < 9:
    model = Plain()
else:
    model = Other()
for p in model.parameters():
    nn.init.constant_(p, 0.1)
criterion = nn.MSELoss()
if use_optimizer:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def repackage(h):
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage(v) for v in h)


def train():
    h = torch.zeros(1)
    for i in range(3):
        x = torch.arange(12.).reshape(4, 3) / (i + 5)
        y = x.sum(1, keepdim=True)
        if use_optimizer:
            optimizer.zero_grad()
        else:
            model.zero_grad()
        if len(sys.argv) > 9:
            out = model(x)
        else:
            h = repackage(h)
            out, h = model(x, h)
        loss = criterion(out, y)
        loss.backward()
        if use_optimizer:
            optimizer.step()
        else:
            for p in model.parameters():
                p.data.add_(p.grad, alpha=-0.1)
        print(round(loss.item(), 4))


train()
""",
    "batches put together in another file": """
import torch
import batches
from torch.utils.data import DataLoader, Dataset
from batches import Collator, pad


class Rows(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        return torch.arange(i + 1).float(), torch.tensor(i)


def show(loader):
    for x, y, n in loader:
        print(list(x.shape), x.sum().item(), y.tolist(), n.tolist())


show(DataLoader(Rows(), batch_size=3, collate_fn=pad))
show(DataLoader(Rows(), batch_size=3, collate_fn=Collator(3)))
show(DataLoader(Rows(), batch_size=3, collate_fn=batches.pad))
show(DataLoader(Rows(), batch_size=3, collate_fn=lambda rows: pad(rows)))
""",
    "a weight of the script's own, read in a function": """
import torch
w = torch.tensor([1.0], requires_grad=True)


def forward(x):
    return x * w


def scaled(x):
    return forward(x) * 0.5


def loss(predicted, wanted):
    return (predicted - wanted) ** 2


for epoch in range(2):
    for x_val, y_val in zip([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]):
        predicted = scaled(x_val) + forward(x_val)
        l = loss(predicted, y_val)
        l.backward()
        print(round(w.grad.item(), 4))
        w.data = w.data - 0.01 * w.grad.item()
        w.grad.data.zero_()
    print(round(l.item(), 4))
""",
    "weights of layers that come in a list": """
import torch
from torch import nn


def fans(layers):
    for layer in layers:
        print(list(layer.weight.shape), layer.weight.dim(), layer.weight.size(-1))
        layer.weight.data.fill_(0.5)
        print(list(layer.weight.view(layer.weight.size(0), -1).shape), layer.weight.sum().item())


fans([nn.Conv1d(2, 3, 5), nn.Linear(2, 4), nn.Conv1d(4, 4, 3, groups=4), nn.ConvTranspose1d(2, 3, 4), nn.Conv2d(1, 2, 3)])
""",
    "an LSTM that gets its state as a list": """
import torch
from torch import nn
net = nn.LSTM(3, 4)
for p in net.parameters():
    nn.init.constant_(p, 0.1)


def detach(states):
    return [state.detach() for state in states]


states = (torch.zeros(1, 2, 4), torch.zeros(1, 2, 4))
for i in range(2):
    out, states = net(torch.ones(5, 2, 3) * i, detach(states))
    print(round(out.sum().item(), 3), round(states[1].sum().item(), 3))
""",
    "tensors of ranges": """
import torch
rows = range(4)
print(torch.LongTensor(rows).tolist(), torch.FloatTensor(range(3)).tolist(), torch.ones(2).new_tensor(range(2)).tolist())


def split(count):
    return list(range(count)), range(count, count + 2)


train, test = split(3)
either = [5, 6] if len(train) > 9 else range(2)
print(torch.LongTensor(train).tolist(), torch.LongTensor(test).tolist(), torch.tensor(test).sum().item(), torch.tensor(either).tolist())
""",
    "the slope of a leaky relu at zero": """
import torch
from torch import nn
import torch.nn.functional as F
for act in (nn.LeakyReLU(0.2), nn.LeakyReLU()):
    x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    act(x).sum().backward()
    print([round(v, 4) for v in x.grad.tolist()])
y = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
F.leaky_relu(y, 0.2).sum().backward()
print([round(v, 4) for v in y.grad.tolist()])
""",
}

DRIVER = """
import contextlib, io, json, runpy, sys, traceback
said = {}
for name in json.loads(sys.argv.pop(1)):
    out = io.StringIO()
    sys.argv = [name]
    try:
        with contextlib.redirect_stdout(out):
            runpy.run_path(name, run_name="__main__")
    except BaseException:
        out.write(traceback.format_exc())
    said[name] = out.getvalue()
print("SAID" + json.dumps(said))
"""


def _file(title: str) -> str:
    return title.replace(" ", "_").replace("'", "") + ".py"


def _run(folder: Path, environment: dict[str, str]) -> dict[str, str]:
    names = json.dumps([_file(title) for title in SCRIPTS])
    command = [sys.executable, "-c", DRIVER, names]
    place = {**os.environ, **environment, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=place, capture_output=True, text=True, timeout=600)
    said: dict[str, str] = json.loads(done.stdout.rpartition("SAID")[2])
    return said


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], dict[str, str], Any]:
    home = tmp_path_factory.mktemp("scripts")
    source, output = home / "torch", home / "mindspore"
    source.mkdir()
    for name, text in HELPERS.items():
        (source / name).write_text(text)
    for title, text in SCRIPTS.items():
        (source / _file(title)).write_text(text)
    conversion = convert_project(source, output)
    return _run(source, {}), _run(output, settings("mindspore")), conversion


@pytest.mark.parametrize("title", SCRIPTS)
def test_a_script_prints_the_same(title: str, outcome: tuple[dict[str, str], dict[str, str], Any]) -> None:
    theirs, ours, conversion = outcome
    name = _file(title)
    assert "Traceback" not in theirs[name], theirs[name]
    errors = [each.message for each in conversion.findings if each.path == name and each.severity == "error"]
    assert not errors
    assert ours[name] == theirs[name]


TRANSFORMS = """
from torchvision import transforms


class Noise:
    def __call__(self, x):
        return x.mul(2)


def flat(x):
    return x.view(-1)


def build(is_flat):
    steps = [transforms.Resize(8), transforms.ToTensor()]
    steps.append(Noise())
    if is_flat:
        steps += [flat]
    return transforms.Compose(steps)


noise = Noise()
inner = transforms.Compose([transforms.ToTensor(), transforms.Compose([noise, transforms.Normalize(0, 1)])])
before = transforms.Compose([Noise(), transforms.ToTensor()] + [flat])
"""


def test_transforms_behind_to_tensor_get_tensors_however_the_list_is_put_together() -> None:
    code = convert_source(TRANSFORMS).main
    assert "steps.append(ms_compat.on_tensors(Noise()))" in code
    assert "steps += [ms_compat.on_tensors(flat)]" in code
    assert "ms_compat.on_tensors(noise)" in code
    assert code.count("on_tensors") == 4, (
        code
    )  # the last is the flat of the sum; what stands before ToTensor gets an image
