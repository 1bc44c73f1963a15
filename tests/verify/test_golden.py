"""Recording on one machine, comparing on another: the golden file, the stand-alone script, broken files."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from mindferry.cli.record import command as record
from mindferry.cli.verify import command as verify
from mindferry.errors import MindferryError
from mindferry.verify.golden import open_golden
from mindferry.verify.standalone import standalone

from .twins import LSTM, RESNET


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The resnet twin, recorded by the stand-alone script with mindferry and numpy out of reach."""
    folder = tmp_path_factory.mktemp("golden")
    torch_side, _ = RESNET.write(folder)
    (folder / "record.py").write_text(standalone())
    (folder / "hidden").mkdir()
    (folder / "hidden" / "mindferry.py").write_text("raise ImportError('mindferry is not here')")
    output = folder / "net.golden"
    arguments = ["--project", str(torch_side), "--model", "net:Net", "--input", "float32[4,3,16,16]", "-o", str(output)]
    environment = {**os.environ, "PYTHONPATH": str(folder / "hidden")}
    subprocess.run([sys.executable, str(folder / "record.py"), *arguments], check=True, env=environment)
    return output


def test_a_recorded_reference_is_compared_without_the_torch_project(golden: Path, tmp_path: Path) -> None:
    _, mindspore_side = RESNET.write(tmp_path)
    result = CliRunner().invoke(verify, [str(mindspore_side), "--golden", str(golden)])
    assert result.exit_code == 0, result.output
    _, mindspore_side = RESNET.mutate("y = y + x", "y = y - x").write(tmp_path / "wrong")
    result = CliRunner().invoke(verify, [str(mindspore_side), "--golden", str(golden)])
    assert result.exit_code == 1 and "First divergence: layers.0, and then layers.1, layers.2." in result.output


def test_the_command_records_what_the_script_records(golden: Path, tmp_path: Path) -> None:
    torch_side, _ = RESNET.write(tmp_path)
    output = tmp_path / "again.golden"
    options = ["--model", "net:Net", "--input", "float32[4,3,16,16]", "-o", str(output), "--json"]
    result = CliRunner().invoke(record, [str(torch_side), *options])
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["reference"] == "float64"
    one, other = open_golden(golden), open_golden(output)
    assert one.entries.keys() == other.entries.keys()
    assert all(np.array_equal(one.array(key), other.array(key)) for key in one.entries)


def test_the_file_is_in_safetensors_format(golden: Path) -> None:
    from safetensors import safe_open

    with safe_open(golden, "np") as file:
        own = open_golden(golden)
        assert set(file.keys()) == set(own.entries)
        assert np.array_equal(file.get_tensor("weights/stem.weight"), own.array("weights/stem.weight"))


def test_the_script_is_written_on_request(tmp_path: Path) -> None:
    result = CliRunner().invoke(record, ["--script", "-o", str(tmp_path / "record.py")])
    text = (tmp_path / "record.py").read_text()
    assert result.exit_code == 0 and "from ." not in text and "import mindferry" not in text
    compile(text, "record.py", "exec")


def broken(kind: str, good: bytes) -> bytes:
    length = int.from_bytes(good[:8], "little")
    return {
        "empty": b"",
        "text": b"not a golden file at all, but long enough to have a header length",
        "cut short": good[: len(good) // 2],
        "cut in the header": good[: 8 + length // 2],
        "a header length beyond the end": (1 << 60).to_bytes(8, "little") + good[8:],
        "no metadata": (2).to_bytes(8, "little") + b"{}",
        "another format": good.replace(b"mindferry golden 3", b"mindferry golden 2"),
    }[kind]


@pytest.mark.parametrize(
    "kind",
    [
        "empty",
        "text",
        "cut short",
        "cut in the header",
        "a header length beyond the end",
        "no metadata",
        "another format",
    ],
)
def test_a_broken_golden_file_is_refused_in_one_sentence(golden: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "broken.golden"
    path.write_bytes(broken(kind, golden.read_bytes()))
    _, mindspore_side = RESNET.write(tmp_path)
    result = CliRunner().invoke(verify, [str(mindspore_side), "--golden", str(path)])
    assert isinstance(result.exception, MindferryError)
    assert re.search(r"broken.golden is not a golden file \(.*\); make one with", str(result.exception))


def test_a_golden_file_of_another_model_is_refused(golden: Path, tmp_path: Path) -> None:
    _, mindspore_side = LSTM.write(tmp_path)
    result = CliRunner().invoke(verify, [str(mindspore_side), "--golden", str(golden)])
    assert isinstance(result.exception, MindferryError)
    said = "Net and torch's net:Net are not the same network: only MindSpore has embed."
    assert str(result.exception).startswith(said) and "only torch has stem.weight, stem.bias, " in str(result.exception)


def test_a_missing_golden_file_is_refused(tmp_path: Path) -> None:
    _, mindspore_side = LSTM.write(tmp_path)
    result = CliRunner().invoke(verify, [str(mindspore_side), "--golden", str(tmp_path / "none.golden")])
    assert isinstance(result.exception, MindferryError) and "make one with `mindferry record`" in str(result.exception)


def test_weights_that_a_conversion_took_stay_what_they_are_when_the_file_is_written_anew(
    golden: Path, tmp_path: Path
) -> None:
    from mindspore import nn

    from mindferry.frameworks.mindspore_tensors import as_numpy
    from mindferry.verify.goldenfile import GoldenWriter
    from mindferry.weights import load_torch_weights

    copy = tmp_path / "again.golden"
    copy.write_bytes(golden.read_bytes())
    state = open_golden(copy).state()
    before = state["fc.weight"].copy()
    cell = nn.Dense(before.shape[1], before.shape[0], has_bias=False)
    load_torch_weights(cell, {"weight": state["fc.weight"]}, are_given=True)
    GoldenWriter(copy, 8).finish({})
    assert np.array_equal(as_numpy(cell.weight), before)
    cell.weight.copy_(cell.weight * 0)
    assert np.array_equal(open_golden(golden).state()["fc.weight"], before)


def test_no_two_definitions_of_the_script_have_one_name() -> None:
    """Its modules are joined: the later one would take the earlier one's place."""
    defined = Counter(
        each.name for each in ast.parse(standalone()).body if isinstance(each, ast.FunctionDef | ast.ClassDef)
    )
    assert [name for name, count in defined.items() if count > 1] == []
