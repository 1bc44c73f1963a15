"""In-place methods: what the statement becomes, that both frameworks compute the same, and what is said where names share a tensor."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from two_frameworks import Both, plain, same

from mindferry import convert_source
from mindferry.apis.checks.cases import flatten

HEADER = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"


def body(code: str) -> str:
    """The converted code without its imports."""
    return convert_source(HEADER + code).main.rpartition("\n\n\n")[2]


def findings(code: str, severity: str) -> list[str]:
    return [finding.message for finding in convert_source(HEADER + code).findings if finding.severity == severity]


def load(folder: Path, name: str, source: str) -> Any:
    path = folder / f"{name}.py"
    path.write_text(source, "utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # ms.jit looks the function's module up
    spec.loader.exec_module(module)
    return module


FUNCTIONS = {
    "arithmetic on a local name": "    z = x + y\n    z.add_(y)\n    z.mul_(2).sub_(x)\n    return z",
    "a factor": "    z = x * 1\n    z.add_(y, alpha=0.5)\n    z.addcmul_(x, y, value=2)\n    return z",
    "the old order of arguments": "    z = x * 1\n    z.add_(y * 0.5)\n    z.lerp_(y, 0.3)\n    return z",
    "limits": "    z = x + y\n    z.clamp_(-0.5, 0.5)\n    z.clamp_(min=0)\n    return z",
    "zero and fill": "    z = x + y\n    w = x.clone()\n    z.zero_()\n    w.fill_(2.5)\n    return z + x, w * y",
    "one row": "    z = x + y\n    z[0].zero_()\n    z[:, 1].mul_(3)\n    z[1].fill_(7)\n    return z",
    "a copied row": "    z = torch.zeros_like(x)\n    z[0].copy_(y[1])\n    return z * x",
    "entries of a list": "    z = [x + y, x * y, x - y]\n    z[0].zero_()\n    z[1].fill_(3)\n    z[2].copy_(y[0])\n    return z[0] + x, z[1], z[2] * x",
    "entries of a dictionary": "    z = {'a': x + y, 'b': x * y}\n    z['a'].zero_()\n    z['b'].copy_(y[0])\n    return z['a'] + x, z['b'] * x",
    "a mask": "    z = x + y\n    z[z > 0] = 0\n    z[0] = y[1]\n    return z",
    "a value and the name": "    z = x + y\n    w = z.mul_(2)\n    return w + z",
    "a value alone": "    z = x + y\n    return z.mul_(2).add_(1)",
    "a function": "    z = x + y\n    torch.relu_(z)\n    return z * 2",
    "an argument": "    z = x + y\n    F.relu(z, inplace=True)\n    return z * 2",
    "masked fill": "    z = x + y\n    z.masked_fill_(y > 0, -1.5)\n    return z",
    "a new shape": "    z = x + y\n    z.unsqueeze_(0)\n    return z * 2",
    "a view of itself": "    z = x + y\n    z = z.view(-1)\n    z = z\n    z.add_(1)\n    return z",
    "a loop": "    z = x + y\n    for i in range(3):\n        z.add_(y)\n    return z",
    "a branch": "    z = x + y\n    if z.dim() == 2:\n        z.add_(1)\n    else:\n        z.sub_(1)\n    return z",
    "augmented assignment": "    z = x + y\n    z += y\n    z *= 2\n    z[0] += 1\n    return z",
    "an entry of a dict": "    state = {'a': x + y}\n    state['a'].mul_(0.9).add_(y)\n    return state['a']",
    "detached": "    z = x * 2\n    z.detach_()\n    return z * x",
    "a name bound again": "    z = x + y\n    w = z.add_(1)\n    z = x\n    return w * z",
}


@pytest.mark.parametrize("code", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("mode", ["pynative", "jit"])
def test_a_function_that_changes_tensors_in_place_computes_the_same(code: str, mode: str, tmp_path: Path) -> None:
    import mindspore as ms
    import torch

    source = f"{HEADER}def case(x, y):\n{code}\n".replace(
        "def case(x, y)", "def case(x: torch.Tensor, y: torch.Tensor)"
    )
    conversion = convert_source(source)
    assert [each for each in conversion.findings if each.severity != "note"] == []
    stem = f"in_place_{abs(hash((code, mode)))}"
    theirs, ours = load(tmp_path, f"{stem}_torch", source), load(tmp_path, f"{stem}_ms", conversion.code)
    rng = np.random.default_rng(3)
    arrays = [rng.standard_normal((2, 3)).astype(np.float32) for _ in range(2)]
    tensors = [torch.tensor(array, requires_grad=True) for array in arrays]
    expected = flatten(theirs.case(*tensors))
    run = ms.jit(ours.case) if mode == "jit" else ours.case
    actual = flatten(run(*(ms.Tensor(array) for array in arrays)))
    assert len(expected) == len(actual)
    for theirs_, ours_ in zip(expected, actual, strict=True):
        np.testing.assert_allclose(ours_.asnumpy(), theirs_.detach().numpy(), rtol=1e-5, atol=1e-6)
    if mode == "pynative":
        reference = torch.autograd.grad(sum((each * each).sum() for each in expected), tensors, allow_unused=True)
        found = ms.grad(lambda *inputs: sum((each * each).sum() for each in flatten(ours.case(*inputs))), (0, 1))(
            *map(ms.Tensor, arrays)
        )
        for wanted, given in zip(reference, found, strict=True):
            wanted_array = np.zeros((2, 3)) if wanted is None else wanted.numpy()
            np.testing.assert_allclose(given.asnumpy(), wanted_array, rtol=1e-4, atol=1e-5)


def test_the_statement_reads_as_an_engineer_would_write_it() -> None:
    code = "def f(x: torch.Tensor, y: torch.Tensor):\n    z = x + y\n    z.add_(y, alpha=2)\n    z.div_(x - 1)\n    return z\n"
    assert (
        body(code)
        == "def f(x: ms.Tensor, y: ms.Tensor):\n    z = x + y\n    z = z + 2 * y\n    z = z / (x - 1)\n    return z\n"
    )


NETWORK = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.bn = nn.BatchNorm1d(3)
        self.register_buffer("mean", torch.zeros(3))
        self.fc.weight.data.fill_(0.5)
        self.fc.bias.data.zero_()
        self.fc.weight.data[1].mul_(2)
        self.bn.weight.data.copy_(self.fc.bias.data + 3)
        self.bn.bias.data = self.fc.bias.data + 0.25
        self.bn.weight.data -= 0.5 * self.fc.bias.data + 1
        for p in self.parameters():
            p.data.mul_(0.5).add_(1)
            p.requires_grad_(False)

    def forward(self, x):
        self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        x = self.fc(x)
        x += self.mean
        return x


def case(x):
    net = Net()
    net(x)
    return net(x), net.mean, net.fc.weight, net.bn.weight, net.bn.bias
"""


