"""Modes and parameters as torch has them: each script runs in torch and, converted, in MindSpore, to the same numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mindferry.convert import convert_project

from .both_ways import Ran, run_both

FIT = """
def fit(m, opt):
    for x, y in zip(xs, ys):
        opt.zero_grad()
        loss = criterion(m(x), y)
        loss.backward()
        opt.step()
        record(loss)
"""
BATCH_NORM = (
    """
class BN(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 6)
        self.bn = nn.BatchNorm1d(6)
        self.b = nn.Linear(6, 3)
    def forward(self, x):
        return self.b(self.bn(self.a(x)))
"""
    + FIT
)
SCRIPTS = {
    "from_a_registry": BATCH_NORM
    + """
class Registry:
    def __init__(self):
        self.held = {}
    def register(self, cls):
        self.held[cls.__name__] = cls
        return cls
    def get(self, key):
        return self.held.get(key)
MODELS = Registry()
MODELS.register(BN)
def build(cfg, registry):
    args = dict(cfg)
    made = registry.get(args.pop('type'))
    return made(**args)
class Trainer:
    def __init__(self, makers, kind):
        self.model = makers[kind]()
m = start(build({'type': 'BN'}, MODELS))
fit(m, torch.optim.SGD(m.parameters(), lr=0.1))
trainer = Trainer({'bn': BN}, 'bn')
start(trainer.model)
fit(trainer.model, torch.optim.SGD(trainer.model.parameters(), lr=0.1))
kinds = {'bn': BN}
other = kinds['bn']()
start(other)
fit(other, torch.optim.SGD([{'params': other.a.parameters()}, {'params': other.b.parameters(), 'lr': 0.2}], lr=0.1))
weights(other)
""",
    "no_mode": BATCH_NORM
    + """
m = start(BN())
fit(m, torch.optim.SGD(m.parameters(), lr=0.1))
record(m.bn.running_mean)
""",
    "other_trains": BATCH_NORM
    + """
other = start(BN())
other.train()
fit(other, torch.optim.SGD(other.parameters(), lr=0.1))
m = start(BN())
m(xs[0])
record(m.bn.running_mean)
m.eval()
fit(m, torch.optim.SGD(m.parameters(), lr=0.1))
""",
    "eval_stays": BATCH_NORM
    + """
