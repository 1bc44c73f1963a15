"""What untyped code shows of itself: tensors by their use, functions by what they hand on, tricks by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.analyze import analyze_project
from mindferry.artifacts import Inventory

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def analyze(folder: Path, code: str, name: str = "main.py") -> Inventory:
    (folder / name).write_text(HEAD + code)
    return analyze_project(folder)


def lines(inventory: Inventory) -> list[str]:
    text = Path(inventory.root, "main.py").read_text().splitlines()
    return [text[place.line - 1].strip() for place in inventory.dynamic]


@pytest.mark.parametrize(
    "line",
    [
        "y = x[x.float() > 0]",
        "x, z = x[keep_mask], x",
        "y = x[:, :box[1]]",
        "y = torch.arange(len(torch.unique(x)))",
        "y = torch.zeros(chosen(x).size(0))",
        "y = x[torch.any(x.unsqueeze(1) == x, dim=1)]",
    ],
)
def test_a_shape_from_data_is_seen_without_types(tmp_path: Path, line: str) -> None:
    code = f"def chosen(x):\n    return x.nonzero()\n\ndef run(x, keep_mask, box):\n    x = x.unsqueeze(0)\n    {line}\n    return y\n"
    assert line in lines(analyze(tmp_path, code))


@pytest.mark.parametrize(
    "line",
    [
        "y = x[:, :self.columns[name][1]]",  # a setting
        "y = x[:, :pad_size[1]]",
        "y = x[:, x.size(1) // 2:]",
        "y = [part for part in range(len(x))]",
    ],
)
def test_a_shape_from_settings_is_left_alone(tmp_path: Path, line: str) -> None:
    code = f"def run(self, x, pad_size, name):\n    x = x.unsqueeze(0)\n    {line}\n    return y\n"
    assert lines(analyze(tmp_path, code)) == []


def test_a_tensor_grows_in_a_loop_that_counts_and_not_in_one_over_layers(tmp_path: Path) -> None:
    code = "def run(x, layers, n):\n    for layer in layers:\n        x = torch.cat((x, layer(x)), 1)\n    for _ in range(n):\n        x = torch.cat((x, x[:, -1:]), 1)\n    return x\n"
    assert lines(analyze(tmp_path, code)) == ["x = torch.cat((x, x[:, -1:]), 1)"]


CLASSES = """
def exists(x):
    return x is not None

def scaled(x):
    return x.gather(-1, x) * 2

def both(x):
    return scaled(x)

class Function(torch.autograd.Function):
    @staticmethod
    def _half(x):
        return x / 2

class Net(nn.Module):
    def predict(self, x):
        return scaled(x) + 1

    @classmethod
    def from_name(cls, name):
        return cls(name)

    def names(self):
        return ["a"]

class Window:
    def append(self, loss: torch.Tensor) -> None:
        self.losses.append(loss)

class Trainer:
    def wait(self):
        self.accelerator.wait_for_everyone()

    def save(self, path):
        torch.save(self.net.state_dict(), path)

    def load(self, path):
        self.net.load_state_dict(torch.load(path))
