"""The same loop in MindSpore's other styles: the text, what is refused, and the same losses when it runs."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from mindferry.convert import convert_project
from mindferry.convert.settings import Settings
from mindferry.errors import MindferryError

SCRIPT = """
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

x = torch.arange(480).reshape(80, 6).float() % 17 / 17
y = (x.sum(dim=1) > 3).long()
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
net.train()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
loader = DataLoader(TensorDataset(x, y), batch_size=16)
for epoch in range(3):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = criterion(net(inputs), labels)
        loss.backward()
        optimizer.step()
        print('loss', loss.item())
print('weights', sum(p.abs().sum().item() for p in net.parameters()))
"""


def converted(folder: Path, settings: Settings, script: str = SCRIPT) -> tuple[str, list[str]]:
    source = folder / "source"
    source.mkdir(exist_ok=True)
    (source / "train.py").write_text(script)
    output = folder / f"{settings.style}{settings.jit}"
    result = convert_project(source, output, settings=settings)
    assert [str(each) for each in result.findings if each.severity == "error"] == []
    return (output / "train.py").read_text(), [each.message for each in result.findings if each.code == "MF210"]


def run(folder: Path, settings: Settings, script: str = SCRIPT) -> list[str]:
    converted(folder, settings, script)
    output = folder / f"{settings.style}{settings.jit}"
    environment = {**os.environ, "PYTHONPATH": str(output), "OMP_NUM_THREADS": "1"}
    ran = subprocess.run(
        [sys.executable, output / "train.py"], cwd=output, env=environment, capture_output=True, text=True, timeout=600
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_the_cell_style_makes_one_cell_of_the_step(tmp_path: Path) -> None:
    text, refused = converted(tmp_path, Settings(style="cell"))
    assert refused == []
    assert "train_net = nn.TrainOneStepCell(nn.WithLossCell(net, criterion), optimizer)\n" in text
    assert "        loss = train_net(inputs, labels)\n        print('loss', loss.item())\n" in text
    assert "forward_fn" not in text and "grad" not in text


def test_the_model_style_replaces_the_loop(tmp_path: Path) -> None:
    text, refused = converted(tmp_path, Settings(style="model"))
    assert refused == []
    assert "trainer = ms.train.Model(nn.TrainOneStepCell(nn.WithLossCell(net, criterion), optimizer))\n" in text
    assert "dataset = ms_compat.as_dataset(loader, ['inputs', 'labels'])\n" in text
    assert "callbacks = [ms.train.LossMonitor(), ms.train.TimeMonitor()]\n" in text, "the loop saves nothing"
    assert "trainer.train(3, dataset, callbacks=callbacks, dataset_sink_mode=False)\n" in text
    assert "for epoch" not in text and "forward_fn" not in text


@pytest.mark.parametrize(
    ("loop", "first"),
    [
        ("for i, data in enumerate(loader, 0):", "inputs, labels = data"),
        ("for i, data in enumerate(loader):", "inputs, labels = data"),
        ("for data in loader:", "inputs, labels = data"),
        ("for data in loader:", "inputs, labels = data[0].to('cpu'), data[1].to('cpu')"),
        ("for i, (inputs, labels) in enumerate(loader, 1):", "pass"),
    ],
)
def test_the_model_style_takes_batches_in_every_usual_form(tmp_path: Path, loop: str, first: str) -> None:
    script = SCRIPT.replace("for inputs, labels in loader:", f"{loop}\n        {first}" if first != "pass" else loop)
    if "enumerate" in loop:
        script = script.replace("        print('loss'", "        if i % 20 == 19:\n            print('loss'")
    text, refused = converted(tmp_path, Settings(style="model"), script)
    assert refused == []
    assert "dataset = ms_compat.as_dataset(loader, ['inputs', 'labels'])\n" in text
    assert f"callbacks = [ms.train.LossMonitor({20 if 'enumerate' in loop else ''}), ms.train.TimeMonitor()]\n" in text


def test_jit_compiles_the_gradient_function(tmp_path: Path) -> None:
    text, refused = converted(tmp_path, Settings(jit=True))
    assert refused == []
    assert (
        "grad_fn = ms.jit(ms.value_and_grad(forward_fn, None, optimizer.parameters))\nupdate = ms_compat.compiled_update(optimizer)\n"
        in text
    )
    assert "        loss, grads = grad_fn(inputs, labels)\n        update(grads)\n" in text


@pytest.mark.parametrize(
    ("old", "new", "style", "reason"),
    [
        (
            "criterion(net(inputs), labels)",
            "criterion(net(inputs), labels) + 0.1 * net[0].weight.abs().sum()",
            "cell",
            "more than `criterion(net(x), y)`",
        ),
        (
            "        optimizer.step()",
            "        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n        optimizer.step()",
            "cell",
            "gradients are changed",
        ),
        ("        print('loss', loss.item())", "        total = loss.item()", "model", "does more than step and print"),
        ("print('weights'", "print(loss)\nprint('weights'", "model", "used after the loop"),
        ("net.train()", "net.eval()", "model", "evaluation mode"),
    ],
)
def test_a_loop_that_does_more_stays_functional_and_says_why(
    tmp_path: Path, old: str, new: str, style: str, reason: str
) -> None:
    assert old in SCRIPT
    text, refused = converted(tmp_path, Settings(style=style), SCRIPT.replace(old, new))
    assert len(refused) == 1 and reason in refused[0]
    assert "value_and_grad(forward_fn" in text and "TrainOneStepCell" not in text


def test_a_step_that_would_be_compiled_for_every_batch_is_not_compiled(tmp_path: Path) -> None:
    script = SCRIPT.replace(
        """        optimizer.zero_grad()
        loss = criterion(net(inputs), labels)
        loss.backward()
        optimizer.step()
