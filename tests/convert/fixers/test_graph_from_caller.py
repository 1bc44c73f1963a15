"""Backward calls whose graph was begun elsewhere, or is switched off in part: a finding, never a loop that learns something else."""

from __future__ import annotations

import pytest

from mindferry import convert_source
from mindferry.convert.settings import Settings

RECORDED = Settings(record_graphs=True)

HEAD = """import torch
import torch.nn as nn
from contextlib import nullcontext

class Net(nn.Module):
    def forward(self, x):
        return x

backbone, head = Net(), Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD([*backbone.parameters(), *head.parameters()], lr=0.1)
"""
STEP = "        optimizer.zero_grad()\n        self.loss.backward()\n        optimizer.step()\n"
PIX = f"""
class Pix:
    def __init__(self):
        self.net = Net()
    def forward(self):
        {{forward}}
    def update(self):
        self.loss = criterion(head(self.{{read}}), self.y)
{STEP}"""


def refusals(code: str) -> list[str]:
    return [each.message for each in convert_source(HEAD + code).findings if "not lifted" in each.message]


def test_what_another_method_left_on_self_is_refused_and_its_line_named() -> None:
    (message,) = refusals(PIX.format(forward="self.out = self.net(self.x)", read="out"))
    assert "self.out (line 17) was computed elsewhere" in message


@pytest.mark.parametrize(
    "forward, read",
    [
        ("self.out = self.net(self.x)", "out.detach()"),
        ("self.out = self.x * 2", "out"),
        ("self.out = self.net(self.x).detach()", "out"),
    ],
)
def test_what_another_method_left_without_a_graph_is_no_obstacle(forward: str, read: str) -> None:
    assert refusals(PIX.format(forward=forward, read=read)) == []


FUNCTION = """
def update(feats, y):
    loss = criterion(head(feats), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

for x, y in loader:
    feats = {feats}
    update({given}, y)
"""


def test_a_graph_that_the_caller_passes_in_is_refused_and_the_call_named() -> None:
    for feats, given in (("backbone(x)", "feats"), ("x", "backbone(feats)"), ("backbone(x) * 2", "feats + 1")):
        (message,) = refusals(FUNCTION.format(feats=feats, given=given))
        assert "feats, as line 21 passes it, was computed elsewhere" in message
    for feats, given in (("backbone(x).detach()", "feats"), ("x * 2", "feats")):
        assert refusals(FUNCTION.format(feats=feats, given=given)) == []


def test_gradients_switched_off_under_a_condition_are_refused_in_a_loop_and_followed_in_a_network() -> None:
    block = "with torch.no_grad() if frozen else nullcontext():\n{0}    f = backbone(x)\n"
    (message,) = refusals(
        f"for x, y in loader:\n    {block.format('    ')}    loss = criterion(head(f), y)\n    loss.backward()\n    optimizer.step()\n"
    )
    assert "switches gradients off under a condition" in message
    code = convert_source(f"{HEAD}\ndef features(x, frozen):\n    {block.format('    ')}    return f * 2\n").main
    assert "f = ops.stop_gradient(backbone(x)) if frozen else (backbone(x))" in code


def test_what_a_helper_computed_without_gradients_is_cut_off_from_them() -> None:
    code = convert_source(
        "import torch\ndef weighted(each: torch.Tensor):\n    with torch.no_grad():\n        w = each / each.sum()\n        n = 3\n    return each * w * n\n"
        "@torch.no_grad()\ndef soft(net, x):\n    return net(x).softmax(-1)\n"
        "@torch.no_grad()\ndef evaluate(net, loader):\n    net.eval()\n    total = sum(net(x) for x in loader)\n    return total\n"
    ).main
    assert "w = ops.stop_gradient(each / " in code
    assert "    n = 3\n" in code
    assert "return ops.stop_gradient(ms_compat.plain_softmax(net(x), -1))" in code
    assert "return total\n" in code


def test_a_flag_that_switches_gradients_keeps_its_meaning() -> None:
    code = convert_source(
        "import torch\ndef f(x: torch.Tensor, on):\n    with torch.set_grad_enabled(on):\n        y = x * 2\n    with torch.set_grad_enabled(True):\n"
        "        z = x * 3\n    return y + z\n"
    ).main
    assert "y = (x * 2) if on else ops.stop_gradient(x * 2)" in code
    assert "z = x * 3\n" in code


def test_gradients_switched_by_a_statement_beside_a_training_loop_are_named() -> None:
    code = "torch.set_grad_enabled(False)\nf = backbone(x)\ntorch.set_grad_enabled(True)\nloss = criterion(head(f), y)\nloss.backward()\n"
    assert [each.rule for each in convert_source(HEAD + code).findings if "not switched" in each.message] != []


def test_a_network_that_takes_part_only_sometimes_gets_no_gradient_where_it_does_not() -> None:
    loop = "for i, (x, y) in enumerate(loader):\n    loss = criterion(head(x), y)\n    if i % 2:\n        loss = loss + {0}(x).mean()\n"
    loop += "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
    assert "ms_compat.value_and_gradients(forward_fn" in convert_source(HEAD + loop.format("backbone")).main


def test_optimizers_that_a_loop_goes_through_all_give_their_parameters() -> None:
    code = convert_source(
        HEAD
        + "class Trainer:\n    def __init__(self):\n        self.nets = {'a': Net()}\n    def step(self, x, y):\n        loss = criterion(self.nets['a'](x), y)\n        loss.backward()\n"
        "        for name, opt in self.opts.items():\n            opt.step()\n"
    ).main
    assert "(p for name, opt in self.opts.items() for p in opt.parameters)" in code


