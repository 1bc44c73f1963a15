"""Checkpoints carried with everything that they hold, read back by the helpers of a converted project."""

from __future__ import annotations

import argparse
import importlib.util
import io
import os
import pathlib
import pickle
import struct
import zipfile
from collections import OrderedDict
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
from mindferry.weights import convert_weights
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
        assert type(one) is type(other) and list(one) == list(other), way
        for key in one:
            assert_same(one[key], other[key], f"{way}.{key}")
    elif isinstance(one, list | tuple):
        assert type(one) is type(other) and len(one) == len(other), way
        for number, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{way}.{number}")
    elif isinstance(one, argparse.Namespace):
        assert_same({**vars(one), "device": "cpu"}, vars(other), way)
    elif isinstance(one, np.ndarray):
        assert type(other) is np.ndarray and one.dtype == other.dtype, way
        np.testing.assert_array_equal(one, other)
    else:
        assert type(one) is type(other) and one == other, way


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
        "shared": "again and again",
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


VALUES = {
    "set": {1, "a", (1, 2)},
    "empty set": set(),
    "frozen": frozenset({"a", "b"}),
    "ordered": OrderedDict(a=1, b=OrderedDict()),
    "in a namespace": argparse.Namespace(s={1}, f=frozenset({1}), o=OrderedDict(a=1), device=torch.device("cpu")),
    "array without axes": np.array(3.5),
    "number": np.float32(3.5),
    "path": pathlib.Path("/a/b"),
    "path of Windows": pathlib.PureWindowsPath("C:/a"),
    "table like ours": {"float": "x"},
    "text": "a\0\ud800",
}


@pytest.mark.parametrize("protocol", [2, 4, 5])
@pytest.mark.parametrize("kind", VALUES)
def test_a_value_keeps_its_kind_whatever_the_protocol(helpers: Any, tmp_path: Path, kind: str, protocol: int) -> None:
    if protocol == 5 and kind == "array without axes":
        pytest.skip("numpy names a function of its own then, which is refused")
    held = {"epoch": 1, "value": VALUES[kind]}
    torch.save(held, tmp_path / "a.pt", pickle_protocol=protocol)
    carry_whole(tmp_path / "a.pt", tmp_path / "a.ckpt")
    assert_same(held, helpers.load(str(tmp_path / "a.ckpt"), weights_only=False))


def test_bytes_that_can_change_stay_so_and_empty_ones_of_no_numpy_type_are_refused(
    helpers: Any, tmp_path: Path
) -> None:
    torch.save({"epoch": 1, "value": bytearray(b"ab")}, tmp_path / "a.pt", pickle_protocol=5)
    carry_whole(tmp_path / "a.pt", tmp_path / "a.ckpt")
    assert_same(bytearray(b"ab"), helpers.load(str(tmp_path / "a.ckpt"), weights_only=False)["value"])
    for dtype in (torch.bfloat16, torch.float8_e5m2):
        torch.save({"epoch": 1, "value": torch.zeros(0, 2).to(dtype)}, tmp_path / "b.pt")
        with pytest.raises(MindferryError, match="holds an empty tensor of"):
            carry_whole(tmp_path / "b.pt", tmp_path / "b.ckpt")
        assert not (tmp_path / "b.ckpt").exists()


def test_a_tensor_that_is_called_as_the_structure_is_not_taken_for_it(helpers: Any, tmp_path: Path) -> None:
    """A project that loads with weights_only=False would run what stands in it."""
    text = b'{"pickle": "' + b"gASVDAAAAAAAAACMCGJ1aWx0aW5zlIwDbGVulJOULg==" + b'", "class": "x"}'
    held = {"__structure__": torch.tensor(list(text), dtype=torch.uint8)}
    torch.save(held, tmp_path / "a.pt")
    carry_whole(tmp_path / "a.pt", tmp_path / "a.ckpt")
    assert_same(held, helpers.load(str(tmp_path / "a.ckpt"), weights_only=False))
    with pytest.raises(MindferryError, match="__structure__ is no name for a tensor"):
        convert_weights(tmp_path / "a.pt", tmp_path / "b.ckpt", strict=False)


