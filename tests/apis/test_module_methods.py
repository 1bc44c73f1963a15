"""What torch's Module does beside computing: buffers, parameters, children, hooks, names in a checkpoint. Both frameworks run the same source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mindferry.convert import convert_source

PRELUDE = "import torch\nimport torch.nn as nn\nfrom torch import optim\n\n"
Both = Callable[[str], tuple[Any, Any]]
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.bn = nn.BatchNorm1d(4)
        self.scale = nn.Parameter(torch.ones(4))
        self.register_parameter("shift", None)
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("mask", torch.ones(4), persistent=False)

    def forward(self, x):
        self.count = self.count + 1
        return self.bn(self.fc(x)) * self.scale * self.mask
"""


def test_parameters_hold_no_buffers_and_have_torchs_names(both: Both) -> None:
    theirs, ours = both(NET + "\ndef run():\n    return [(n, tuple(p.shape)) for n, p in Net().named_parameters()]\n")
    assert ours == theirs


def test_buffers_are_listed_with_the_running_statistics(both: Both) -> None:
    theirs, ours = both(NET + "\ndef run():\n    return [n for n, _ in Net().named_buffers()]\n")
    assert sorted(ours) == sorted(set(theirs) - {"bn.num_batches_tracked"})


def test_a_norm_forgets_what_it_has_seen(both: Both) -> None:
    body = """
def forget(layer):
    layer.reset_running_stats()

def run():
    found = []
    for norm in (nn.BatchNorm1d(4), nn.BatchNorm1d(4, momentum=None)):
        norm.train()
        norm(torch.arange(12.0).view(3, 4))
        seen = norm.running_mean.tolist()
        norm.reset_running_stats()
        found.append((seen, norm.running_mean.tolist(), norm.running_var.tolist()))
        norm(torch.arange(12.0).view(3, 4))
        found.append(norm.running_mean.tolist())
        forget(norm)
        found.append(norm.running_mean.tolist())
    return found
"""
    theirs, ours = both(body)
    assert len(ours) == len(theirs) == 6
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_a_copy_has_the_same_parameters_as_its_original(both: Both) -> None:
    body = "\ndef run():\n    net = Net()\n    other = copy.deepcopy(net)\n    return len(list(other.parameters())), len(list(net.parameters()))\n"
    theirs, ours = both(NET + body)
    assert ours == theirs


def test_frozen_parameters_stay_in_the_list_and_can_be_freed(both: Both) -> None:
    body = """
def run():
    net = Net()
    for p in net.parameters():
        p.requires_grad = False
    frozen = len([p for p in net.parameters() if p.requires_grad])
    net.requires_grad_(True)
    return frozen, len([p for p in net.parameters() if p.requires_grad]), len(list(net.parameters()))
"""
    theirs, ours = both(NET + body)
    assert ours == theirs


def test_a_buffer_can_be_assigned_and_is_saved(both: Both) -> None:
    body = """
def run():
    net = Net()
    net.train()
    net(torch.ones(2, 3))
    net(torch.ones(2, 3))
    return float(net.count[0]), "count" in net.state_dict(), "mask" in net.state_dict()
"""
    theirs, ours = both(NET + body)
    assert ours == theirs == (2.0, True, False)


def test_children_and_modules_come_in_torchs_order(both: Both) -> None:
    body = """
def run():
    net = Net()
    net.add_module("head", nn.Sequential(nn.Linear(4, 2)))
    names = [n for n, _ in net.named_modules()]
    return names, [n for n, _ in net.named_children()], len(list(net.children())), len(list(net.modules()))
"""
    theirs, ours = both(NET + body)
    assert ours == theirs


def test_a_sequential_runs_what_is_added_to_it(both: Both) -> None:
    body = """
def run():
    net = nn.Sequential()
    net.add_module("a", nn.Tanh())
    net.add_module("b", nn.ReLU())
    return net(torch.tensor([-1.0, 2.0])).tolist(), len(net)
"""
    theirs, ours = both(body)
    assert ours[1] == theirs[1] and np.allclose(ours[0], theirs[0], atol=1e-5)


def test_a_slice_of_a_list_keeps_the_names_of_its_parameters(both: Both) -> None:
    body = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])

    def forward(self, x):
        for block in self.blocks[1:]:
            x = block(x)
        return x

def run():
    net = Net()
    net(torch.ones(2, 3))
    return [n for n, _ in net.named_parameters()], sorted(net.state_dict()), [b is net.blocks[1] for b in net.blocks[1:2]]
"""
    theirs, ours = both(body)
    assert ours == theirs


def test_lists_and_dicts_of_modules_and_parameters_behave(both: Both) -> None:
    body = """
def run():
    layers = nn.ModuleList()
    layers.append(nn.Tanh()).extend([nn.ReLU(), nn.Tanh()])
    layers.insert(1, nn.Sigmoid())
    table = nn.ModuleDict({"a": nn.Tanh()})
    table["b"] = nn.Sequential(nn.ReLU())
    weights = nn.ParameterList([nn.Parameter(torch.ones(2)) for _ in range(2)])
    weights.append(nn.Parameter(torch.zeros(3)))
    named = nn.ParameterDict({"w": nn.Parameter(torch.ones(2))})
    return (len(layers), list(table.keys()), "a" in table, len(table), [n for n, _ in weights.named_parameters()],
            [n for n, _ in named.named_parameters()], [tuple(w.shape) for w in weights], len(weights))
"""
    theirs, ours = both(body)
    assert ours == theirs


def test_hooks_are_called_and_can_be_removed(both: Both) -> None:
    body = """
