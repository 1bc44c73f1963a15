"""Every malicious or broken file is refused in one line: nothing runs, nothing crashes, nothing is written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from files import BUILDERS, ckpt, described, good_zip, safetensors

from mindferry.errors import MindferryError
from mindferry.weights import convert_weights
from mindferry.weights.formats.files import open_checkpoint


def test_there_are_at_least_forty():
    assert len(BUILDERS) >= 40


@pytest.mark.parametrize("sentence", BUILDERS)
@pytest.mark.parametrize("suffix", [".ckpt", ".safetensors"])
def test_it_is_refused_in_one_line(sentence, suffix, tmp_path):
    name, build = BUILDERS[sentence]
    source, marker, output = tmp_path / name, tmp_path / "executed", tmp_path / "out" / f"out{suffix}"
    build(source, marker)
    before = set(sys.modules)
    with pytest.raises(MindferryError) as caught:
        convert_weights(source, output)
    message = str(caught.value)
    assert "\n" not in message and message.isprintable() and 20 < len(message) < 400, message
    assert not marker.exists()
    assert not output.parent.exists() or not list(output.parent.iterdir())
    new = {name.partition(".")[0] for name in set(sys.modules) - before}
    assert not new & {"evil", "models", "webbrowser", "runpy", "pip"}, "a module that the file named was imported"


def test_a_sound_file_of_the_same_making_is_accepted(tmp_path):
    (tmp_path / "a.pth").write_bytes(good_zip())
    safetensors(tmp_path / "a.safetensors", {"w": described()})
    (tmp_path / "a.ckpt").write_bytes(ckpt())
    for name in ("a.pth", "a.safetensors", "a.ckpt"):
        convert_weights(tmp_path / name, tmp_path / "out" / f"{name}.safetensors")
        with open_checkpoint(tmp_path / "out" / f"{name}.safetensors") as checkpoint:
            assert [(entry.name, entry.shape) for entry in checkpoint.entries] == [("w", (2,))]


@pytest.mark.parametrize("sentence", ["a pickle that calls posix.system", "safetensors with a shape of NaN"])
def test_the_command_says_so_and_exits_with_2(sentence, tmp_path):
    name, build = BUILDERS[sentence]
    build(tmp_path / name, tmp_path / "executed")
    command = [sys.executable, "-m", "mindferry", "weights", "convert", name, "-o", "out.ckpt"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""})
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("mindferry: ") and done.stderr.count("\n") == 1
    assert "posix.system" in done.stderr or "NaN" in done.stderr
    assert not (tmp_path / "executed").exists() and not (tmp_path / "out.ckpt").exists()


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.pth")
    with pytest.raises(MindferryError, match="no regular file"):
        open_checkpoint(tmp_path / "a.pth")


def test_the_refusal_names_the_function_and_the_record(tmp_path):
    _, build = BUILDERS["code in the system record of a legacy file"]
    build(tmp_path / "a.pth", tmp_path / "executed")
    with pytest.raises(MindferryError, match=r"record 3 names posix.system"):
        open_checkpoint(tmp_path / "a.pth")
