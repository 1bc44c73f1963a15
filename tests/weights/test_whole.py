"""Checkpoints carried with everything that they hold, read back by the helpers of a converted project."""

from __future__ import annotations

import argparse
import importlib.util
import pathlib
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from mindferry.cli import cli
from mindferry.convert import convert_project
from mindferry.errors import MindferryError
from mindferry.layout import carried_name
from mindferry.weights.whole import carry_whole, is_torch_file

LOADS = "import torch\n\n\ndef epoch(path):\n    return torch.load(path, weights_only=False)['epoch']\n"


@pytest.fixture(scope="module")
def helpers(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Those of a project that saves states alone, and asks a checkpoint from elsewhere for a part."""
    folder = tmp_path_factory.mktemp("loads")
    (folder / "source").mkdir()
    saves = "\n\ndef keep(net: torch.nn.Module):\n    torch.save(net.state_dict(), 'net.pt')\n"
    (folder / "source/resume.py").write_text(LOADS + saves)
    convert_project(folder / "source", folder / "out")
    spec = importlib.util.spec_from_file_location("whole_helpers", folder / "out/ms_compat.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def checkpoint() -> dict[str, Any]:
    torch.manual_seed(3)
    net = torch.nn.Sequential(torch.nn.Conv1d(2, 3, 3), torch.nn.BatchNorm1d(3))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    net(torch.randn(4, 2, 8)).square().sum().backward()
    optimizer.step()
    base = torch.arange(12.0).reshape(3, 4)
    return {
        "epoch": 4,
        "model": net.state_dict(),
        "optimizer": optimizer.state_dict(),
        "args": argparse.Namespace(lr=0.1, sizes=[1, 2], device=torch.device("cpu"), out=pathlib.Path("a/b")),
        "best": float("inf"),
        "names": {"b", "a"},
        "history": [(0, 0.5), (1, 0.25)],
        "view": base.t()[1:],
        "conjugate": torch.tensor([1 + 2j, 3 - 1j]).conj(),
        "empty": torch.zeros(0, 3),
        "flags": torch.tensor([True, False]),
        "half": torch.randn(3).half(),
        "array": np.arange(6, dtype=np.int64).reshape(2, 3),
        "number": np.float64(2.5),
        "raw": b"\x00\x01",
    }


def assert_same(one: Any, other: Any, way: str = "") -> None:
    if isinstance(one, torch.Tensor):
        values = other.asnumpy()
        assert str(one.dtype).removeprefix("torch.").replace("torch.", "") in str(other.dtype).lower(), way
        np.testing.assert_array_equal(one.resolve_conj().numpy(), values, err_msg=way)
    elif isinstance(one, dict):
        assert list(one) == list(other), way
        for key in one:
            assert_same(one[key], other[key], f"{way}.{key}")
    elif isinstance(one, list | tuple):
        assert type(one) is type(other) and len(one) == len(other), way
        for number, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{way}.{number}")
    elif isinstance(one, argparse.Namespace):
        assert_same({**vars(one), "device": "cpu", "out": str(one.out)}, {**vars(other), "out": str(other.out)}, way)
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other, way


@pytest.mark.parametrize("is_legacy", [False, True])
def test_whatever_a_checkpoint_holds_is_read_back(helpers: Any, tmp_path: Path, is_legacy: bool) -> None:
    held = checkpoint()
    torch.save(held, tmp_path / "last.pth", _use_new_zipfile_serialization=not is_legacy)
    report = carry_whole(tmp_path / "last.pth", tmp_path / "last.ckpt")
    assert "model.0.weight" in {entry.source for entry in report.entries}
    assert_same(held, helpers.load(str(tmp_path / "last.ckpt"), weights_only=False))
    torch.save(held["model"], tmp_path / "state.pt")
    carry_whole(tmp_path / "state.pt", tmp_path / "state.ckpt")
    assert_same(dict(held["model"]), dict(helpers.load(str(tmp_path / "state.pt").replace(".pt", ".ckpt"))))


def test_the_name_that_a_configuration_has_for_it_is_found_too(helpers: Any, tmp_path: Path) -> None:
    torch.save({"epoch": 4}, tmp_path / "best.pth.tar")
    carry_whole(tmp_path / "best.pth.tar", tmp_path / carried_name("best.pth.tar"))
    assert helpers.load(str(tmp_path / "best.ckpt"))["epoch"] == 4
    with pytest.raises(ValueError, match="weights convert --whole"):
        helpers.load(str(tmp_path / "best.pth.tar"))
    (tmp_path / "best.pth.tar").unlink()
    assert helpers.load(str(tmp_path / "best.pth.tar"))["epoch"] == 4


class Own:
    pass


def test_what_cannot_be_carried_is_one_sentence_and_nothing_is_written(tmp_path: Path) -> None:
    shared: list[Any] = [0]
    for _ in range(40):
        shared = [shared, shared]
    deep: list[Any] = []
    for _ in range(200):
        deep = [deep]
    held = {"code": Own(), "shared": shared, "deep": deep, "type": torch.float32}
    said = {
        "code": "is code and not a tensor",
        "shared": "holds more than",
        "deep": "deep",
        "type": "holds a torch.float32",
    }
    for name, value in held.items():
        torch.save({"epoch": 1, "value": value}, tmp_path / f"{name}.pt")
        done = CliRunner().invoke(
            cli, ["weights", "convert", f"{tmp_path}/{name}.pt", "-o", f"{tmp_path}/o", "--whole"]
        )
        told = f"{done.output}{done.exception}"
        assert done.exit_code and said[name] in told, (name, told)
        assert not (tmp_path / "o").exists()
    with pytest.raises(MindferryError, match="exists already"):
        (tmp_path / "o").write_text("")
        carry_whole(tmp_path / "type.pt", tmp_path / "o")
    done = CliRunner().invoke(cli, ["weights", "convert", "a.pt", "-o", "b", "--whole", "--key", "ema"])
    assert done.exit_code and "leave --key out" in f"{done.output}{done.exception}"


class Forged:
    """Pickles as a call that the file could not have been written by."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.made = function, arguments

    def __reduce__(self) -> Any:
        return self.made


def test_forged_values_are_refused_at_once(tmp_path: Path) -> None:
    shared: tuple[Any, ...] = ("x",)
    for _ in range(40):
        shared = (shared, shared)
    forged = {"set": Forged(set, [[1]]), "device": Forged(torch.device, shared), "number": 10**5000}
    for name, value in forged.items():
        torch.save({"epoch": 1, "value": value}, tmp_path / f"{name}.pt")
        with pytest.raises(MindferryError, match="holds a"):
            carry_whole(tmp_path / f"{name}.pt", tmp_path / "o")
        assert not (tmp_path / "o").exists()


def test_a_file_is_torchs_by_its_first_bytes(tmp_path: Path) -> None:
    torch.save({}, tmp_path / "a.pt")
    (tmp_path / "b.pt").write_bytes(pickle.dumps([1]))
    assert is_torch_file(tmp_path / "a.pt") and not is_torch_file(tmp_path / "b.pt")
    assert not is_torch_file(tmp_path / "none.pt")