def run():
    seen = []
    layer = nn.Linear(3, 4)
    before = layer.register_forward_pre_hook(lambda module, inputs: seen.append(("in", tuple(inputs[0].shape))))
    after = layer.register_forward_hook(lambda module, inputs, output: seen.append(("out", tuple(output.shape))))
    layer(torch.ones(2, 3))
    before.remove()
    after.remove()
    layer(torch.ones(2, 3))
    return seen
"""
    theirs, ours = both(body)
    assert ours == theirs == [("in", (2, 3)), ("out", (2, 4))]


def test_apply_reaches_every_module(both: Both) -> None:
    body = """
def fill(m):
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.weight, 0.5)
        nn.init.zeros_(m.bias)

def run():
    net = nn.Sequential(nn.Linear(3, 2), nn.Sequential(nn.Linear(2, 2)))
    net.apply(fill)
    return net(torch.ones(1, 3)).tolist()
"""
    theirs, ours = both(body)
    assert np.allclose(ours, theirs)


def test_gradients_are_clipped_as_torch_clips_them(both: Both) -> None:
    body = """
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

def run():
    p = nn.Parameter(torch.ones(3))
    p.grad = torch.tensor([3.0, 4.0, 0.0])
    norm = float(clip_grad_norm_([p], 1.0))
    clipped = p.grad.tolist()
    clip_grad_value_([p], 0.7)
    return [norm, *clipped, *p.grad.tolist()]
"""
    theirs, ours = both(body)
    assert np.allclose(ours, theirs, atol=1e-5)


def test_an_optimizer_gets_the_trainable_parameters() -> None:
    text = convert_source(PRELUDE + "net = nn.Linear(2, 3)\nopt = optim.Adam(net.parameters(), lr=0.1)\n").main
    assert "net.trainable_params()" in text


@pytest.mark.parametrize("form", ['to("cuda")', "to(device)", "cuda()", "cpu()", "to(torch.device('cuda:0'))"])
def test_moving_a_network_to_a_device_disappears(form: str) -> None:
    text = convert_source(PRELUDE + f"device = 'cuda'\nnet = nn.Linear(2, 3).{form}\n").main
    assert "net = nn.Dense(2, 3)\n" in text


OWN_TRAIN = """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(4)
        self.fc = nn.Linear(4, 4)
        self.calls = []

    def train(self, mode=True):
        super().train(mode)
        self.bn.eval()
        self.calls.append(mode)
        return self


class Deeper(Part):
    def train(self, mode=True):
        super().train(mode)
        self.fc.eval()
        return self


class Around(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.Sequential(Part(), Deeper())
        self.bn = nn.BatchNorm1d(4)


def modes(net):
    own = [part.calls for part in net.modules() if isinstance(part, Part)]
    return [net.training, net.bn.training, *[(part.training, part.bn.training, part.fc.training) for part in net.parts], own]
"""


@pytest.mark.parametrize(
    "how", ["net.train()", "net.eval()", "net.train(False).train()", "net.parts[0].train()", "net.parts[1].eval()"]
)
def test_a_train_of_its_own_is_called_once_each_time(both: Both, how: str) -> None:
    theirs, ours = both(OWN_TRAIN + f"\ndef run():\n    net = Around().train()\n    {how}\n    return modes(net)\n")
    assert ours == theirs


def test_methods_taken_from_a_class_are_those_of_its_counterpart(both: Both) -> None:
    source = """
class Base(nn.Module):
    def __init__(self):
        nn.Module.__init__(self)
        self.scale = 3.0

    def forward(self, x):
        return x * self.scale


class Child(Base):
    def forward(self, x):
        return Base.forward(self, x) + nn.Tanh.forward(nn.Tanh(), x)

    def train(self, mode=True):
        nn.Module.train(self, mode)
        self.mode = mode
        return self


def run():
    net = nn.Sequential(Child(), nn.ReLU())
    net.eval()
    x = torch.arange(4).float() - 1.5
    return net(x).tolist(), net[0].mode, net[0].training
"""
    (values, *modes), (ours, *our_modes) = both(source)
    assert ours == pytest.approx(values, abs=1e-5) and our_modes == modes


def test_a_mixin_s_forward_is_the_network_s(both: Both) -> None:
    source = """
class Doubled:
    def forward(self, x):
        return super().forward(x) * 2


class Scaled:
    def step(self, x):
        return x * self.scale


class Base(nn.Module):
    scale = 3.0

    def forward(self, x):
        return self.step(x)


class Net(Doubled, Scaled, Base):
    pass


class Deeper(Scaled, Base):
    def forward(self, x):
        return super().forward(x) + super(Deeper, self).forward(x)


class NoNetwork:
    def forward(self, x):
        return x + 1


def run():
    x = torch.arange(3).float()
    return Net()(x).tolist(), Deeper()(x).tolist(), NoNetwork().forward(1)
"""
    theirs, ours = both(source)
    assert ours == theirs


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("net.head.parameters()", "net.head.trainable_params()"),
        ("[{'params': net.head.parameters(), 'lr': 0.2}]", "[{'params': net.head.trainable_params(), 'lr': 0.2}]"),
        ("[*net.head.parameters()]", "[*net.head.trainable_params()]"),
        (
            "list(net.head.parameters()) + list((net.a or net.b).parameters())",
            "list(net.head.trainable_params()) + list((net.a or net.b).trainable_params())",
        ),
    ],
)
def test_an_optimizer_s_receivers_are_networks_however_deep_they_stand(given: str, expected: str) -> None:
    source = f"import torch\ndef f(net):\n    return torch.optim.SGD({given}, lr=0.1)\n"
    assert f"SGD({expected}, lr=0.1)\n" in convert_source(source).main
