"""Methods of values that nothing is known of: at run time a tensor's mean what torch's do, and anything else keeps its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from two_frameworks import PRELUDE, Both, load, same

from mindferry import convert_source

SITES = {
    "torch 0.4's new and get_device": """
def run():
    batch = {"x": torch.tensor(X)}
    made = batch["x"].data.new([1, 2])
    return [plain(made), plain(batch["x"].new(2, 3).zero_()), batch["x"].get_device()]
""",
    "a dictionary's values": """
def run():
    batch = {"x": torch.tensor(X), "name": "a"}
    a, b = batch["x"].chunk(2, dim=1)
    return [batch["x"].size(0), plain(a), plain(b.clone()), plain(batch["x"].sum(dim=1)), batch["name"].split("b")]
""",
    "a dataclass's field": """
def run():
    held = Holder(torch.tensor(X))
    return [plain(held.value.view(2, -1)), plain(held.value.std()), list(held.value.size()), held.value.dim()]
""",
    "classes of the project with methods that tensors have": """
class Batch:
    def __init__(self, x):
        self.x = x

    def detach(self):
        return Batch(self.x * 3)

    def unsqueeze(self, axis):
        return Batch(self.x[None])

    def numel(self):
        return -1

    def dim(self):
        return "none"

    def index_select(self, axis, index):
        return axis, index

def each_of(b):
    made = b.unsqueeze(0)
    return [plain(getattr(made, "x", made)), plain(getattr(b.detach(), "x", b)), b.numel(), b.dim()]

def selected(b):
    return b.index_select(0, torch.tensor([1, 0]))

def run():
    x = torch.tensor(X)
    found = [each_of(Batch(x)), each_of(x), plain(selected(x)), selected(Batch(x))[0]]
    for each in (x, Batch(x)):
        found.append(plain(getattr(each.unsqueeze(0), "x", each)))
    return found
""",
    "a mode that any variable holds, of things that train": """
class Agent:
    def train(self, rounds):
        return rounds + 1

class Loop:
    def __init__(self, trained):
        self.trained = trained

    def epoch(self, x, train, switch):
        self.trained.train(train)
        found = [plain(self.trained(x))]
        for each in (self.trained,):
            each.train(mode=switch)
            found.append(each.training)
        return found

def modes_of(agent, learner, on):
    agent.eval()
    seen = [agent.training]
    agent.train(on)
    return [*seen, agent.training, learner.train(on)]

def run():
    made = {"net": torch.nn.BatchNorm1d(3)}
    loop = Loop(made["net"])
    return [loop.epoch(torch.tensor(X)[:, :3], each, not each) for each in (True, False)] + modes_of(made["net"], Agent(), True)
""",
    "a named tuple's field": """
def run():
    pair = Pair(torch.tensor(X), [3, 1])
    pair.second.sort()
    return [plain(pair.first.repeat(2, 1)), plain(pair.first.max(1)[0]), pair.second, plain(pair.first.t())]
""",
    "arguments under numpy's names": """
def run():
    held = {"x": torch.tensor(X), "a": X}
    x = held["x"]
    found = [x.max(axis=1)[0], x.sum(axis=0), x.mean(axis=-1, keepdims=True), x.std(axis=1), x.argmax(axis=1), x.unsqueeze(axis=0)]
    found += [x.masked_fill(mask=x > 0, value=2.0), x.scatter(dim=1, index=torch.zeros(4, 1, dtype=torch.long), value=3.0)]
    found += [x.split(split_size=4, dim=1)[1], (x * 2).long().mode(1)[0], x.flip(dims=(1,)), x.permute(dims=(1, 0)), x.reshape(shape=(2, 12)), x[:1].expand(size=(2, 6)), x[None].squeeze(dim=0)]
    return [plain(each) for each in found] + [held["a"].max(axis=1).tolist(), held["a"].sum(axis=0, keepdims=True).tolist()]
""",
    "types of tensors that are handed over": """
def cast(values, dtypes):
    return [torch.tensor(X).type(dtype) for dtype in dtypes] + [value.type(dtype) for value, dtype in zip(values, dtypes)]


def run():
    dtypes = [torch.FloatTensor, torch.LongTensor, torch.float64, "torch.IntTensor"]
    return [plain(each) for each in cast([torch.tensor(X)] * 4, dtypes)]
""",
    "an argument without annotation": """
def scaled(thing, by):
    if isinstance(thing, str):
        return thing.split(by)
    return plain(thing.float().mean(dim=-1, keepdim=True).expand(-1, 2))

def run():
    return [scaled("a,b", ","), scaled(torch.tensor(X), 2)]
""",
    "what getattr gives": """