def test_parameters_and_buffers_are_written_to(tmp_path: Path) -> None:
    import mindspore as ms
    import torch

    conversion = convert_source(HEADER + NETWORK)
    assert [str(each) for each in conversion.findings if each.severity != "note"] == []
    for expected in (
        "self.fc.weight.set_data(ops.full_like(self.fc.weight, 0.5))",
        "self.fc.weight[1] = self.fc.weight[1] * 2",
        "ops.assign(self.mean, ",
        "p.requires_grad = False",
    ):
        assert expected in conversion.main
    theirs, ours = load(tmp_path, "network_torch", HEADER + NETWORK), load(tmp_path, "network_ms", conversion.code)
    x = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
    for wanted, given in zip(theirs.case(torch.tensor(x)), ours.case(ms.Tensor(x)), strict=True):
        np.testing.assert_allclose(given.asnumpy(), wanted.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_what_a_caller_holds_is_written_to_and_not_bound_again(tmp_path: Path) -> None:
    import mindspore as ms
    import torch

    code = """def scale(t: torch.Tensor):
    t.mul_(2)


def decay(tensors):
    for t in tensors:
        t.sub_(1)
        t -= 0.5


def spread_(t: torch.Tensor):
    t.mul_(3)
    t.clamp_(max=9)
    return t


@torch.no_grad()
def shift(t: torch.Tensor, by):
    t.add_(by)
    return t


def step(state):
    average = state["average"]
    average.mul_(0.9).add_(1)


def case(x):
    state = {"average": x + 0}
    scale(state["average"])
    decay([state["average"]])
    spread_(state["average"])
    shift(state["average"], 0.25)
    step(state)
    return state["average"]
"""
    theirs = load(tmp_path, "callers_torch", HEADER + code)
    ours = load(tmp_path, "callers_ms", convert_source(HEADER + code).code)
    x = np.array([1.0, 2.0], np.float32)
    np.testing.assert_allclose(ours.case(ms.Tensor(x)).asnumpy(), theirs.case(torch.tensor(x)).numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("    z = x + 1\n    flat = z.view(-1)\n    flat.add_(1)\n    return z, flat", "warning"),
        ("    z = x + 1\n    flat = z.view(-1)\n    flat.add_(1)\n    z.sum().backward()\n    return z, flat", "error"),
        ("    z = x + 1\n    z[[0, 1]][1] = 5\n    return z", "warning"),
    ],
)
def test_a_second_name_for_the_tensor_is_warned_of(code: str, severity: str) -> None:
    assert findings(f"def f(x: torch.Tensor):\n{code}\n", severity)


