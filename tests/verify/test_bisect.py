"""`--bisect`: from a failing module to the setting, the line or the parameter, and a script that shows it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mindferry.artifacts import Comparison, load
from mindferry.cli.verify import command
from mindferry.frameworks.requests import SourceText
from mindferry.verify.gradient_line import gradient_lines

from .twins import GAN, RESNET, VIT, Twin

CASES = {
    "a setting": (RESNET.mutate("eps=1e-5", "eps=1e-3"), "Its eps is 1e-05 in torch and 0.001 in MindSpore."),
    "a line": (VIT.mutate("axis=-1)", "axis=-2)"), "    a = ops.softmax(a, axis=-2)\n"),
    "the line that calls": (
        VIT.mutate("self.fc2(self.act(", "self.fc2(self.act(0.5 * "),
        "uses act:\n    return self.fc2(self.act(0.5 * self.fc1(self.norm(x))))\n",
    ),
    "the line that returns": (GAN.mutate("* 0.5 + 0.5", "* 0.5 - 0.5"), "    return self.main(x) * 0.5 - 0.5\n"),
    "a gradient that is cut": (
        RESNET.mutate("y = y + x", "y = y + ops.stop_gradient(x)"),
        "stops the gradient, torch does not:\n    y = y + ops.stop_gradient(x)\n",
    ),
    "a statistic": (
        GAN.mutate("nn.BatchNorm2d(8)", "nn.BatchNorm2d(8, momentum=0.99)"),
        "Its momentum is 0.1 in torch and 0.01 in MindSpore (as torch counts it).",
    ),
}


def bisect(twin: Twin, folder: Path, modes: str = "eval,train") -> tuple[str, Path]:
    torch_side, mindspore_side = twin.write(folder)
    options = [
        "--torch",
        str(torch_side),
        "--model",
        "net:Net",
        "--input",
        twin.inputs[0],
        "--modes",
        modes,
        "--bisect",
    ]
    result = CliRunner().invoke(command, [str(mindspore_side), *options])
    assert result.exit_code == 1, result.output
    return result.output, mindspore_side


@pytest.mark.parametrize("what", CASES)
def test_the_culprit_is_found_inside_the_module(tmp_path: Path, what: str) -> None:
    twin, expected = CASES[what]
    output, folder = bisect(twin, tmp_path)
    assert expected in output.replace("0.010000000000000009", "0.01")
    assert "\n".join(load(Comparison, folder, "verify").diagnosis) in output
    if what == "a line":
        assert "    a = a.softmax(-1)" in output


@pytest.mark.parametrize(
    ("theirs", "ours", "names", "said"),
    [
        (
            "y = x.detach()\nreturn y",
            "y = x\nreturn y",
            [],
            "b.py:10 lets the gradient through, torch stops it:\n    y = x",
        ),
        (
            "return self.fc(x) * self.g",
            "return self.fc(x) * self.g",
            ["g"],
            "b.py:10 uses g:\n    return self.fc(x) * self.g",
        ),
        ("return x", "return x * 2", ["g"], ""),
    ],
)
def test_the_line_of_a_gradient_is_read_from_both_methods(theirs: str, ours: str, names: list[str], said: str) -> None:
    found = gradient_lines(SourceText("a.py", 3, theirs), SourceText("b.py", 10, ours), names)
    assert found.startswith(said) if said else not found


def test_train_mode_alone_will_do(tmp_path: Path) -> None:
    output, _ = bisect(RESNET.mutate("eps=1e-5", "eps=1e-3"), tmp_path, "train")
    assert "Its eps is 1e-05 in torch and 0.001 in MindSpore." in output


def test_the_script_shows_the_error_and_not_without_the_fault(tmp_path: Path) -> None:
    fault = RESNET.mutate("y = y + x", "y = y - x")
    _, folder = bisect(fault, tmp_path)
    script = folder / ".mindferry" / "reproduce.py"
    errors = []
    for twin in (fault, RESNET):
        twin.write(tmp_path)
        environment = {**os.environ, "GLOG_v": "4"}
        done = subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, env=environment, cwd=tmp_path, check=True
        )
        errors.append(float(done.stdout.split()[-1]))
    assert errors[0] > 0.1 and errors[1] < 1e-5
