"""Small files that ask for minutes or gigabytes are answered within ten seconds of the processor's and one gigabyte."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from files import archive, integer, safetensors, tensor, text

from mindferry.errors import MindferryError
from mindferry.weights.formats.files import open_checkpoint
from mindferry.weights.formats.limits import shown

LIMITED = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
from mindferry.errors import MindferryError
from mindferry.weights.inspect import inspect_weights
try:
    inspect_weights(Path(sys.argv[1]), values=False)
    print("accepted")
except MindferryError as error:
    print("refused:", error)
"""
LONG = "k" * 100_000


def put(index: int) -> bytes:
    return b"r" + struct.pack("<I", index)


def get(index: int) -> bytes:
    return b"j" + struct.pack("<I", index)


def called(name: str, arguments: bytes) -> bytes:
    module, _, last = name.rpartition(".")
    return f"c{module}\n{last}\n".encode() + arguments + b"R"


def shared_shape() -> bytes:
    """A shape that shares itself forty levels deep: spelled out, it has a million million parts."""
    nested = integer(2) + b"\x85"
    for level in range(40):
        nested += put(level) + get(level) + b"\x86"
    whole = tensor(shape=(), stride=())
    return b"\x80\x02}(" + text("w") + whole.replace(b"(t(t", nested + b"(t", 1) + b"u."


def sizes() -> bytes:
    """A long list made a torch.Size thirty thousand times."""
    long = b"](" + b"K\x01" * 30_000 + b"e" + put(1)
    return b"\x80\x02" + long + b"](" + (called("torch.Size", get(1) + b"\x85")) * 30_000 + b"e."


def encoded() -> bytes:
    """The same text encoded twenty thousand times."""
    return (
        b"\x80\x02"
        + text("x" * 1_000_000)
        + put(1)
        + text("latin1")
        + put(2)
        + b"]("
        + called("_codecs.encode", get(1) + get(2) + b"\x86") * 20_000
        + b"e."
    )


def ordered() -> bytes:
    """The same pairs made an OrderedDict twenty thousand times."""
    pairs = b"](" + b"".join(b"](" + text(f"{n}") + b"Ke" for n in range(30_000)).replace(b"Ke", b"K\x01e") + b"e"
    return b"\x80\x02" + pairs + put(1) + b"](" + called("collections.OrderedDict", get(1) + b"\x85") * 20_000 + b"e."


def many_arguments() -> bytes:
    """A call with a million arguments, ten thousand times."""
    long = b"(" + b"N" * 1_000_000 + b"t" + put(1)
    return b"\x80\x02" + long + b"](" + called("collections.OrderedDict", get(1)) * 10_000 + b"e."


def long_keys() -> bytes:
    """A hundred levels of keys of a hundred thousand letters, and ten thousand dictionaries in the last."""
    inner = b"}(" + b"".join(text(f"{n}") + b"}" + text("w") + tensor() + b"s" for n in range(2_000)) + b"u"
    for _ in range(50):
        inner = b"}" + text(LONG) + inner + b"s"
    return b"\x80\x02" + inner + b"."


def long_tuple_keys() -> bytes:
    """A key of half a million parts, looked up half a million times."""
    key = b"(" + (text("a") + put(2) + get(2) * 500_000) + b"t" + put(1)
    return b"\x80\x02" + key + b"0}(" + (get(1) + b"N") * 500_000 + b"u."


def nested_dictionaries() -> bytes:
    """Nine hundred thousand dictionaries, each in the one before."""
    return b"\x80\x02" + (b"}" + text("a")) * 400_000 + b"}" + b"s" * 400_000 + b"."


def wide_dictionaries() -> bytes:
    """A hundred thousand sets of parameters beside each other."""
    one = tensor() + put(1)
    sets = b"".join(text(f"k{n}") + b"}" + text("w") + get(1) + b"s" for n in range(100_000))
    return b"\x80\x02" + one + b"0}(" + sets + b"u."


def globals_without_end() -> bytes:
    """A global named a million times."""
    return b"\x80\x02](" + b"ctorch\nSize\n" * 1_000_000 + b"e."


PICKLES = (
    shared_shape,
    sizes,
    encoded,
    ordered,
    many_arguments,
    long_keys,
    long_tuple_keys,
    nested_dictionaries,
    wide_dictionaries,
    globals_without_end,
)


def answer(path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, env=dict(os.environ)
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-500:])
    assert done.stdout.count("\n") == 1 and len(done.stdout) < 600, done.stdout[:1000]
    return done.stdout