@pytest.mark.parametrize(
    "code",
    [
        "    z = x + 1\n    k = z\n    k += 1\n    return k",
        "    z = x + 1\n    flat = z.view(-1)\n    flat.add_(1)\n    return flat",
        "    z = x.clone()\n    z.add_(1)\n    return x, z",
        "    z = x[x > 0]\n    z.add_(1)\n    return x, z",
    ],
)
def test_a_second_name_that_is_not_read_again_is_not_warned_of(code: str) -> None:
    assert not findings(f"def f(x: torch.Tensor):\n{code}\n", "warning")


@pytest.mark.parametrize(
    "line",
    [
        "x.view(-1).zero_()",
        "x[x > 0].fill_(0)",
        "print(x.add_(1))",
        "y = w['a'].add_(1)",
        "x.mul_(2).add_(x)",
    ],
)
def test_what_cannot_be_told_is_left_with_a_finding(line: str) -> None:
    code = f"def f(x: torch.Tensor, w: dict):\n    {line}\n    return x\n"
    assert any(message.startswith("in place") for message in findings(code, "error"))
    assert f"    {line}\n" in body(code)


def test_a_rebound_name_reaches_the_lifted_training_step() -> None:
    code = """def train(model: nn.Module, loader: torch.utils.data.DataLoader, optimizer: torch.optim.SGD):
    for images, labels in loader:
        images.div_(255)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
"""
    text = body(code)
    assert "images = images / 255" in text
    compile(text, "train", "exec")


def test_a_multi_line_statement_inside_no_grad_stays_whole() -> None:
    code = """def f(w: torch.Tensor, g: torch.Tensor):
    v = w * 2
    with torch.no_grad():
        v.add_(
            g,  # the gradient
            alpha=-0.1,
        )
    return v
"""
    compile(convert_source(HEADER + code).main, "f", "exec")
    assert not findings(code, "error")


def test_converting_the_output_again_changes_nothing() -> None:
    once = convert_source(HEADER + NETWORK).main
    assert convert_source(once).main == once


def test_an_in_place_method_without_a_rule_is_an_error_and_another_method_a_warning() -> None:
    found = convert_source(
        "import torch\n\ndef f(x: torch.Tensor):\n    x.unheard_of_(1)\n    return x.unheard_of(1)\n"
    ).findings
    assert [each.severity for each in found if each.code == "MF100"] == ["error", "warning"]


def test_a_slice_of_a_bias_is_assigned_to_and_an_entry_of_a_list_is_written_to() -> None:
    code = "import torch\nfrom torch import nn\n\nfc = nn.Linear(3, 6)\nfc.bias[2:4].data.zero_()\n\ndef f(ps: list):\n    ps[0].data.zero_()\n"
    text = convert_source(code).main
    assert "fc.bias[2:4] = 0\n" in text and "    ps[0].set_data(" in text


