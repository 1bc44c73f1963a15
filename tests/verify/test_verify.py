"""`mindferry verify`, from the command line to the verdict, with both frameworks running."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from mindferry.artifacts import Comparison, FileConversion, ProjectConversion, load, save
from mindferry.cli.verify import command
from mindferry.errors import MindferryError
from mindferry.testing import assert_same
from mindferry.verify.live import compare

from .twins import RESNET

DATA_T = """
def data():
    generator = torch.Generator().manual_seed(3)
    for _ in range(3):
        yield torch.randn(5, 3, 16, 16, generator=generator), torch.randint(0, 10, (5,), generator=generator)
"""
DATA_M = """
def data():
    file = np.load("data.npz")
    for start in range(0, 15, 5):
        yield Tensor(file["x"][start : start + 5]), Tensor(file["y"][start : start + 5])
"""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def projects(folder: Path, **changes: str) -> tuple[Path, Path]:
    return replace(RESNET, **changes).write(folder)


def test_a_faithful_conversion_passes_in_every_mode_and_is_saved(tmp_path: Path) -> None:
    torch_side, mindspore_side = projects(tmp_path)
    options = ("--model", "net:Net", "--input", "float32[4,3,16,16]", "--modes", "eval,train,jit")
    result = run(mindspore_side, "--torch", torch_side, *options)
    assert result.exit_code == 0, result.output
    comparison = load(Comparison, mindspore_side, "verify")
    assert comparison.passed and not comparison.culprits and not comparison.unmatched
    kinds = {(d.mode, d.kind) for d in comparison.differences}
    assert kinds == {  # gradients in eval mode too, since the network's own code asks for the mode
        *(("eval", kind) for kind in ("network", "output", "gradient", "parameter", "input gradient")),
        *(("train", kind) for kind in ("output", "gradient", "parameter", "buffer", "input gradient", "network")),
        ("jit", "network"),
    }
    outputs = [(d.name, d.call) for d in comparison.differences if (d.mode, d.kind) == ("eval", "output")]
    assert outputs[:5] == [("stem", 0), ("pool", 0), ("layers.0.conv1", 0), ("layers.0.bn1", 0), ("layers.0.relu", 0)]
    assert ("layers.0.relu", 1) in outputs and outputs[-1] == ("", 0)
    stem = next(d for d in comparison.differences if d.name == "stem")
    assert math.isnan(stem.reference_error) and stem.tolerance == 5e-6, "within the floor, nothing has to be measured"


def test_a_wrong_conversion_exits_with_1_and_names_the_module(tmp_path: Path) -> None:
    torch_side, mindspore_side = projects(tmp_path, mindspore=RESNET.mutate("eps=1e-5", "eps=1e-3").mindspore)
    result = run(mindspore_side, "--torch", torch_side, "--model", "net:Net", "--input", "float32[4,3,16,16]")
    assert result.exit_code == 1
    assert "First divergence: layers.0.bn1, and then layers.1.bn1, layers.2.bn1." in result.output


def test_the_folder_alone_will_do_with_a_record_and_a_toml(tmp_path: Path) -> None:
    torch_side, mindspore_side = projects(tmp_path)
    (torch_side / "mindferry.toml").write_text(
        '[weights]\nfile = "missing.pth"\n[verify]\nmodel = "net:Net"\ninputs = ["float32[2,3,16,16]"]\nmodes = "eval"\n'
    )
    untouched = hashlib.sha256((mindspore_side / "net.py").read_bytes()).hexdigest()
    files = (FileConversion("net.py", "converted", untouched),)
    save(ProjectConversion(str(torch_side), str(mindspore_side), files), mindspore_side, "convert")
    result = run(mindspore_side, "--json")
    assert result.exit_code == 4, result.output
    written = json.loads(result.output)
    assert not written["passed"] and written["outcome"] == "same as far as compared"
    assert [gap["name"] for gap in written["coverage"]["gaps"]] == ["train"]
    assert written["inputs"] == "float32[2,3,16,16]"
    assert "missing.pth is not there" in written["notes"][0]


@pytest.mark.parametrize("label", [0, 1])
def test_predictions_are_compared_over_both_pipelines(tmp_path: Path, label: int) -> None:
    import torch

    torch_side, mindspore_side = projects(tmp_path, torch=RESNET.torch + DATA_T, mindspore=RESNET.mindspore + DATA_M)
    namespace: dict[str, object] = {"torch": torch}
    exec(DATA_T, namespace)
    images, labels = (torch.cat(part).numpy() for part in zip(*namespace["data"](), strict=True))  # type: ignore[operator]
    np.savez(mindspore_side / "data.npz", x=images, y=labels + label)
    options = ("--model", "net:Net", "--input", "float32[2,3,16,16]", "--modes", "eval", "--test-data", "net:data")
    result = run(mindspore_side, "--torch", torch_side, *options)
    predictions = load(Comparison, mindspore_side, "verify").predictions
    assert predictions is not None and predictions.samples == predictions.agree == 15
    assert result.exit_code == (label or 4) and bool(predictions.note) == bool(label)  # 4: no train mode
    assert (predictions.accuracy == predictions.reference_accuracy) == (label == 0)


def test_weights_come_from_a_checkpoint(tmp_path: Path) -> None:
    import torch

    torch_side, mindspore_side = projects(tmp_path)
    module, _ = RESNET.load(tmp_path / "other")
    with torch.no_grad():
        module.fc.weight *= 1000.0
    torch.save({"model": module.state_dict()}, tmp_path / "net.pth")
    options = ("--model", "net:Net", "--input", "float32[2,3,16,16]", "--modes", "eval", "--json")
    result = run(mindspore_side, "--torch", torch_side, *options, "--weights", tmp_path / "net.pth")
    assert result.exit_code == 4  # train mode was not asked for
    logits = next(d for d in json.loads(result.output)["differences"] if d["name"] == "fc")
    assert logits["max_abs"] / logits["max_rel"] > 100  # the size of the outputs


def test_assert_same_passes_and_fails_with_a_message(tmp_path: Path) -> None:
    module, cell = RESNET.load(tmp_path / "right")
    assert_same(module, cell, "float32[4,3,16,16]")
    module, cell = RESNET.mutate("y = y + x", "y = y - x").load(tmp_path / "wrong")
    with pytest.raises(AssertionError, match=r"First divergence: layers\.0, and then layers\.1, layers\.2"):
        assert_same(module, cell, np.random.default_rng(0).normal(size=(2, 3, 16, 16)).astype("float32"))


def test_gradients_in_eval_mode_alone_and_what_float32_itself_errs(tmp_path: Path) -> None:
    module, cell = RESNET.mutate("y = y + x", "y = y + ops.stop_gradient(x)").load(tmp_path)
    comparison = compare(module, cell, "float32[2,3,16,16]", modes=("eval",))
    assert comparison.culprits == ("layers.2", "layers.1", "layers.0")
    weight = next(d for d in comparison.differences if d.name == "fc.weight")
    assert weight.passed and 0 < weight.own_reference_error < 1e-5


def test_a_loss_and_an_optimizer_are_compared(tmp_path: Path) -> None:
    losses = (
        "def loss(output, target):\n    return F.cross_entropy(output, target)\n",
        "def loss(output, target):\n    return ops.cross_entropy(output, target, reduction='REDUCTION')\n",
    )
    found = {}
    for reduction in ("mean", "sum"):
        twin = replace(
            RESNET,
            torch=RESNET.torch + losses[0],
            mindspore=RESNET.mindspore + losses[1].replace("REDUCTION", reduction),
        )
        torch_side, mindspore_side = twin.write(tmp_path / reduction)
        (torch_side / "mindferry.toml").write_text(
            '[verify]\nmodel = "net:Net"\ninputs = ["float32[4,3,16,16]"]\nmodes = "train"\n'
            'loss = "net:loss"\ntargets = ["int64[4]@0..10"]\noptimizer = "net:optimizer"\n'
        )
        result = run(mindspore_side, "--torch", torch_side)
        assert result.exit_code == (1 if reduction == "sum" else 4), result.output  # 4: eval was not asked for
        found[reduction] = {d.kind: d for d in load(Comparison, mindspore_side, "verify").differences}
    assert load(Comparison, mindspore_side, "verify").culprits[0] == "the loss"
    assert found["mean"]["loss"].passed and not found["sum"]["loss"].passed
    assert all(found[reduction]["update"].passed for reduction in found)


def test_a_random_reference_shares_its_numbers(tmp_path: Path) -> None:
    """Stochastic depth: no dropout layer to switch off, and the two frameworks' own numbers differ."""
    twin = replace(
        RESNET,
        torch=RESNET.torch.replace("y += x", "y = y * (torch.rand(1) if self.training else 1) + x"),
        mindspore=RESNET.mutate("y = y + x", "y = y * (ops.rand(1) if self.training else 1) + x").mindspore,
    )
    comparison = compare(*twin.load(tmp_path), "float32[2,3,16,16]")
    assert comparison.passed, (comparison.culprits, comparison.coverage)
    assert comparison.coverage is not None and not comparison.coverage.gaps


