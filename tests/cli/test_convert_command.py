"""`mindferry convert` as it is typed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mindferry", "convert", *map(str, arguments)], capture_output=True, text=True
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/net.py").write_text("import torch\nx = torch.zeros(2)\ny = torch.ops.aten.add(x)\n")
    (tmp_path / "p/requirements.txt").write_text("torch\n")
    return tmp_path / "p"


def test_check_and_diff_print_what_would_change_and_write_nothing(source: Path, tmp_path: Path) -> None:
    done = run(source, "--check", "--diff")
    assert done.returncode == 1
    assert (
        "--- a/net.py\n+++ b/net.py\n" in done.stdout
        and "-x = torch.zeros(2)\n" in done.stdout
        and "+x = ops.zeros((2,))\n" in done.stdout
    )
    assert "-torch\n+mindspore==2.10.0\n+numpy<2\n" in done.stdout
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["net.py", "p", "requirements.txt"]


def test_diff_after_writing(source: Path, tmp_path: Path) -> None:
    for _ in range(2):  # a file that need not be converted again still differs from its original
        assert "+x = ops.zeros((2,))\n" in run(source, "-o", tmp_path / "out", "--diff").stdout


def test_sarif_names_the_code_and_the_place(source: Path) -> None:
    body = json.loads(run(source, "--check", "--format", "sarif").stdout)
    (result,) = body["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (
        result["ruleId"] == "MF100" and result["level"] == "error" and "torch.ops.aten.add" in result["message"]["text"]
    )
    assert place == {"artifactLocation": {"uri": "net.py"}, "region": {"startLine": 3, "startColumn": 5}}
    assert body["version"] == "2.1.0" and [rule["id"] for rule in body["runs"][0]["tool"]["driver"]["rules"]] == [
        "MF100"
    ]


def test_json_by_either_option(source: Path) -> None:
    first, second = run(source, "--check", "--json").stdout, run(source, "--check", "--format", "json").stdout
    assert json.loads(first) == json.loads(second) and json.loads(first)["kind"] == "ProjectConversion"


def test_rules_and_targets_by_option(source: Path, tmp_path: Path) -> None:
    done = run(source / "net.py", "-o", tmp_path / "a", "--skip", "torch.zeros", "--skip", "torch.ones*")
    assert (
        "MF103 torch.zeros: left as it was" in done.stdout and "torch.zeros(2)" in (tmp_path / "a/net.py").read_text()
    )
    refused = run(source, "--check", "--only", "torch.zeroes")
    assert refused.returncode == 2 and refused.stderr.startswith("mindferry: torch.zeroes matches no rule")
    (source / "pad.py").write_text("import torch\nx = torch.argmax(y)\n")
    run(source / "pad.py", "-o", tmp_path / "b", "--target", "ascend")
    assert "mint.argmax" in (tmp_path / "b/pad.py").read_text()


def test_a_second_run_says_what_it_did_not_do(source: Path, tmp_path: Path) -> None:
    run(source, "-o", tmp_path / "out")
    assert "(1 as before)" in run(source, "-o", tmp_path / "out").stdout


def test_notes_that_answer_an_option_are_printed_and_change_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import torch\n\n\ndef f(x: torch.Tensor):\n    return torch.tanh(x)\n")
    done = run(tmp_path / "net.py", "-o", tmp_path / "out", "--prefer", "native", "--jit", "auto")
    assert done.returncode == 0, done.stderr
    assert "MF211 mindspore.ops.tanh differs from torch's by up to 1e-04" in done.stdout and "0 findings" in done.stdout