@pytest.mark.parametrize(
    "lines",
    [
        "b = x.reshape(-1); b.zero_(); return x",
        "b = x.contiguous(); b += 1; return x",
        "b = x.float(); b[0] = 1; return x",
        "b = torch.transpose(x, 0, 1); b += 1; return x",
        "b = torch.flatten(x); b.add_(1); return x",
    ],
)
def test_what_torch_may_share_is_warned_about_where_it_is_used_again(lines: str) -> None:
    source = "import torch\n\ndef f(x: torch.Tensor):\n    " + lines.replace("; ", "\n    ") + "\n"
    assert [each.code for each in convert_source(source).findings] == ["MF141"]
    assert not convert_source(source.replace("return x", "return b")).findings


def test_what_torch_certainly_shares_is_an_error_where_its_gradient_is_taken() -> None:
    source = (
        "import torch\n\ndef f(x: torch.Tensor):\n    b = x.t()\n    b.add_(1)\n    x.sum().backward()\n    return x\n"
    )
    assert ("MF141", "error") in [(each.code, str(each.severity)) for each in convert_source(source).findings]


def test_a_gradient_s_memory_is_not_the_parameter_s() -> None:
    source = "import torch\n\ndef f(params):\n    for p in params:\n        d = p.grad.data\n        d.add_(p, alpha=2)\n        p.data.add_(d)\n"
    assert all(str(each.severity) != "error" for each in convert_source(source).findings)


def test_a_network_s_tensors_change_in_a_loop_over_its_state(both: Both) -> None:
    theirs, ours = both("""
import copy


class Average:
    def __init__(self, model):
        self.model, self.decay = copy.deepcopy(model), 0.5

    def update(self, model):
        state = model.state_dict()
        with torch.no_grad():
            for k, v in self.model.state_dict().items():
                if v.dtype.is_floating_point:
                    v *= self.decay
                    v += (1.0 - self.decay) * state[k].detach()
            for (k, v), w in zip(self.model.state_dict().items(), model.state_dict().values()):
                v *= 2


def run():
    net = nn.Linear(2, 2)
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.arange(p.numel()).float().reshape(p.shape))
    average = Average(net)
    with torch.no_grad():
        net.weight.mul_(3)
    average.update(net)
    return [plain(average.model.weight), plain(average.model.bias), plain(net.weight)]
""")
    assert same(ours, theirs)


def test_an_out_argument_is_written_into_unless_it_is_none() -> None:
    result = convert_source(
        "import torch\nz = torch.empty(2)\ntorch.add(x, y, out=z)\ntorch.zeros(2, out=z)\nw = torch.add(x, y, out=None)\n"
    )
    assert [each for each in result.findings if each.severity == "error"] == []
    assert "ms_compat.write_out(ops.add(x, y), z)\nms_compat.write_out(ops.zeros((2,)), z)\n" in result.main
    assert result.main.count("write_out") == 2


def test_comments_within_a_statement_that_goes_stay() -> None:
    source = "import torch\nnet = torch.nn.DataParallel(net,  # all of them\n                            device_ids=[0, 1])  # two\ny = 1\n"
    assert convert_source(source).main == "# all of them\n# two\ny = 1\n"


def test_a_weight_that_is_computed_can_be_written_to_as_in_torch(tmp_path: Path) -> None:
    source = """import torch
from torch import nn
from torch.nn.utils import weight_norm


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = weight_norm(nn.Conv1d(2, 3, 3))
        self.conv.weight.data.normal_(0, 0.01)  # computed anew in every call, so it changes nothing that lasts

    def forward(self, x):
        return self.conv(x)
"""
    (tmp_path / "block.py").write_text(convert_source(source).code)
    script = "import numpy as np, mindspore as ms; from block import Block; print(Block()(ms.Tensor(np.ones((1, 2, 5), np.float32))).shape)"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == ["(1,", "3,", "3)"], done.stderr[-1500:]