def test_a_fault_late_in_a_noisy_network_is_told_from_noise(tmp_path: Path) -> None:
    """In train mode on two samples the norms amplify rounding; on the reference's values nothing is amplified."""
    module, cell = RESNET.mutate("self.bn2 = nn.BatchNorm2d(c)", "self.bn2 = nn.BatchNorm2d(c, eps=1.2e-5)").load(
        tmp_path
    )
    comparison = compare(module, cell, "float32[2,3,16,16]", modes=("train",))
    assert comparison.culprits[0] == "layers.0.bn2"


BAD = {
    "no torch project": (("--torch", "nowhere", "--model", "net:Net", "--input", "float32[1]"), "no torch project in"),
    "no model named": (("--torch", "{torch}"), "which model? Name its factory with --model"),
    "no input named": (("--torch", "{torch}", "--model", "net:Net"), "which input? Describe it with --input"),
    "no such module": (("--torch", "{torch}", "--model", "nett:Net", "--input", "float32[1]"), "no module 'nett' in"),
    "no such factory": (("--torch", "{torch}", "--model", "net:Nut", "--input", "float32[1]"), "net has no 'Nut'"),
    "not a model": (
        ("--torch", "{torch}", "--model", "net:number", "--input", "float32[1]"),
        "gave a int, not a torch",
    ),
    "not an input": (
        ("--torch", "{torch}", "--model", "net:Net", "--input", "float33[1]"),
        "'float33[1]' is not an input",
    ),
    "wrong shape": (
        ("--torch", "{torch}", "--model", "net:Net", "--input", "float32[1,7,16,16]"),
        "in the eval run on float32[1,7,16,16] (net.py line ",
    ),
    "no weights": (
        ("--torch", "{torch}", "--model", "net:Net", "--input", "float32[1]", "--weights", "w"),
        "no weights file",
    ),
    "no mode": (
        ("--torch", "{torch}", "--model", "net:Net", "--input", "float32[1]", "--modes", "evil"),
        "no mode 'evil'",
    ),
    "NaN": (("--torch", "{torch}", "--model", "net:nan", "--input", "float32[2]"), "the reference gives NaN in"),
    "other tree": (
        ("--torch", "{torch}", "--model", "net:other", "--input", "float32[2,3]"),
        "other and torch's net:other are not the same network: only MindSpore has v.weight, v.bias; only torch has w.weight, w.bias; check",
    ),
    "raises on import": (
        ("--torch", "{torch}", "--model", "raising:Net", "--input", "float32[1]"),
        "the torch worker failed in building raising:Net (raising.py line 2): RuntimeError: needs a GPU",
    ),
    "raises when called": (
        ("--torch", "{torch}", "--model", "net:broken", "--input", "float32[1]"),
        "the torch worker failed in building net:broken (net.py line ",
    ),
    "raises on import in MindSpore": (
        ("--torch", "{torch}", "--model", "fine:Net", "--input", "float32[1,3,16,16]", "--modes", "eval"),
        "the MindSpore worker failed in building fine:Net (fine.py line 2): RuntimeError: needs an NPU",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_sentence(tmp_path: Path, what: str) -> None:
    extra_t = (
        "def number():\n    return 3\n"
        "def broken():\n    raise ValueError('no such depth')\n"
        "class nan(nn.Module):\n    def forward(self, x):\n        return x / 0 * 0\n"
        "class other(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = nn.Linear(3, 3)\n"
        "    def forward(self, x):\n        return self.w(x)\n"
    )
    extra_m = (
        "class other(nn.Cell):\n    def __init__(self):\n        super().__init__()\n        self.v = nn.Dense(3, 4)\n"
        "    def construct(self, x):\n        return self.v(x)\n"
    )
    torch_side, mindspore_side = projects(tmp_path, torch=RESNET.torch + extra_t, mindspore=RESNET.mindspore + extra_m)
    (torch_side / "raising.py").write_text("import torch\nraise RuntimeError('needs a GPU')\n")
    (torch_side / "fine.py").write_text("from net import Net\n")
    (mindspore_side / "fine.py").write_text("import mindspore\nraise RuntimeError('needs an NPU')\n")
    arguments, expected = BAD[what]
    result = run(mindspore_side, *(a.format(torch=torch_side) for a in arguments))
    assert isinstance(result.exception, MindferryError), result.output
    assert expected in str(result.exception) and "Traceback" not in str(result.exception)
    assert not (mindspore_side / ".mindferry").exists()


def test_the_written_comparison_is_plain_json_and_comes_back(tmp_path: Path) -> None:
    module, cell = RESNET.mutate("self.layers(self.pool(self.stem(x)))", "self.layers(self.stem(x))").load(tmp_path)
    comparison = compare(module, cell, "float32[2,3,16,16]", modes=("eval",))
    save(comparison, tmp_path, "verify")
    text = (tmp_path / ".mindferry" / "verify.json").read_text()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    back = load(Comparison, tmp_path, "verify")
    assert [d.passed for d in back.differences] == [d.passed for d in comparison.differences]
    assert back.culprits == ("the network",) and back.unmatched == ("pool: only in torch",)


@pytest.mark.parametrize(
    ("operator", "said"),
    [
        ("ops.AllReduce()(x)", "the MindSpore worker died in layers.0 (Block)"),  # without communication: SIGSEGV
        (
            "ops.layer_norm(x, x.shape[1:], ops.ones(x.shape[1:]), ops.ones(x.shape[1:]))",
            "the MindSpore worker failed in layers.0 (Block)",
        ),
    ],
)
def test_an_operator_that_fails_is_reported_with_its_module(tmp_path: Path, operator: str, said: str) -> None:
    twin = RESNET.mutate("y = y + x", f"y = y + {operator}")
    torch_side, mindspore_side = twin.write(tmp_path)
    options = ("--model", "net:Net", "--input", "float32[2,3,16,16]", "--modes", "eval")
    result = run(mindspore_side, "--torch", torch_side, *options)
    message = str(result.exception)
    assert isinstance(result.exception, MindferryError) and said in message, message
    assert "net.py" in message and str(twin.mindspore.splitlines().index(f"        y = y + {operator}") + 4) in message


@pytest.mark.parametrize("framework", ["torch", "MindSpore"])
def test_a_model_that_hangs_is_ended_and_reported_with_its_line(tmp_path: Path, framework: str) -> None:
    torch_side, mindspore_side = RESNET.write(tmp_path)
    path = (torch_side if framework == "torch" else mindspore_side) / "net.py"
    path.write_text(
        path.read_text().replace("        y = self.bn2(", "        while True: pass\n        y = self.bn2(")
    )
    line = path.read_text().splitlines().index("        while True: pass") + 1
    options = ("--model", "net:Net", "--input", "float32[2,3,16,16]", "--modes", "eval", "--timeout", "30")
    result = run(mindspore_side, "--torch", torch_side, *options)
    message = str(result.exception)
    place = "the eval run on float32[2,3,16,16]" if framework == "torch" else "layers.0 (Block)"
    assert isinstance(result.exception, MindferryError), result.output
    assert message.startswith(f"the {framework} worker hung in {place} (net.py, line {line} in ") and message.endswith(
        "said nothing for 30 s"
    ), message