""",
        "        loss = update(inputs, labels)\n",
    ).replace(
        "for epoch",
        """
def update(inputs, labels):
    optimizer.zero_grad()
    loss = criterion(net(inputs), labels)
    loss.backward()
    optimizer.step()
    return loss


for epoch""",
    )
    text, refused = converted(tmp_path, Settings(jit=True), script)
    assert len(refused) == 1 and "entered anew for every batch" in refused[0]
    assert "ms.jit" not in text


REPLACED = {
    "    if epoch == 1:\n        net.load_state_dict(first)\n": True,
    "    for p in net.parameters():\n        p.data = p.data * 0.5\n": True,
    "": False,
    "net.load_state_dict(first)\n": False,  # no step follows
}


@pytest.mark.parametrize(("more", "is_refused"), REPLACED.items())
@pytest.mark.parametrize("settings", [Settings(jit=True), Settings(jit_auto=True)], ids=["jit", "auto"])
def test_a_step_is_not_compiled_that_would_not_see_other_values_of_its_parameters(
    tmp_path: Path, settings: Settings, more: str, is_refused: bool
) -> None:
    script = SCRIPT.replace("for epoch", "first = net.state_dict()\nfor epoch").replace(
        "print('weights'", more + "print('weights'"
    )
    text, refused = converted(tmp_path, settings, script)
    assert ("ms.jit(" not in text) == is_refused
    assert [each for each in refused if "gives parameters other values" in each] == refused
    assert len(refused) == is_refused


def test_a_compiled_step_does_not_see_set_data(tmp_path: Path) -> None:
    """The quirk itself: once this fails, MindSpore has mended it, and such steps may be compiled."""
    script = """
import mindspore as ms
from mindspore import nn
net = nn.Dense(3, 2)
def forward_fn(x):
    return net(x).sum()