def test_data_of_a_layer_that_nobody_knows_is_written_in_every_form_of_assignment(both: Both) -> None:
    theirs, ours = both("""
def fill(net):
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.arange(p.numel()).float().reshape(p.shape) + 1)
    return net


def scale(block, factor):
    block[-1].weight.data *= factor + 1
    block[-1].bias.data -= block[-1].weight.data[0]


def swap(one, other):
    one.weight.data, other.weight.data = other.weight.data, one.weight.data
    one.bias.data, kept = other.bias.data * 2, None
    (other.bias.data) += 1


def run():
    one, other = fill(nn.Linear(2, 2)), fill(nn.Linear(2, 2))
    scale([one], 2)
    swap(one, other)
    return [plain(each) for layer in (one, other) for each in (layer.weight, layer.bias)]
""")
    assert same(ours, theirs)


TARGETS = [
    "m.weight.data",
    "m.weight.grad.data",
    "p.data",
    "p.grad.data",
    "m.data",
    "m.running_mean.data",
    "m.norm.eps",
]
FORMS = [
    "{} = a",
    "({}) = a",
    "{} *= a + 1",
    "{}, m.x = a",
    "m.y = {} = a",
    "[{}] = a",
    "{}: int = a",
    "*{}, b = a",
    "for {} in a: pass",
    "with a as {}: pass",
    "del {}",
    "x = [0 for {} in a]",
]


@pytest.mark.parametrize("target", TARGETS)
def test_whatever_is_assigned_to_still_compiles(target: str) -> None:
    lines = [form.format(target) for form in FORMS]
    found = convert_source(HEADER + "def f(m, a, p: torch.Tensor):\n" + "".join(f"    {line}\n" for line in lines))
    assert not [each for each in found.findings if each.code in ("MF901", "MF906")]


def test_a_copy_of_a_parameter_is_not_changed_by_the_next_step(both: Both) -> None:
    theirs, ours = both(
        """
class Keeper:
    def __init__(self, net):
        self.best = {k: torch.zeros_like(v) for k, v in net.state_dict().items()}
        self.bias = torch.zeros(3)

    def take(self, net):
        for k, v in net.state_dict().items():
            self.best[k].copy_(v)
        self.bias.copy_(net.bias)


def keep(holder, key, value):
    holder[key].copy_(value)
    holder[key].add_(1)


def run():
    start = torch.tensor(X[:3, :4])
    net = nn.Linear(4, 3)
    with torch.no_grad():
        net.weight.copy_(start)
        net.bias.zero_()
    keeper = Keeper(net)
    keeper.take(net)
    first = torch.zeros(3)
    entries = [first]
    keep(entries, 0, net.bias)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = net(start).pow(2).mean()
    loss.backward()
    optimizer.step()
    return [plain(each) for each in (net.bias, keeper.best["bias"], keeper.bias, first, net.weight, keeper.best["weight"])]
"""
    )
    assert theirs[0] != theirs[1], "the step moved the bias"
    assert same(ours, theirs)


def test_an_index_of_an_index_writes_into_the_tensor_itself(both: Both) -> None:
    code = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.arange(12.).view(3, 4))
        self.register_buffer("mask", torch.zeros(3, 4))
        self.w.data[1][2] = -1.0
        self.mask[0][1] = 1.0
        self.mask[2][1:3] = 2.0
    def forward(self, x):
        y = x * self.w
        y[0][1] = 0.0
        y[1][2:] = x[0][2:]
        y[2][x[2] > 0] = 3.0
        z = torch.zeros(2, 3, 4)
        z[0][1][2] = y[1][1]
        z[1][0][:] = y[1]
        z[:, 1][0] = y[2] * 2
        z[1][2].fill_(0.5)
        return y.sum() + (z * self.mask).pow(2).sum() + z.sum(), y, z

def run():
    net = Net()
    loss, y, z = net(torch.from_numpy(X[:3, :4]))
    loss.backward()
    counted = torch.full((2, 3), -5)
    for i in range(2):
        counted[i][i] = i
        counted[i][2] += 1
    return [loss.item(), y, z, net.w.grad, counted]