@pytest.mark.parametrize("build", PICKLES, ids=[each.__doc__ for each in PICKLES])
def test_a_pickle_gets_no_more_than_its_budget(build: Callable[[], bytes], tmp_path):
    archive(tmp_path / "a.pth", build(), {"data/0": bytes(8)})
    answer(tmp_path / "a.pth")


@pytest.mark.parametrize("build", PICKLES[1:4], ids=[each.__doc__ for each in PICKLES[1:4]])
def test_neither_does_one_in_the_older_format(build: Callable[[], bytes], tmp_path):
    from mindferry.weights.formats.pth import LEGACY_MAGIC

    heads = LEGACY_MAGIC + b"\x80\x02M\xe9\x03." + b"\x80\x02}."
    (tmp_path / "a.pth").write_bytes(heads + build() + b"\x80\x02].")
    assert answer(tmp_path / "a.pth").startswith("refused")


def test_empty_slices_of_one_tensor_are_counted_once(tmp_path):
    tensor_part = b"\x08\x00\x12\x07Float32\x1a\x00"
    value = b"\x0a\x01w\x12" + bytes([len(tensor_part)]) + tensor_part
    record = b"\x0a" + bytes([len(value)]) + value
    (tmp_path / "a.ckpt").write_bytes(record * 300_000)
    assert answer(tmp_path / "a.ckpt") == "accepted\n"


def test_a_decoy_does_not_hide_a_directory_of_any_size(tmp_path):
    """The end record announces four gigabytes; a 64-bit one in the comment announces none."""
    archive(tmp_path / "a.pth", b"\x80\x02}.")
    whole = bytearray((tmp_path / "a.pth").read_bytes())
    decoy = b"PK\x06\x06" + struct.pack("<Q", 44) + bytes(44)
    at = whole.rfind(b"PK\x05\x06")
    whole[at + 12 : at + 16] = struct.pack("<I", 0xFFFFFFF0)
    whole[at + 20 : at + 22] = struct.pack("<H", len(decoy))
    (tmp_path / "a.pth").write_bytes(bytes(whole) + decoy)
    with pytest.raises(MindferryError, match="zip"):
        open_checkpoint(tmp_path / "a.pth")


def test_a_directory_that_only_zipfile_would_find_is_refused(tmp_path):
    archive(tmp_path / "a.pth", b"\x80\x02}.")
    (tmp_path / "b.pth").write_bytes((tmp_path / "a.pth").read_bytes() + b"trailing")
    with pytest.raises(MindferryError, match="follows its directory"):
        open_checkpoint(tmp_path / "b.pth")


def test_a_zip_of_more_than_four_gigabytes_is_read_by_its_wide_fields(tmp_path):
    """A sparse file: a record that begins beyond what 32 bits hold."""
    path = tmp_path / "a.pth"
    from files import state_dict

    with zipfile.ZipFile(path, "w") as out:
        out.writestr("archive/data.pkl", state_dict(("w", tensor())))
        with out.open(zipfile.ZipInfo("archive/pad"), "w", force_zip64=True) as pad:
            pad.write(b"\0" * 100)
        out.writestr("archive/data/0", struct.pack("<2f", 1.5, -2.0))
    with open_checkpoint(path) as checkpoint:
        assert checkpoint.entries[0].array().tolist() == [1.5, -2.0]


def test_a_header_of_a_million_empty_lists_is_answered(tmp_path):
    header = b'{"w": [' + b"[]," * 10_000_000 + b"[]]}"
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    assert answer(tmp_path / "a.safetensors").startswith("refused")


def test_an_index_that_names_the_folder_above_is_refused(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    safetensors(tmp_path / "a.safetensors", {})
    for name in ("..", ".", ""):
        (inner / "a.safetensors.index.json").write_text(json.dumps({"weight_map": {"w": name}}))
        with pytest.raises(MindferryError, match="points to"):
            open_checkpoint(inner / "a.safetensors.index.json")


@pytest.mark.parametrize(
    "value",
    [10**10_000, [[[[[1]]]]], ("x",) * 10_000_000, KeyError(("y",) * 1_000_000), b"\xff" * 10_000_000, {1: 2}],
    ids=["number", "nested", "long", "error", "bytes", "table"],
)
def test_a_message_never_spells_out_what_it_describes(value):
    assert len(shown(value)) <= 100 and shown(value).isprintable()