def test_an_accumulator_from_a_tuple_is_bound_again_and_one_that_others_hold_is_written_to() -> None:
    code = convert_source(
        "import torch\ndef f(x: torch.Tensor):\n    a, b = torch.zeros(1), torch.zeros(1)\n    a += x.sum()\n"
        "    for t in [b]:\n        t.add_(x.sum())\n    return a + b\n"
    ).main
    assert "    a += " in code
    assert "ms_compat.overwrite(t, t + " in code


@pytest.mark.parametrize(
    "before, after",
    [
        ("t[range(n), y] = 1", "t[ops.arange(n), y] = 1"),
        ("t = t[:, range(1, n, 2)]", "t = t[:, ops.arange(1, n, 2)]"),
        ("rows = range(n)\n    t = t[rows]", "rows = range(n)\n    t = t[list(rows)]"),
        ("t = held[range(n)]", "t = held[list(range(n))]"),
        ("t = {range(3): 1}[range(3)]", "t = {range(3): 1}[range(3)]"),
    ],
)
def test_a_tensor_is_indexed_by_a_range(before: str, after: str) -> None:
    code = convert_source(
        f"import torch\ndef f(t: torch.Tensor, y: torch.Tensor, n, held):\n    {before}\n    return t\n"
    ).main
    assert after in code


def test_an_import_of_torch_further_down_comes_too_late_for_what_stands_above() -> None:
    code = convert_source(
        "import torch\nx = torch.randint(0, 3, (2,))\nfrom torch import no_grad\nwith no_grad():\n    y = x + 1\n"
    ).code
    assert (
        code.index("ms_compat") < code.index("x = ms_compat.randint")
        if "import ms_compat" in code
        else "def randint" in code
    )


def test_a_batch_norm_over_all_processes_is_named() -> None:
    found = convert_source(
        "import torch.nn as nn\nnet = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm2d(3)))\n"
    ).findings
    assert [each.severity for each in found if "each process's own" in each.message] == ["warning"]


WRAPPED = """
def train(model, x, y):
    out = model(x)
    loss = criterion(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

def main(batches):
    model = globals()["Net"]()
    model = nn.DataParallel(model) if torch.cuda.is_available() else model
    print(sum(p.numel() for p in model.parameters()))
    for x, y in batches:
        train(model, x, y)
"""


def test_a_network_that_is_wrapped_on_a_condition_brings_no_graph() -> None:
    assert refusals(WRAPPED) == []


def test_a_network_that_an_unknown_library_wraps_is_no_value_with_a_graph() -> None:
    code = (
        "import wrappers\n"
        "def build():\n"
        "    net = Net()\n"
        "    if wrappers.wanted:\n"
        "        net = wrappers.wrap(net)\n"
        "    return net, nn.CrossEntropyLoss()\n"
        "def train(loader, net, criterion):\n"
        "    for x, y in loader:\n"
        "        loss = criterion(net(x), y)\n"
        "        optimizer.zero_grad()\n"
        "        loss.backward()\n"
        "        optimizer.step()\n"
        "net, criterion = build()\n"
        "train(loader, net, criterion)\n"
    )
    assert refusals(code) == []


SCALER = """
class Scaler:
    def __call__(self, loss, optimizer, create_graph=False):
        self._scaler.scale(loss).backward(create_graph=create_graph)
        self._scaler.step(optimizer)


def evaluate(batches):
    with torch.no_grad():
        return [model(x) for x, _ in batches]
"""


def test_a_scaler_that_is_given_the_loss_goes_along_its_graph_and_passes_its_options_on() -> None:
    asked = convert_source(HEAD + SCALER).findings
    assert [each.code for each in asked] == ["MF201"] and "--record-graphs" in asked[0].advice
    conversion = convert_source(HEAD + SCALER, settings=RECORDED)
    assert {each.severity for each in conversion.findings} == {"warning"}
    assert "backward_along_graph(self._scaler.scale(loss), create_graph=create_graph)" in conversion.main
    assert "with ms_compat.no_grad():" in conversion.main and "record_graphs()\n" in conversion.main


def test_a_second_derivative_is_not_recorded() -> None:
    for more in ("loss.backward(create_graph=True)", "torch.autograd.grad(loss, x, create_graph=True)"):
        code = f"def f(loss, x):\n    {more}\n    loss.backward()\n"
        assert "MF201" in {each.code for each in convert_source(HEAD + code, settings=RECORDED).findings}, more


def test_a_function_that_is_passed_in_brings_no_graph() -> None:
    source = """import torch


def energy(name):
    wave = lambda z: torch.sin(z[:, 0])
    if name == "a":
        return lambda z: wave(z) ** 2
    else:
        def other(z):
            return wave(z) + z.norm(dim=1)
        return other


def kl(model, fn, count):
    return fn(model(torch.randn(count, 2)))


def train(model, fn, loss_fn, optimizer):
    for _ in range(3):
        loss = loss_fn(model, fn, 4).mean(0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    model = torch.nn.Linear(2, 2)
    chosen = energy("a")
    train(model, chosen, kl, torch.optim.Adam(model.parameters()))
"""
    assert [each.code for each in convert_source(source).findings if each.severity == "error"] == []