"""
    theirs, ours = both(code)
    assert same(plain(ours), plain(theirs))
    assert not [each for each in convert_source(HEADER + code).findings if each.severity != "note"]


def test_an_attribute_that_is_filled_and_used_at_once_keeps_its_numbers(both: Both) -> None:
    theirs, ours = both("""
class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(6, 2)
        nn.init.constant_(self.lin.weight, 0.3); nn.init.constant_(self.lin.bias, 0.1)
        self.noise = torch.Tensor(2)
        self.register_buffer("kept", torch.ones(2))
    def forward(self, x):
        noise = self.noise.fill_(0.5)
        y = self.lin(x) + torch.mul(noise.clamp(-0.25, 0.25), self.kept.fill_(3.0))
        zero = self.noise.zero_()
        return y * (1 + zero.sum()) + self.noise
    def draw(self):
        return self.noise.normal_(0.0, std=0.1)

def run():
    net, seen = Noisy(), []
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        loss = net(torch.from_numpy(X)).pow(2).sum()
        loss.backward()
        opt.step()
        seen.append(loss.item())
    drawn = net.draw()
    return [seen, net.kept, net.lin.weight, bool((drawn == net.noise).all()), bool((net.noise != 0).all())]
""")
    assert same(plain(ours), plain(theirs))


SECOND_NAMES = {
    "another name": "        w = p\n        w.mul_(0.5)",
    "another name that a branch may bind again": "        w = p\n        if p.dtype == torch.float16:\n            w = w.float()\n        w.add_(-g)",
    "its data": "        w = p.data\n        w.mul_(0.9).add_(g, alpha=0.1)",
    "its data, read beside a gradient": "        w = p.data\n        h = p.grad\n        w -= 0.5 * g",
    "its data in a branch": "        w = p.data\n        if g.dtype != p.dtype:\n            w = w.to(g.dtype)\n        w.mul_(0.9)\n        w.add_(g)",
    "a view of it": "        w = p.view(-1)\n        w.mul_(3)",
}


@pytest.mark.parametrize("lines", SECOND_NAMES.values(), ids=SECOND_NAMES)
def test_a_parameter_changes_through_a_second_name_that_nobody_reads(lines: str, both: Both) -> None:
    """The network holds it: as an optimizer's step has it, `w = p`, and `w.add_(…)` is the last that is said of either."""
    theirs, ours = both(f"""
@torch.no_grad()
def step(net):
    for p, g in zip(net.parameters(), [torch.ones(2, 3), torch.ones(2)]):
{lines}

def run():
    net = nn.Linear(3, 2)
    nn.init.constant_(net.weight, 2.0)
    nn.init.constant_(net.bias, 1.0)
    step(net)
    return [p.sum().item() for p in net.parameters()]
""")
    assert ours == pytest.approx(theirs)
    assert theirs != [12.0, 2.0]  # it did change


def test_a_known_layer_s_first_values_come_from_mindspores_initializers() -> None:
    code = convert_source("""from torch import nn

class Net(nn.Module):
    def __init__(self, r):
        super().__init__()
        self.fc, self.conv = nn.Linear(2, 3), nn.Conv1d(2, 3, 3)
        self.fc.weight.data.normal_(0.0, 0.02)
        self.fc.bias.data.uniform_(-r, r)
        self.fc.bias.data.uniform_(0, 0.5)
        self.fc.bias.data.uniform_(r, 0.5)
        self.conv.weight.data.normal_(0.0, 0.02)
""").main
    filled = "self.fc.{0}.set_data(initializer.initializer(initializer.{1}, self.fc.{0}.shape, self.fc.{0}.dtype))"
    assert filled.format("weight", "Normal(sigma=0.02, mean=0.0)") in code
    assert filled.format("bias", "Uniform(r)") in code
    assert "self.fc.bias.set_data(ops.rand(self.fc.bias.shape) * 0.5)" in code
    assert "uniform_like(self.fc.bias, r, 0.5)" in code
    assert "normal_like(self.conv.weight, 0.0, 0.02)" in code  # whose weight has an axis more