def run():
    held = Holder(torch.tensor(X), np.arange(6).reshape(2, 3))
    value = getattr(held, "value")
    other = getattr(held, "other")
    return [plain(value.transpose(0, 1)), value.numel(), other.std().item(), other.transpose(1, 0).tolist(),
            plain(value.long().new_zeros(2, 3)), plain(value.to(torch.float64).argmax(dim=1))]
""",
    "a bound function's result": """
from functools import partial

def run():
    mix = partial(torch.fft.fftn, dim=(0, 1))
    return plain(mix(torch.tensor(X)).real)
""",
    "a class of one's own with torch's names": """
class Shelf:
    def __init__(self):
        self.rows = [1, 2]
    def size(self, dim):
        return self.rows[dim]
    def to(self, place):
        return [place, *self.rows]
    def view(self, *shape):
        return list(shape)

def measure(thing):
    return [thing.size(0), thing.view(2, 12) if isinstance(thing, Shelf) else plain(thing.view(2, 12))]

def run():
    box = {"a": Shelf(), "b": torch.tensor(X)}
    return [measure(box["a"]), measure(box["b"]), box["a"].to("there")]
""",
    "an optional tensor": """
from typing import Optional

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = nn.Buffer(torch.arange(8))
    def forward(self, x: Optional[torch.Tensor] = None, mask: Optional[torch.BoolTensor] = None):
        x = torch.ones(self.steps.size()) if x is None else x
        return x.masked_fill(mask, 0.0).sum(dim=0, keepdim=True) if mask is not None else x

def run():
    net = Net()
    return [plain(net()), plain(net(torch.tensor(X), torch.tensor(X > 0)))]
""",
    "a cache, which is no tensor": """
class Cache:
    def __init__(self):
        self.kept = []
    def update(self, x):
        self.kept.append(x)
        return x
    def size(self):
        return len(self.kept)

class Net(nn.Module):
    def forward(self, x, cache=None):
        if cache is not None:
            x = cache.update(x)
            return x * cache.size()
        return x

def run():
    return plain(Net()(torch.tensor(X), Cache()))
""",
    "parameters through a mixin": """
class Counted:
    def count(self):
        return sum(p.numel() for p in self.parameters()), len(list(self.children()))

class Net(nn.Module, Counted):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 4)
        self.b = nn.BatchNorm1d(4)

def total(thing):
    return [len(list(thing.parameters())), [name for name, _ in thing.named_children()], len(list(thing.modules()))]

def run():
    return [*Net().count(), *total({"net": Net()}["net"])]
""",
    "arguments that only the run tells apart": """
def move(x: torch.Tensor, where, *more):
    return x.to(where), x.to(*more[:2]), x.flip(*more[2:])

def run():
    x = torch.tensor(X) * 3
    ways = [torch.int32, torch.float16, x.long(), "cpu", torch.device("cpu"), None]
    kept = [move(x, way, "cpu", torch.int64, 0, 1) for way in ways]
    return [plain(each.float()) for row in kept for each in row] + [x.to(ways[index % 3]).is_floating_point() for index in range(3)]
""",
}


@pytest.mark.parametrize("body", SITES.values(), ids=SITES.keys())
def test_a_value_from_anywhere_is_what_it_is_in_torch(body: str, both: Both) -> None:
    theirs, ours = both(body)
    assert same(ours, theirs), (ours, theirs)


def test_a_gradient_goes_through_what_is_asked_at_run_time(tmp_path: Path) -> None:
    body = """
def loss(x):
    box = {"x": x, "n": 3}
    a, b = box["x"].chunk(2, dim=1)
    return (a * b.detach() + box["x"].std(dim=1, keepdim=True) * b.view(4, -1)).sum()
"""
    import mindspore as ms
    import torch

    values = np.random.default_rng(5).standard_normal((4, 6)).astype("float32")
    theirs, x = load(PRELUDE + body, tmp_path / "theirs.py"), torch.tensor(values, requires_grad=True)
    theirs.loss(x).backward()
    ours = load(convert_source(PRELUDE + body).code, tmp_path / "ours.py")
    for function in (ours.loss, ms.jit(ours.loss)):
        gradient = ms.grad(function)(ms.Tensor(values))
        np.testing.assert_allclose(gradient.asnumpy(), x.grad.numpy(), atol=1e-5)


@pytest.mark.parametrize(
    "text",
    [
        "thing.size('EU')",
        "thing.view('front')",
        "thing.split(',')",
        "thing.add(3)",
        "thing.sort()",
        "thing.log(20, 'hello')",
        "thing.to('meter')",
        "thing.scatter(xs, ys, s=3)",
        "thing.round(2)",
        "thing.train(3)",
    ],
)
def test_what_no_tensor_takes_stays_as_it_is(text: str) -> None:
    source = f"import torch\n\ndef f(thing, xs, ys, loader):\n    {text}\n    return torch.zeros(1)\n"
    assert text in convert_source(source).main