grad_fn = ms.jit(ms.value_and_grad(forward_fn, None, net.trainable_params()))
x = ms.ops.ones((4, 3))
before = grad_fn(x)[0].item()
net.bias.set_data(ms.Tensor([70.0, 80.0]))
print(grad_fn(x)[0].item() == before, forward_fn(x).item() > 500)
"""
    (tmp_path / "quirk.py").write_text(script)
    ran = subprocess.run([sys.executable, "quirk.py"], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert ran.stdout.splitlines()[-1:] == ["True True"], ran.stderr


def test_jit_and_another_style_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(MindferryError, match="--jit compiles the functional form"):
        converted(tmp_path, Settings(style="cell", jit=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", [Settings(style="cell"), Settings(jit=True), Settings(style="model")], ids=["cell", "jit", "model"]
)
def test_every_style_trains_to_the_same_losses(tmp_path: Path, settings: Settings) -> None:
    functional, other = run(tmp_path, Settings()), run(tmp_path, settings)
    losses = [float(line.split()[1]) for line in functional if line.startswith("loss")]
    found = [float(line.split()[1]) for line in other if line.startswith("loss")]
    if settings.style == "model":  # LossMonitor's lines
        found = [float(line.rpartition(" ")[2]) for line in other if line.startswith("epoch: ")]
    assert len(losses) == len(found) == 15 and losses[0] > losses[-1]
    assert found == pytest.approx(losses, rel=1e-5)
    theirs, ours = (float(lines[-1].split()[1]) for lines in (functional, other))
    assert ours == pytest.approx(theirs, rel=1e-5)


LENET = SCRIPT.replace(
    """    for inputs, labels in loader:
""",
    """    running_loss = 0.0
    for i, data in enumerate(loader, 0):
        inputs, labels = data
""",
).replace(
    "        print('loss', loss.item())\n",
    "        running_loss += loss.item()\n        if i % 4 == 3:\n            print(f'{epoch + 1} {running_loss / 4:.3f}')\n"
    "            running_loss = 0.0\n",
)


def test_a_sum_of_losses_that_is_only_printed_is_the_monitors_work(tmp_path: Path) -> None:
    text, refused = converted(tmp_path, Settings(style="model"), LENET)
    assert (
        refused == []
        and "callbacks = [ms.train.LossMonitor(4), ms.train.TimeMonitor()]" in text
        and "running_loss +=" not in text
    )


def test_epochs_go_to_the_model_where_they_only_set_the_mode_and_begin_sums_anew(tmp_path: Path) -> None:
    script = LENET.replace("    running_loss = 0.0\n    for", "    net.train()\n    running_loss = 0.0\n    for", 1)
    text, refused = converted(tmp_path, Settings(style="model"), script)
    assert refused == [] and "trainer.train(3, dataset," in text and "for epoch" not in text
    text, _ = converted(tmp_path, Settings(style="model"), script + "print(epoch)\n")
    assert "trainer.train(1, dataset," in text and "for epoch in range(3):" in text


def test_two_steps_in_one_file_get_cells_of_their_own(tmp_path: Path) -> None:
    made, loop = SCRIPT.index("net = nn"), SCRIPT.index("for epoch")
    inside = textwrap.indent(SCRIPT[made:], "    ")
    script = f"{SCRIPT[:made]}\n\ndef first():\n{inside}\n\ndef second():\n{inside}\n\nfirst()\nsecond()\n"
    text, refused = converted(tmp_path, Settings(style="cell"), script)
    assert refused == [] and "train_net = nn." in text and "train_net_ = nn." in text and "loss = train_net_(" in text

    text, refused = converted(tmp_path, Settings(style="cell"), SCRIPT + SCRIPT[loop:])
    assert refused == [] and "train_net = nn." in text and "loss = train_net_(" in text, "one optimizer, two losses"


def test_a_sum_of_losses_that_is_read_later_keeps_the_loop(tmp_path: Path) -> None:
    script = LENET + "print(running_loss)\n"
    text, refused = converted(tmp_path, Settings(style="model"), script)
    assert len(refused) == 1 and "running_loss += loss.item()" in refused[0] and "Model(" not in text


def automatic(folder: Path, script: str) -> tuple[str, list[str]]:
    return converted(folder, Settings(jit_auto=True), script)


def test_a_step_that_is_known_to_compile_is_compiled(tmp_path: Path) -> None:
    text, refused = automatic(tmp_path, SCRIPT)
    assert refused == [] and "ms.jit(ms.value_and_grad(" in text and "compiled_update(optimizer)" in text


NETWORK = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 2)
        self.calls = 0

    def forward(self, x):
        {}
        return self.fc(x)


net = Net()
"""


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("x = x.relu()", ""),
        ("x = helper(x)", ""),
        ("x = odd(x)", "`if "),
        ("self.calls += 1", "keeps something"),
        ("print(x.shape)", "print"),
        ("x = x * float(x.max().item())", "item"),
        ("import math", "`import`"),
    ],
)
def test_a_step_of_which_that_is_not_known_is_left_with_the_reason(tmp_path: Path, line: str, reason: str) -> None:
    functions = "def helper(x):\n    return x * 2\n\n\ndef odd(x):\n    if x.sum().item() > 0:\n        return x\n    return -x\n\n\n"
    start = SCRIPT.index("net = nn.Sequential")
    end = SCRIPT.index("net.train()")
    text, refused = automatic(tmp_path, SCRIPT[:start] + functions + NETWORK.format(line) + SCRIPT[end:])
    if not reason:
        assert refused == [] and "ms.jit(" in text
    else:
        assert len(refused) == 1 and reason in refused[0] and "ms.jit" not in text