feat = BN().eval()
start(feat)
for p in feat.parameters(): p.requires_grad_(False)
head = start(nn.Linear(3, 3))
opt = torch.optim.SGD(head.parameters(), lr=0.1)
for x, y in zip(xs, ys):
    f = feat(x)
    loss = criterion(head(f), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    record(loss, feat.training)
record(feat.bn.running_mean)
""",
    "teacher_inside": BATCH_NORM
    + """
class Distill(nn.Module):
    def __init__(self):
        super().__init__()
        self.student = BN()
        self.teacher = BN().eval()
        for p in self.teacher.parameters():
            p.requires_grad = False
    def forward(self, x):
        return self.student(x) + self.teacher(x)
class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Distill()
    def forward(self, x):
        return self.inner(x)
m = start(Outer())
record(m.training, m.inner.student.training, m.inner.teacher.training, m.inner.teacher.bn.training)
fit(m, torch.optim.SGD([p for p in m.parameters() if p.requires_grad], lr=0.1))
record(m.inner.teacher.bn.running_mean, m.inner.student.bn.running_mean)
m.train()
fit(m, torch.optim.SGD([p for p in m.parameters() if p.requires_grad], lr=0.1))
record(m.inner.teacher.bn.running_mean, m.inner.student.bn.running_mean)
""",
    "teacher_train_override": BATCH_NORM
    + """
class Distill(nn.Module):
    def __init__(self):
        super().__init__()
        self.student = BN()
        self.teacher = BN()
        self.teacher.eval()
    def train(self, mode=True):
        super().train(mode)
        self.teacher.eval()
        return self
    def forward(self, x):
        with torch.no_grad():
            t = self.teacher(x)
        return self.student(x) + t
m = start(Distill())
fit(m, torch.optim.SGD(m.parameters(), lr=0.1))
m.train()
fit(m, torch.optim.SGD(m.parameters(), lr=0.1))
record(m.teacher.bn.running_mean, m.student.bn.running_mean)
""",
    "train_flag": BATCH_NORM
    + """
class Args: evaluate = False
args = Args()
m = start(BN())
m.train(not args.evaluate)
fit(m, torch.optim.SGD(m.parameters(), lr=0.1))
m.train(args.evaluate)
fit(m, torch.optim.SGD(m.parameters(), lr=0.1))
for mode in (True, False):
    m.train(mode)
    record(m(xs[0]))
m.train(mode=False)
record(m(xs[1]))
""",
    "factory_classes": BATCH_NORM
    + """
registry = {'bn': BN}
m = registry['bn']()
start(m)
fit(m, torch.optim.SGD(m.parameters(), lr=0.1))
def make(kind='bn'):
    return registry[kind]()
n = make()
start(n)
fit(n, torch.optim.SGD(n.parameters(), lr=0.1))
def make2():
    return BN()
n = start(make2())
fit(n, torch.optim.SGD(n.parameters(), lr=0.1))
record(n.bn.running_var)
""",
    "ensemble": BATCH_NORM
    + """
nets = [start(BN()) for _ in range(2)]
for n in nets:
    fit(n, torch.optim.SGD(n.parameters(), lr=0.1))
nets2 = {k: BN() for k in 'ab'}
for n in nets2.values():
    start(n)
    fit(n, torch.optim.SGD(n.parameters(), lr=0.1))
""",
    "several_at_once": FIT
    + """
def made():
    return nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6)), nn.Linear(6, 3)
class Holder:
    def __init__(self):
        self.nets = [nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 3)), nn.Sequential(nn.Linear(4, 3))]
a, b = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Linear(6, 3)), nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 3))
nets = [nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 3)), nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))]
nets.append(nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 3)))
first, last = made()
grown = nn.Sequential()
grown.add_module("norm", nn.BatchNorm1d(4))
grown.append(nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)))
for m in (a, b, *nets, nn.Sequential(first, last), *Holder().nets, grown):
    start(m)
    fit(m, torch.optim.SGD(m.parameters(), lr=0.1))
    record(m(xs[0]))
    m.eval()
    record(m(xs[0]))
steps = [nn.Linear(4, 6), nn.BatchNorm1d(6)]
x = xs[0]
for step in steps:
    x = start(step)(x)
record(x, steps[1].running_mean)
""",
    "list_of_parts": FIT
    + """
layers = [nn.Linear(4, 6), nn.BatchNorm1d(6)]
for _ in range(2):
    layers += [nn.Linear(6, 6), nn.BatchNorm1d(6)]
layers = layers + [nn.BatchNorm1d(6)]
layers.append(nn.Dropout(0.0))
layers.extend([nn.Linear(6, 3), nn.BatchNorm1d(3)])
m = start(nn.Sequential(*layers))
fit(m, torch.optim.SGD(m.parameters(), lr=0.1))
m.eval()
record(m(xs[0]))
""",
    "classmethod_factory": """
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 6)
        self.bn = nn.BatchNorm1d(6)
        self.b = nn.Linear(6, 3)
    def forward(self, x):
        return self.b(self.bn(self.a(x)))
def fit(m, opt):
    for x, y in zip(xs, ys):
        opt.zero_grad()
        loss = criterion(m(x), y)
        loss.backward()
        opt.step()
        record(loss)

class BN(Base):
    @classmethod
    def create(cls):
        m = cls()
        return m
m = start(BN.create())
fit(m, torch.optim.SGD(m.parameters(), lr=0.1))
""",
    "data_view": """
