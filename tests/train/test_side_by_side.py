"""What `mindferry train` shares between the two sides, and what it must not hide."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.artifacts import ProjectConversion, save
from mindferry.config import Train
from mindferry.convert import convert_project
from mindferry.errors import MindferryError
from mindferry.frameworks.requests import TrainStep
from mindferry.train import train_side_by_side
from mindferry.train.side_by_side import allowed, compare_curves, loss_floor

REFERENCE = """
import numpy as np, torch
from torch import nn
np.random.seed(1)
torch.manual_seed(2)
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x = torch.randn(6, 4) + float(np.random.uniform())
    loss = ((model(x[torch.randperm(6)]) - torch.rand(6, 1)) ** 2).mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
torch.save(model.state_dict(), "model.pth")
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.load_state_dict(torch.load("model.pth"))
loss = (model(torch.ones(1, 4)) ** 2).sum()
loss.backward(); optimizer.step()
"""
CONVERTED = """
import mindspore as ms, numpy as np
from mindspore import nn, ops
np.random.seed(1)
ms.set_seed(2)
model = nn.SequentialCell(nn.Dense(4, 8), nn.Dropout(p=0.5), nn.Dense(8, 1)).set_train()
optimizer = ms.experimental.optim.SGD(model.trainable_params(), lr=0.1)
def step(forward):
    loss, grads = ms.value_and_grad(forward, None, optimizer.parameters)()
    optimizer(grads)
for number in range(4):
    x = ops.randn(6, 4) + float(np.random.uniform())
    order = ops.randperm(6)
    y = ops.rand(6, 1)
    step(lambda: ((model(x[order]) - y) ** 2).mean())
ms.save_checkpoint(model, "model.ckpt")
model = nn.SequentialCell(nn.Dense(4, 8), nn.Dropout(p=0.5), nn.Dense(8, 1)).set_train()
optimizer = ms.experimental.optim.SGD(model.trainable_params(), lr=0.1)
ms.load_param_into_net(model, ms.load_checkpoint("model.ckpt"))
step(lambda: (model(ops.ones((1, 4))) ** 2).sum())
"""


def pair(folder: Path, converted: str, reference: str = REFERENCE) -> Path:
    source, output = folder / "source", folder / "output"
    for path, text in ((source, reference), (output, converted)):
        path.mkdir()
        (path / "train.py").write_text(text)
    save(ProjectConversion(str(source), str(output), ()), output, "convert")
    return output


def run(output: Path, *, drift: bool = False) -> tuple[bool, str, int]:
    curves = train_side_by_side(output, Train("train.py", (), 5, 1e-5), drift=drift)
    return curves.passed, curves.first_difference, len(curves.drift)


def test_weights_random_numbers_and_checkpoints_are_shared_or_followed(tmp_path: Path) -> None:
    assert run(pair(tmp_path, CONVERTED), drift=True) == (True, "", 5)


SAMPLING = """
import numpy as np, torch
from torch import nn
from torch.distributions import Bernoulli, Categorical, Laplace, MultivariateNormal, Normal, Uniform
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
fresh = np.random.default_rng()
for step in range(3):
    out = net(torch.from_numpy(fresh.normal(size=(6, 4))).float())
    drawn = Normal(out, 1.0 + out ** 2).rsample() + Uniform(out - 1, out + 1).rsample() + Laplace(out, 1.0).rsample()
    drawn = drawn + MultivariateNormal(out, torch.eye(3)).rsample() + out * Normal(out, 2.0).sample()
    action = Categorical(logits=out).sample()
    loss = (drawn ** 2).mean() + out.gather(1, action[:, None]).mean() + (out * Bernoulli(logits=out).sample()).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""


ACTING = """
import torch
from torch import nn
from torch.distributions import Categorical
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    with torch.no_grad():
        action = Categorical(logits=net(torch.ones(6, 4))).sample()
    loss = -Categorical(logits=net(torch.ones(6, 4))).log_prob(action).mean()
    opt.zero_grad(); loss.backward(); opt.step()
"""


@pytest.mark.parametrize("script", [SAMPLING, ACTING], ids=["many distributions", "Categorical alone"])
def test_what_distributions_and_unseeded_generators_draw_is_shared(script: str, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "train.py").write_text(script)
    convert_project(tmp_path / "source", tmp_path / "output")
    curves = train_side_by_side(tmp_path / "output", Train("train.py", (), 3, 1e-4))
    assert (curves.passed, curves.first_difference) == (True, "")


PASSING = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.kept = nn.Linear(4, 6), [nn.Linear(6, 6), nn.Conv1d(3, 3, 1)]
    def forward(self, x):
        h = torch.tanh(self.kept[0](self.fc(x)))
        h = self.kept[1](h.view(-1, 3, 2)).reshape(-1, 6)
        return nn.LayerNorm(3)(nn.Linear(6, 3)(h))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.05)
for step in range(4):
    loss = ((net(torch.randn(5, 4)) - torch.randn(5, 3)) ** 2).mean()  # normalized rows are all as far from one number
    opt.zero_grad(); loss.backward(); opt.step()