"""


def test_functions_move_by_what_they_touch_and_hand_on(tmp_path: Path) -> None:
    kinds = {entry.function: entry.kind for entry in analyze(tmp_path, CLASSES).code}
    assert {name for name, kind in kinds.items() if kind == "plain"} == {"exists", "Net.names", "Window.append"}
    assert kinds["both"] == kinds["Net.predict"] == kinds["Function._half"] == kinds["Trainer.wait"] == "execution"
    assert (kinds["Net.from_name"], kinds["Trainer.save"], kinds["Trainer.load"]) == ("construction", "output", "input")


@pytest.mark.parametrize(
    ("code", "trick"),
    [
        (
            "import torch_optimizer as optim\nopt = optim.DiffGrad(nn.Linear(1, 1).parameters(), lr=0.01)\n",
            ("optimizer", "DiffGrad", "lr=0.01"),
        ),
        (
            "def f(accelerator, net):\n    accelerator.clip_grad_norm_(net.parameters(), 2.0)\n",
            ("training", "gradient clipping by norm", "2"),
        ),
        (
            "def f(net, flag):\n    for p in net.parameters():\n        p.requires_grad = flag\nf(nn.Linear(1, 1), False)\n",
            ("training", "freezing", ""),
        ),
        (
            "class T:\n    def __init__(self, train_num_steps=500):\n        self.train_num_steps = train_num_steps\n    def go(self):\n        while self.step < self.train_num_steps:\n            self.step += 1\n",
            ("epochs", "steps", "500"),
        ),
        ("def f(scaler, loss):\n    scaler.scale(loss).backward()\n", ("training", "loss scaling", "")),
        (
            "def f(x, args, i):\n    if (i + 1) % args.accum_freq:\n        return\n",
            ("training", "gradient accumulation", "args.accum_freq"),
        ),
        ("class SinusoidalPosEmb(nn.Module): pass\n", ("structure", "SinusoidalPosEmb", "")),
    ],
)
def test_a_trick_is_told_by_how_it_is_written(tmp_path: Path, code: str, trick: tuple[str, str, str]) -> None:
    assert trick in {(each.topic, each.name, each.value) for each in analyze(tmp_path, code).tricks}


def test_settings_of_an_inference_and_samples_of_an_order_are_no_tricks(tmp_path: Path) -> None:
    code = "def detect(x):\n    batch_size = 512\n    order = torch.randperm(9)\n    return x[order[:4]]\n\ndef solve(x, iterations):\n    for _ in range(iterations):\n        x = x / x.sum()\n    return x\n"
    assert analyze(tmp_path, code).tricks == ()


def test_a_package_is_told_by_its_name_and_the_project_s_own_is_none(tmp_path: Path) -> None:
    root = tmp_path / "own_pytorch"
    root.mkdir()
    inventory = analyze(root, "from own_pytorch.parts import Part\nimport sketch_pytorch\nimport numpy\n")
    assert [place.what for place in inventory.special] == ["sketch_pytorch"]


def test_changing_a_caller_s_tensor_in_place_is_told_from_changing_one_s_own(tmp_path: Path) -> None:
    code = "def callers(x):\n    x -= x.max(dim=1, keepdim=True)[0]\n    return x\n\ndef own(x):\n    x = x.float()\n    x -= 1\n    return x\n"
    assert [place.line for place in analyze(tmp_path, code).special] == [5]


def test_what_is_computed_from_a_tensor_is_one(tmp_path: Path) -> None:
    code = "def f(x):\n    total = 1 - x.float().mul(2) / 3\n    total[1:4] = 0\n    sizes = x.tolist()\n    sizes[0] = 0\n    return total\n"
    assert [(place.topic, place.line) for place in analyze(tmp_path, code).special] == [("in-place", 6)]


def test_a_network_of_another_package_s_base_is_a_network_and_what_it_holds_a_block(tmp_path: Path) -> None:
    code = "from elsewhere import SegmentationModel\nclass Decoder(nn.Module): pass\nclass Unet(SegmentationModel):\n    def __init__(self):\n        self.decoder = Decoder()\n"
    inventory = analyze(tmp_path, code)
    assert {part.name: part.kind for part in inventory.parts} == {"Decoder": "block", "Unet": "network"}
    assert [port.name for port in inventory.ports] == ["unet"]


def test_a_method_that_no_tensor_has_is_no_missing_api(tmp_path: Path) -> None:
    code = "def f(image: torch.Tensor, mask: torch.ByteTensor):\n    return image.crop((1, 2)), mask.dim(), image.crow_indices()\n"
    apis = {use.api: use.kind for use in analyze(tmp_path, code).apis if use.kind in ("missing", "unknown")}
    assert apis == {"torch.Tensor.crow_indices": "unknown"}