def test_a_network_from_another_file_is_not_compiled_unseen(tmp_path: Path) -> None:
    start, end = SCRIPT.index("net = nn.Sequential"), SCRIPT.index("net.train()")
    script = SCRIPT[:start] + "from elsewhere import net\n" + SCRIPT[end:]
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "elsewhere.py").write_text("from torch import nn\n\nnet = nn.Linear(6, 2)\n")
    text, refused = automatic(tmp_path, script)
    assert len(refused) == 1 and "not defined in this file" in refused[0] and "ms.jit" not in text


PARTS = """
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 2), nn.Linear(3, 2)
        for p in self.parameters():
            p.data.copy_(torch.from_numpy(np.cos(np.arange(p.numel())).reshape(p.shape).astype("float32")))

    def forward(self, a, b):
        return self.first(a) + self.second(b)


class Loss(nn.Module):
    def forward(self, out, wanted, share):
        return ((out - wanted) ** 2 * share).mean()


a = torch.arange(480).reshape(80, 6).float() % 17 / 17
data = TensorDataset(a, a[:, :3] ** 2, a[:, 2:4], a[:, 4:5])
net, criterion = Net(), Loss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
loader = DataLoader(data, batch_size=16)
for epoch in range(3):
    for a, b, wanted, share in loader:
        optimizer.zero_grad()
        loss = criterion(net(a, b), wanted, share)
        loss.backward()
        optimizer.step()
print('weights', [round(p.abs().sum().item(), 4) for p in net.parameters()])
"""


def test_batches_of_several_parts_go_to_the_network_and_to_the_loss(tmp_path: Path) -> None:
    (tmp_path / "original.py").write_text(PARTS)
    original = subprocess.run([sys.executable, tmp_path / "original.py"], capture_output=True, text=True, check=True)
    wanted = original.stdout.splitlines()[-1]
    for style, made in (
        ("cell", "train_net = nn.TrainOneStepCell(ms_compat.NetworkWithLoss(net, criterion, 2), optimizer)\n"),
        ("model", "dataset = ms_compat.as_dataset(loader, ['a', 'b', 'wanted', 'share'])\n"),
    ):
        text, refused = converted(tmp_path, Settings(style=style), PARTS)
        assert refused == [] and made in text
        assert run(tmp_path, Settings(style=style), PARTS)[-1] == wanted


MADE_OF_BLOCKS = """class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return x + self.fc(x) / math.sqrt(x.shape[-1])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks, self.head = self._make(2), {}

    def _make(self, count):
        print(count)
        return nn.Sequential(*[Block(6) for _ in range(count)])

    def forward(self, x):
        return self.head(self.blocks(x))


net = Net()
"""


def test_what_only_the_constructor_calls_is_not_compiled_and_recurrent_layers_stay_kernels(tmp_path: Path) -> None:
    start, end = SCRIPT.index("net = nn.Sequential"), SCRIPT.index("net.train()")
    script = "import math\n" + SCRIPT[:start] + MADE_OF_BLOCKS + SCRIPT[end:]
    text, refused = automatic(tmp_path, script.format("nn.Linear(6, 2)"))
    assert refused == [] and "ms.jit(" in text
    text, refused = automatic(tmp_path, script.format("nn.LSTM(6, 2)"))
    assert len(refused) == 1 and "LSTM runs as one kernel" in refused[0] and "ms.jit" not in text