"""


def test_layers_that_a_network_makes_when_it_is_called_or_does_not_register_begin_alike(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "train.py").write_text(PASSING)
    convert_project(tmp_path / "source", tmp_path / "output")
    curves = train_side_by_side(tmp_path / "output", Train("train.py", (), 4, 1e-4))
    assert (curves.passed, curves.first_difference, curves.unmatched) == (True, "", ())
    assert "Net" in curves.networks


LAYER_KEPT = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
        self.encoder = nn.TransformerEncoder(self.layer, 2)
        self.table, self.head = nn.Embedding(7, 8), nn.Linear(8, 7, bias=False)
        self.table.weight = self.head.weight
    def forward(self, x):
        return self.head(self.encoder(x + self.table(torch.arange(5))[:, None]))
torch.manual_seed(1)
net = Net()
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
for step in range(3):
    loss = net(torch.randn(5, 2, 8)).square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""


def test_a_layer_that_a_constructor_copies_and_a_tied_weight_have_their_twins(tmp_path: Path) -> None:
    """The layer is a part of the network, too: without a gradient, and without a change. A tied weight has two names."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "train.py").write_text(LAYER_KEPT)
    convert_project(tmp_path / "source", tmp_path / "output")
    curves = train_side_by_side(tmp_path / "output", Train("train.py", (), 3, 1e-5))
    assert curves.passed and curves.unmatched == () and curves.networks == ("Net",), curves


PART_COPIED = """
import copy
import torch
from torch import nn
class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.fc = nn.Linear(4, 6), nn.Linear(6, 3)
    def forward(self, x):
        return self.fc(torch.tanh(self.body(x)))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = Branch(), Branch()
        self.left.fc = nn.Linear(6, 5)
        self.right.fc = nn.Linear(6, 5)
        self.slow = copy.deepcopy(self.left)
        for one, other in zip(self.left.parameters(), self.slow.parameters()):
            other.data.copy_(one.data)
            other.requires_grad = False
        self.register_buffer("seen", torch.ones(5))
    def forward(self, x):
        with torch.no_grad():
            for one, other in zip(self.left.parameters(), self.slow.parameters()):
                other.data = other.data * 0.9 + one.data * 0.1
        return self.left(x) - self.slow(x) + self.right(x) * self.seen
torch.manual_seed(1)
net = Net()
optimizer = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=0.01)
for step in range(3):
    loss = net(torch.randn(5, 4)).square().mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
"""


def test_a_part_that_a_constructor_copies_and_layers_that_are_put_in_later_have_their_twins(tmp_path: Path) -> None:
    """The network is met when it is whole. Two layers that were put in under one name are told apart by where they stand."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "train.py").write_text(PART_COPIED)
    convert_project(tmp_path / "source", tmp_path / "output")
    curves = train_side_by_side(tmp_path / "output", Train("train.py", (), 3, 1e-5))
    assert curves.passed and curves.unmatched == () and curves.updates == 12, curves


def test_another_learning_rate_is_found_at_the_second_step_and_a_parameter_is_named(tmp_path: Path) -> None:
    passed, first, _ = run(pair(tmp_path, CONVERTED.replace("lr=0.1)\ndef", "lr=0.11)\ndef")))
    assert not passed
    assert first.startswith("step 2: loss ")
    assert first.endswith(" differs most")


def test_a_checkpoint_that_is_not_loaded_is_not_hidden_by_shared_weights(tmp_path: Path) -> None:
    passed, first, _ = run(
        pair(tmp_path, CONVERTED.replace("ms.load_param_into_net", "len(()) and ms.load_param_into_net"))
    )
    assert not passed
    assert first.startswith("step 5: ")


def test_a_conversion_that_needs_torch_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MindferryError, match=r"train\.py line 1.*torch"):
        run(pair(tmp_path, "import torch\n" + CONVERTED))


def test_rounding_of_the_reference_itself_widens_the_tolerance_from_its_step_on() -> None:
    assert allowed(1e-4, 0, (1e-9, 1e-3)) == 1e-4
    assert allowed(1e-4, 1, (1e-9, 1e-3)) == pytest.approx(3e-3)


def test_a_loss_that_is_not_a_number_on_one_side_is_a_difference() -> None:
    curves = compare_curves([TrainStep(1.0, 0.1, 1.0)], [TrainStep(float("nan"), 0.1, 1.0)], 1e-3, 0.0)
    assert not curves.passed
    assert curves.first_difference.startswith("step 1: loss nan against 1")


def test_a_loss_that_is_nearly_zero_by_chance_is_compared_with_the_others() -> None:
    reference = [TrainStep(loss, 0.1, 1.0) for loss in (0.5, 0.4, 0.3, 9.567e-06)]
    close, off = ([*reference[:3], TrainStep(last, 0.1, 1.0)] for last in (9.593e-06, 9.567e-06 + 1e-6))
    floor = loss_floor(reference)
    assert not compare_curves(reference, close, 1e-3, 0.0).passed
    assert compare_curves(reference, close, 1e-3, 0.0, (), floor).passed
    assert not compare_curves(reference, off, 1e-3, 0.0, (), floor).passed
    assert loss_floor([TrainStep(float("nan"), 0.1, 1.0)]) == 0.0