def test_a_name_that_mindspore_does_not_load_is_refused(tmp_path: Path) -> None:
    torch.save({"a" * 1025: torch.ones(1)}, tmp_path / "a.pt")
    with pytest.raises(MindferryError, match="1025 letters") as refused:
        carry_whole(tmp_path / "a.pt", tmp_path / "a.ckpt")
    assert len(str(refused.value)) < 400


def _text(words: str) -> bytes:
    return b"X" + struct.pack("<I", len(words)) + words.encode()


def _number(value: int) -> bytes:
    raw = value.to_bytes((value.bit_length() + 8) // 8, "little")
    return b"\x8a" + bytes([len(raw)]) + raw


def _repeated(value: bytes, times: int = 100_000) -> bytes:
    return b"\x80\x05](" + value + b"q\x01" + b"h\x01" * times + b"e."


COLLIDING = b"".join(_number(((1 << 61) - 1) * each) for each in range(1, 30_000))
BOMBS = {
    "a text": _repeated(_text("x" * 100_000)),
    "control characters": _repeated(_text("\1" * 20_000), 1000),
    "a number": _repeated(b"\x8b" + struct.pack("<I", 1700) + b"\x7f" * 1700),
    "bytes": _repeated(b"B" + struct.pack("<I", 100_000) + b"x" * 100_000),
    "bytes that can change": _repeated(b"\x96" + struct.pack("<Q", 100_000) + b"x" * 100_000),
    "a path": _repeated(b"cpathlib\nPosixPath\n(" + _text("x" * 100_000) + b"tR"),
    "a device": _repeated(b"ctorch\ndevice\n(" + _text("x" * 100_000) + b"tR"),
    "a namespace": _repeated(b"cargparse\nNamespace\n)R}" + _text("a") + _text("x" * 100_000) + b"sb"),
    "an array": _repeated(pickle.dumps(np.zeros(100_000, np.uint8), 2)[2:-1]),
    "lists of nothing": b"\x80\x02](" + b"]" * 1_000_000 + b"e.",
    "a set of numbers that collide": b"\x80\x04\x8f(" + COLLIDING + b"\x90.",
    "an older set of them": b"\x80\x02cbuiltins\nset\n](" + COLLIDING + b"e\x85R.",
    "a frozen set of them": b"\x80\x04(" + COLLIDING + b"\x91.",
    "a set in itself": b"\x80\x04\x8fq\x01(h\x01\x90.",
    "a list in itself": b"\x80\x04]q\x01(h\x01e.",
    "a namespace in itself": b"\x80\x02cargparse\nNamespace\n)Rq\x01}" + _text("a") + b"h\x01sb.",
    "members of a list": b"\x80\x04](K\x01\x90.",
    "a path of Windows": b"\x80\x02cpathlib\nWindowsPath\n(" + _text("C:") + b"tR.",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_what_is_small_as_a_pickle_and_large_as_text_is_refused(tmp_path: Path, bomb: str) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("archive/data.pkl", BOMBS[bomb])
    (tmp_path / "a.pt").write_bytes(packed.getvalue())
    with pytest.raises(MindferryError) as refused:
        carry_whole(tmp_path / "a.pt", tmp_path / "o")
    assert "\n" not in str(refused.value) and not (tmp_path / "o").exists()


def test_a_pipe_is_neither_waited_for_nor_a_file_of_torchs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.pt")
    with pytest.raises(MindferryError, match="is no regular file"):
        carry_whole(tmp_path / "a.pt", tmp_path / "o")
    assert not is_torch_file(tmp_path / "a.pt") and not is_torch_file(tmp_path)
    damaged = b"PK\x03\x04" + bytes(26) + b"PK\x01\x02" + bytes(6) + b"\x08\x00" * 9 + b"\xff" * 40
    (tmp_path / "b.pt").write_bytes(damaged + b"PK\x05\x06" + struct.pack("<4H2LH", 0, 0, 1, 1, 68, 30, 0))
    assert not is_torch_file(tmp_path / "b.pt")
