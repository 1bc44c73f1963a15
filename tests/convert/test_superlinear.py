"""Work grows with the size of a file, not with its square or worse: counted in calls, so that no machine's speed matters."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from mindferry import convert_source
from mindferry.apis import framework
from mindferry.convert.project import convert_project, has_training_loop
from mindferry.convert.render.helper_use import use_of_tree
from mindferry.convert.render.imports import HelpersImport
from mindferry.convert.render.notebook import convert_notebook
from mindferry.convert.settings import Settings
from mindferry.read.symbols import Symbols
from mindferry.read.types import TENSOR, tuple_of

HEAD = "import torch\nimport torch.nn as nn\n\n"


def _chain(count: int) -> str:
    """Functions that each call two others, so that the ways through them are as many as 2 ** count."""
    parts = [f"def f{i}(x):\n    return f{i + 1}(x) + f{i + 2}(x)\n" for i in range(count)]
    ends = [f"def f{i}(x):\n    return x * 2\n" for i in (count, count + 1)]
    return HEAD + "\n".join([*parts, *ends, "def train(x, w):\n    loss = f0(x).sum()\n    loss.backward()\n"])


def _methods(count: int) -> str:
    """A class whose every method takes a step, and reads what the others left."""
    method = (
        "    def step{0}(self, x, optimizer):\n        optimizer.zero_grad()\n        self.out{0} = helper(x)\n"
        "        loss = (self.net(x) + self.out{1}).sum()\n        loss.backward()\n        optimizer.step()\n"
    )
    body = "\n".join(method.format(i, (i + 1) % count) for i in range(count))
    return (
        f"{HEAD}def helper(x):\n    return x\n\nclass Trainer:\n    def __init__(self):\n        self.net = nn.Linear(2, 2)\n\n"
        + body
    )


def _own_calls(count: int) -> str:
    """A class whose methods call each other, and one takes a step: each call asks whether the class runs a network."""
    method = (
        "    def part{0}(self, x):\n        a = self.part{1}(x)\n        b = self.part{1}(a)\n        return a + b\n"
    )
    body = "\n".join(method.format(i, (i + 1) % count) for i in range(count))
    step = (
        "    def step(self, net, x):\n        loss = (net(x) * self.scale).sum()\n        loss.backward()\n\n"
        "    def set(self, x):\n        self.scale = self.part0(x)\n"
    )
    return f"{HEAD}class Work:\n{body}\n{step}"


def _in_place(count: int) -> str:
    """One name whose tensor is changed in place again and again."""
    return f"{HEAD}def f():\n    x = torch.zeros(3)\n" + "    x.add_(1)\n" * count + "    return x\n"


def _residuals(count: int) -> str:
    """One long method, every layer of which gets a tensor that is read again."""
    made = "".join(f"        self.act{i} = nn.ReLU(inplace=True)\n" for i in range(count))
    used = "".join(f"        x = x + self.act{i}(x)\n" for i in range(count))
    return (
        f"{HEAD}class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n{made}\n"
        f"    def forward(self, x):\n{used}        return x\n"
    )


def _imports(count: int) -> str:
    return HEAD + "".join(f"from torch.nn import Linear as L{i}\n" for i in range(count))


def _blocks(count: int) -> str:
    """One function with a block without gradients after the other."""
    blocks = "".join(f"    with torch.no_grad():\n        y{i} = x * 2\n    x = x + y{i}\n" for i in range(count))
    return f"{HEAD}def f(x):\n    x = torch.relu(x)\n{blocks}    return x\n"


def _mixed(count: int) -> str:
    """Two variables, each computed from both: the ways from the sum to the first line are as many as 2 ** count."""
    lines = "".join(f"    a{i + 1} = a{i} + b{i}\n    b{i + 1} = a{i} * b{i}\n" for i in range(count))
    return f"{HEAD}def f():\n    a0 = torch.ones(3)\n    b0 = torch.ones(3)\n{lines}    return torch.sum(a{count})\n"


def _training_loops(count: int) -> str:
    """A script that trains again and again: every loss stands in the same scope."""
    step = (
        "for x, y in loader:\n    optimizer.zero_grad()\n    loss = nn.functional.mse_loss(model(x), y)\n"
        "    loss.backward()\n    optimizer.step()\n"
    )
    return f"{HEAD}model = nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n" + step * count


def _leaves(count: int) -> str:
    """Every loss stands in the same block, behind all those before it."""
    one = (
        "w{0} = torch.randn(3, requires_grad=True)\nloss{0} = (w{0} ** 2).sum()\nloss{0}.backward()\n"
        "with torch.no_grad():\n    w{0} -= 0.1 * w{0}.grad\n"
    )
    return HEAD + "".join(one.format(i) for i in range(count))


def _loop_in_place(count: int) -> str:
    """Two names, changed in place again and again in a loop, each seen by the caller."""
    return (
        f"{HEAD}def f(x, w):\n    for k in range(3):\n"
        + "        x.mul_(2)\n        w.add_(x)\n" * count
        + "    return x\n"
    )


def _long_function(count: int) -> str:
    """One name that gets a value in every line, computed from all that it had before."""
    return f"{HEAD}def f(x):\n" + "    y = torch.relu(x)\n    x = y.sum().unsqueeze(0)\n" * count + "    return x\n"


def _branches(count: int) -> str:
    branch = "    if mode:\n        x = x.view(2, -1)\n    else:\n        x = torch.cat([x, x])\n"
    return f"{HEAD}def f(x, mode):\n" + branch * count + "    return x\n"


def _derivatives(count: int) -> str:
    one = (
        "def penalty{0}(net, x):\n    x = x.detach().requires_grad_(True)\n    out{0} = net(x)\n"
        "    g, = torch.autograd.grad(out{0}.sum(), x, create_graph=True)\n    return g.norm()\n"
    )
    return HEAD + "".join(one.format(i) for i in range(count))


def _parts(head: str, part: str) -> Callable[[int], str]:
    """A file of many parts, each with a number of its own."""
    return lambda count: HEAD + head + "".join(part.replace("#", str(number)) for number in range(count))


LAYERS = (
    "class Net#(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.act = nn.ReLU(inplace=True)\n"
)
NESTED = (
    "def outer#(x):\n    y = x * 2\n    def inner(z):\n        z.add_(1)\n        return torch.abs(z) + y\n"
    "    inner(y)\n    return y\n"
)
METHODS = "class A#:\n    def update(self, x, y):\n        x.add_(y)\n        self.update(y, x)\n        return y\n"
HEIRS = "class Heir#(Base):\n    def forward(self, x):\n        return super().forward(x).view(-1)\n"
CALLED = (
    "class Part#:\n    def forward(self, x):\n        return torch.relu(x)\n\ny# = Part#().forward(torch.ones(3))\n"
)
CLIPPED = (
    "def train#(model, loader):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "    for x, y in loader:\n        optimizer.zero_grad()\n        loss = nn.functional.mse_loss(model(x), y)\n"
    "        loss.backward()\n        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n        optimizer.step()\n"
)
PLACED = (
    "def run#(x, device):\n    return x.to(device)\n\n"
    "def main#(x):\n    device = torch.device('cuda')\n    return run#(x.to(device), device)\n"
)
RESULTS = "def add#(x, k):\n    out = torch.empty(3)\n    torch.add(x, k, out=out)\n    return torch.tensor(k) + out\n"
SAME_NAMES = (
    "def penalty#(net, x):\n    x = x.detach().requires_grad_(True)\n    out = net(x) * #\n"
    "    g, = torch.autograd.grad(out.sum(), x, create_graph=True)\n    return g.norm()\n"
)
DATA = (
    "class Data#(torch.utils.data.Dataset):\n    def __len__(self):\n        return #\n\n"
    "    def __getitem__(self, index):\n        return torch.ones(index)\n\nfirst# = Data#()[0]\n"
)


def _one_line(count: int) -> str:
    """Every finding stands in the same line."""
    return f"{HEAD}x = [{', '.join(f'torch.ops.lib.part{number}(1)' for number in range(count))}]\n"


def _notebook(count: int) -> bytes:
    """Cells of code, each of which magics stand in."""
    text = "import torch\n" + "!ls\n" * 30 + "x = torch.zeros(2).view(-1)\n"
    cell = {"cell_type": "code", "metadata": {}, "source": text, "outputs": [], "execution_count": None}
    return json.dumps({"cells": [cell] * count, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


NETWORKS = (
    "net# = nn.Sequential(nn.Linear(2, 2), nn.ReLU())\noptimizer# = torch.optim.SGD(net#.parameters(), lr=0.1)\n"
    "optimizer#.zero_grad()\nloss = net#(torch.ones(2)).mean()\nloss.backward()\noptimizer#.step()\n"
)  # outside of all functions: the whole file is the scope of each

COMPUTED = "y# = torch.exp(x * 1.5) + x.sum(dim=1, keepdim=True)\n"  # what is computed from a name of the whole file
GUARDED = "guard# = torch.no_grad()\nwith guard#:\n    z# = x * 2\n"
ASKED = (
    "def train#(a, b, optimizer, x):\n    optimizer.zero_grad()\n"
    "    loss = (a.one(x) + b.two(x) + a.three(x) + b.four(x) + a.five(x) + b.six(x)).sum()\n    loss.backward()\n"
    "    nn.utils.clip_grad_norm_(a.parameters(), 1.0)\n    optimizer.step()\n"
)


STEP = "    optimizer.zero_grad()\n    loss = (net(x) - y).sum()\n    loss.backward()\n    optimizer.step()\n"
LOSS_OF_MANY = "        loss# = nn.functional.mse_loss(net(x), y)\n        loss#.backward()\n"


def _long_loss(count: int) -> str:
    """A loss computed in many lines, which all take part in it."""
    lines = "".join(f"    h{i} = h * {i} + net(h)\n    h = h + h{i}\n" for i in range(count))
    end = "    loss = (h - y).sum()\n    loss.backward()\n    optimizer.step()\n"
    return f"{HEAD}def train(net, optimizer, x, y):\n    optimizer.zero_grad()\n    h = net(x)\n{lines}{end}"


def _selected(count: int) -> str:
    """Each name is computed from the one before, and from one that a mask selects: there are many ways to that, and all are asked for."""
    values = "".join(f"    a{i + 1} = a{i} * 2 + a0\n" for i in range(count))
    sums = "".join(f"    b{i} = a{i}.sum()\n" for i in range(count))
    return f"{HEAD}def f(a0, m):\n    a0 = a0[m]\n{values}{sums}"


def _chosen_steps(count: int) -> str:
    """Steps under conditions: behind each, the conditions before it."""
    step = (
        "    if k == {0}:\n        optimizer.zero_grad()\n        loss = net(x).sum()\n        loss.backward()\n"
        "        optimizer.step()\n"
    )
    return f"{HEAD}def train(net, optimizer, x, k):\n" + "".join(step.format(i) for i in range(count))


def _scaled_steps(count: int) -> str:
    """What scales the losses is changed in every step, so that each depends on all the steps before it."""
    step = (
        "    with torch.cuda.amp.autocast():\n        loss = net(x).sum()\n    scaler.scale(loss).backward()\n"
        "    scaler.step(optimizer)\n    scaler.update()\n"
    )
    return f"{HEAD}scaler = torch.cuda.amp.GradScaler()\n\ndef train(net, optimizer, x):\n" + step * count


def _functions_in_turn(count: int) -> str:
    """Each function calls the next, and the last one runs a network: none of them is plain, which is found out from the end."""
    parts = "".join(f"def f{i}(x):\n    return f{i + 1}(x)\n\n" for i in range(count))
    return f"{HEAD}net = nn.Linear(2, 2)\n\n{parts}def f{count}(x):\n    return net(x)\n"


def _diamonds(count: int) -> str:
    """Classes of two bases, which have the same two bases again: the ways to the first are 2 ** count."""
    pair = "class {a}{0}({a}{1}, {b}{1}):\n    def forward(self, x):\n        return x.view(-1)\n"
    pairs = (pair.format(i, i - 1, a=a, b=b) for i in range(1, count) for a, b in (("A", "B"), ("B", "A")))
    return f"{HEAD}class A0(nn.Module):\n    pass\n\nclass B0(nn.Module):\n    pass\n\n" + "".join(pairs)


def _work(action: Callable[[], object]) -> int:
    """How many functions it calls."""
    count = 0

    def note(frame: FrameType, event: str, given: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def _calls(text: str) -> int:
    return _work(lambda: convert_source(text))


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (_chain, 20),
        (_methods, 20),
        (_own_calls, 60),
        (_in_place, 100),
        (_residuals, 100),
        (_imports, 200),
        (_blocks, 50),
        (_mixed, 8),
        (_training_loops, 20),
        (_leaves, 16),
        (_loop_in_place, 40),
        (_long_function, 30),
        (_branches, 60),
        (_derivatives, 30),
        (_parts("", LAYERS), 200),
        (_parts("", NESTED), 100),
        (_parts("", METHODS), 100),
        (_parts("class Base(nn.Module):\n    pass\n", HEIRS), 100),
        (_parts("", CALLED), 80),
        (_parts("", CLIPPED), 40),
        (_parts("", PLACED), 80),
        (_parts("", RESULTS), 80),
        (_parts("", DATA), 60),
        (_parts("", NETWORKS), 40),
        (_parts("x = torch.ones(3, 4)\n", COMPUTED), 80),
        (_parts("x = torch.ones(3, 4)\n", GUARDED), 60),
        (_parts("", ASKED), 60),
        (_one_line, 200),
        (_parts("def train(net, optimizer, x, y):\n", STEP), 40),
        (_parts("def train(net, x, y):\n    for i in range(3):\n", LOSS_OF_MANY), 40),
        (_long_loss, 40),
        (_selected, 60),
        (_scaled_steps, 40),
        (_functions_in_turn, 150),
        (_parts("held = {}\n", "held['k#'] = torch.zeros(3)\nheld['k#'].add_(1)\n"), 60),
        (_parts("", "x# = getattr(nn, name#)('a#')\ny# = getattr(torch, 'zeros')(2)\n"), 300),
    ],
)
def test_twice_the_code_is_not_four_times_the_work(make: object, count: int) -> None:
    assert callable(make)
    convert_source(make(4))  # the table of rules is read once
    small, large = _calls(make(count)), _calls(make(2 * count))
    assert large < 2.4 * small


@pytest.mark.parametrize(("make", "count"), [(_diamonds, 6)])
def test_twice_the_depth_is_not_twice_the_ways_again_and_again(make: object, count: int) -> None:
    assert callable(make)
    convert_source(make(2))
    assert _calls(make(2 * count)) < 4 * _calls(make(count))


def test_a_tuple_that_holds_itself_twice_over_and_over_is_known_by_a_few_of_its_parts() -> None:
    kind = TENSOR
    for _ in range(20):
        kind = tuple_of(kind, kind)
    parts = [kind]
    for each in parts:  # grows while it is read
        parts += each.items
    assert kind.kind == "tuple" and len(parts) < 1000


def test_a_name_that_many_functions_want_does_not_grow() -> None:
    names = re.findall(r"def (out\w+)\(", convert_source(_parts("", SAME_NAMES)(40)).code)
    assert len(set(names)) == 40
    assert names[:3] == ["output_of", "output_of_", "output_of_2"] and names[-1] == "output_of_39"


def test_twice_the_cells_are_not_four_times_the_work() -> None:
    def convert(count: int) -> int:
        raw, symbols = _notebook(count), Symbols(framework())
        return _work(lambda: convert_notebook(raw, "a.ipynb", symbols, HelpersImport(), Settings()))

    convert(2)
    assert convert(40) < 2.4 * convert(20)


def test_twice_the_files_are_not_four_times_the_work(tmp_path: Path) -> None:
    """Of a project whose every file takes something from the one before."""

    def convert(count: int) -> int:
        folder = tmp_path / f"of{count}"
        folder.mkdir()
        for number in range(count):
            text = f"import torch\nfrom part{number - 1} import f{number - 1}\n" if number else "import torch\n"
            used = f"f{number - 1}(x)" if number else "x"
            text += f"\ndef f{number}(x: torch.Tensor):\n    return {used}.view(-1)\n"
            (folder / f"part{number}.py").write_text(text)
        return _work(lambda: convert_project(folder, tmp_path / "never", check=True))

    convert(2)
    assert convert(240) < 2.4 * convert(120)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"for epoch in range(3):\n    loss.backward()\n", True),
        (b"while True:\n# a note\n\n    if x:\n        optimizer(grads)\n", True),
        (b"def fit():\n    for epoch in range(3):\n        loss.backward()\n", False),
        (b"for a in names:\n    print(a)\nloss.backward()\n", False),
        (b"for a in names:\n" + b"        print(a, '  ')\n   \n" * 400 + b"end = 1\n", False),
    ],
)
def test_a_long_loop_of_a_script_is_read_line_by_line_for_a_training_step(text: bytes, expected: bool) -> None:
    assert has_training_loop(text) is expected


def test_a_condition_before_many_steps_is_looked_at_once() -> None:
    asked = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal asked
        asked += event == "call" and frame.f_code.co_name == "_branch_that_goes_on"

    text = _chosen_steps(40)
    sys.setprofile(count)
    try:
        convert_source(text)
    finally:
        sys.setprofile(None)
    assert 0 < asked <= 40


def test_twice_the_classes_that_derive_from_helpers_are_not_four_times_the_work() -> None:
    def use(count: int) -> int:
        text = "".join(f"class A{i}(ms_compat.Function):\n    pass\n\ny = A{i}.apply(x)\n" for i in range(count))
        tree = ast.parse(f"import ms_compat\n{text}")
        return _work(lambda: use_of_tree(tree, "ms_compat"))

    use(4)
    assert use(120) < 2.4 * use(60)