model = network()
for p in model.parameters():
    w = torch.arange(p.numel(), dtype=torch.float32)
    p.data = (torch.sin(w) * 0.25).view(p.size())
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in zip(xs, ys):
    loss = criterion(model(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
    record(loss)
weights(model)
""",
    "data_view2": """
model = network()
model[0].weight.data = torch.from_numpy(array(3, 4, 8)).t()
model[2].weight.data = torch.from_numpy(array(4, 8, 3)).transpose(0, 1) * 1.0
model[2].bias.data = torch.from_numpy(array(5, 6))[:3]
with torch.no_grad():
    model[0].bias = nn.Parameter(torch.from_numpy(array(6, 2, 4)).view(-1))
opt = torch.optim.Adam(model.parameters(), lr=0.1)
for x, y in zip(xs, ys):
    loss = criterion(model(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
    record(loss)
weights(model)
""",
    "data_tie": """
a, b = network(), network()
for p, q in zip(a.parameters(), b.parameters()):
    q.data = p.data.clone()
    q.data.copy_(p.data.view(q.shape))
q = nn.Parameter(torch.from_numpy(array(1, 12)).view(4, 3))
opt = torch.optim.SGD([q, *b.parameters()], lr=0.1, momentum=0.9)
for x, y in zip(xs, ys):
    loss = criterion(b(x) + x @ q, y)
    opt.zero_grad(); loss.backward(); opt.step()
    record(loss)
record(q)
weights(a); weights(b)
""",
    "lists_append": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.ModuleList()
        self.b = nn.ModuleList()
        self.d = nn.ModuleDict()
        for i in range(2):
            self.a.append(nn.Linear(4, 4))
            self.b.append(nn.Linear(4, 4))
            self.d[f'k{i}'] = nn.Linear(4, 4)
            setattr(self, f'extra_{i}', nn.Linear(4, 4))
            self.add_module(f'block{i}', nn.Sequential(nn.Linear(4, 4), nn.Tanh()))
        layers = nn.ModuleList()
        for i in range(2):
            layers.append(nn.Linear(4, 4))
        self.late = layers
        self.p = nn.ParameterList()
        for i in range(2):
            self.p.append(nn.Parameter(torch.zeros(4)))
        self.seq = nn.Sequential()
        self.seq.add_module('one', nn.Linear(4, 4))
        self.seq.append(nn.Linear(4, 3))
    def forward(self, x):
        for l, m in zip(self.a, self.b):
            x = (x + m(l(x))).tanh()
        for i in range(2):
            x = getattr(self, f'extra_{i}')(x) + getattr(self, f'block{i}')(x) + self.d[f'k{i}'](x) + self.late[i](x) + self.p[i]
            x = x.tanh()
        return self.seq(x)
net = start(Net())
names = [n for n, _ in net.named_parameters()]
record(len(names), len(set(names)), len(net.state_dict()))
record([sum(map(ord, n)) for n in names])
opt = torch.optim.AdamW(net.parameters(), lr=0.01)
for x, y in zip(xs, ys):
    loss = criterion(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
    record(loss)
other = Net()
other.load_state_dict(net.state_dict())
record(other(xs[0]))
weights(net)
""",
    "lists_nested": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList()
        for s in range(2):
            blocks = nn.ModuleList()
            for b in range(2):
                blocks.append(nn.Sequential(nn.Linear(4, 4), nn.Tanh()))
            self.stages.append(blocks)
        self.out = nn.ModuleList([nn.Linear(4, 3)])
        self.out.extend([nn.Linear(3, 3)])
        self.out.insert(1, nn.Linear(3, 3))
        self.lists = nn.ModuleDict()
        for name in ('x', 'y'):
            l = nn.ModuleList()
            l.append(nn.Linear(4, 4))
            self.lists[name] = l
    def forward(self, x):
        for l in self.lists.values():
            x = l[0](x)
        for blocks in self.stages:
            for b in blocks:
                x = b(x)
        for o in self.out:
            x = o(x)
        return x
net = start(Net())
record([sum(map(ord, n)) for n, _ in net.named_parameters()], len(net.state_dict()))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in zip(xs, ys):
    loss = criterion(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
    record(loss)
weights(net)
""",
    "odd_names": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module('first layer', nn.Linear(4, 8))
        self.add_module('0', nn.Linear(8, 8))
        self.heads = nn.ModuleDict({'my head': nn.Linear(8, 3), 'a-b': nn.Linear(8, 3)})
        pass
    def forward(self, x):
        x = getattr(self, 'first layer')(x).tanh()
        x = getattr(self, '0')(x).tanh()
        return self.heads['my head'](x) + self.heads['a-b'](x)
net = start(Net())
record([sum(map(ord, n)) for n, _ in net.named_parameters()])
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in zip(xs, ys):
    loss = criterion(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
    record(loss)
weights(net)
""",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    return run_both(tmp_path_factory.mktemp("modes"), SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_modes_and_parameters_are_torch_s(name: str, ran: dict[str, Ran]) -> None:
    ran[name].check()


def test_a_network_made_of_a_list_is_told_once(ran: dict[str, Ran]) -> None:
    assert ran["list_of_parts"].code.count("in_training(") + ran["list_of_parts"].code.count(".set_train()") == 1


def test_parameters_of_nested_lists_are_named_by_where_they_stand(ran: dict[str, Ran]) -> None:
    assert "        self.update_parameters_name()\n" in ran["lists_nested"].code


NET = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
    def forward(self, x):
        return torch.flatten(self.fc(x).clamp(min=0.1), 1)
"""
STEPS = """
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(2):
    loss = F.smooth_l1_loss(net(torch.ones(2, 4)), torch.ones(2, 3))
    opt.zero_grad()
    loss.backward()
    opt.step()
print("done", loss.ndim)
"""
START = "import os, sys\nimport torch\nimport torch.nn.functional as F\n"
ROOT = "sys.path.append(os.path.dirname({0}os.path.dirname(os.path.abspath(__file__)){1}))\n"
FILES = {
    "pkg/__init__.py": "",
    "pkg/models.py": NET,
    "pkg/train.py": START + "from models import Net\nnet = Net()\n" + STEPS,
    "pkg/absolute.py": START + "from pkg.models import Net\nnet = Net()\n" + STEPS,
    "tools/nets.py": NET.replace("clamp(min=0.1)", "clip(0.1)"),
    "tools/run.py": START + ROOT.format("", "") + "from rootnet import Net as Root\nfrom nets import Net\n"
    "Root()(torch.ones(2, 4))\nnet = Net()\n" + STEPS + "if __name__ == '__main__':\n    pass\n",
    "rootnet.py": NET.replace("torch.flatten(", "torch.nn.functional.gelu(").replace(", 1)", ")"),
    "deep/__init__.py": "",
    "deep/inner/__init__.py": "",
    "deep/inner/m.py": NET,
    "deep/inner/go.py": START
    + ROOT.format("os.path.dirname(", ")")
    + "from deep.inner.m import Net\nnet = Net()\n"
    + STEPS,
}
WAYS = [
    ("pkg/train.py", "."),
    ("-m pkg.absolute", "."),
    ("tools/run.py", "."),
    ("deep/inner/go.py", "."),
    ("-m deep.inner.go", "."),
    ("../pkg/train.py", "tools"),
]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packages")
    for name, text in FILES.items():
        (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "source" / name).write_text(text)
    convert_project(folder / "source", folder / "output")
    return folder / "output"


@pytest.mark.parametrize("command, folder", WAYS)
def test_a_script_in_a_package_runs_however_it_is_started(command: str, folder: str, packages: Path) -> None:
    environment = {**os.environ, "GLOG_v": "3", "PYTHONPATH": ""}
    result = subprocess.run(
        [sys.executable, *command.split()],
        cwd=packages / folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert "done 0" in result.stdout, result.stderr[-800:]
