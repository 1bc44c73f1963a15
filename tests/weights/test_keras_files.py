"""Keras' and TensorFlow's own files, as TensorFlow wrote them (tests/fixtures/keras/make.py), and hostile ones."""

from __future__ import annotations

import shutil
import struct
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

from mindferry.errors import MindferryError
from mindferry.weights.convert import convert_weights
from mindferry.weights.formats.files import open_checkpoint
from mindferry.weights.formats.limits import BadFileError

FILES = Path(__file__).parent.parent / "fixtures" / "keras"


def arrays(path: Path) -> dict[str, np.ndarray]:
    with open_checkpoint(path) as checkpoint:
        return {entry.name: entry.array().copy() for entry in checkpoint.entries}


def expected() -> list[np.ndarray]:
    with np.load(FILES / "weights.npz") as found:
        return [found[name] for name in found.files]


def place(name: str) -> int:
    return int(name.partition(":")[0])


@pytest.mark.parametrize("source", ["older.h5", "saved"])
def test_files_that_keep_an_order_give_the_networks_weights_in_it(source: str, tmp_path: Path) -> None:
    convert_weights(FILES / source, tmp_path / "a.ckpt")
    found = arrays(tmp_path / "a.ckpt")
    ours = [found[name] for name in sorted(found, key=place)]
    assert len(ours) == len(expected()) == 19
    assert all(np.array_equal(one, other) for one, other in zip(ours, expected(), strict=True))


@pytest.mark.parametrize("source", ["model.weights.h5", "model.keras"])
def test_files_that_keep_places_give_every_weight_and_no_training_state(source: str, tmp_path: Path) -> None:
    report = convert_weights(FILES / source, tmp_path / "a.ckpt")
    found = arrays(tmp_path / "a.ckpt")
    ours = sorted(each.tobytes() for each in found.values())
    assert ours == sorted(each.tobytes() for each in expected())
    assert {"layers/lstm/cell/vars/0", "layers/batch_normalization/vars/3", "layers/dense/vars/1"} <= set(found)
    assert not any("seed_generator" in name or name.startswith("optimizer") for name in found)
    assert report.complete and any(name.startswith("optimizer/") for name in report.dropped)


def test_weights_go_back_into_a_file_of_keras(tmp_path: Path) -> None:
    convert_weights(FILES / "model.keras", tmp_path / "a.ckpt")
    convert_weights(tmp_path / "a.ckpt", tmp_path / "b.weights.h5", reverse=True)
    with h5py.File(tmp_path / "b.weights.h5") as back, h5py.File(FILES / "model.weights.h5") as own:
        assert np.array_equal(back["layers/lstm/cell/vars/1"][()], own["layers/lstm/cell/vars/1"][()])
    assert arrays(tmp_path / "b.weights.h5").keys() == arrays(tmp_path / "a.ckpt").keys()


def test_names_of_torch_are_not_written_as_keras(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").write_bytes(
        struct.pack("<Q", 64) + b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'.ljust(64) + b"\0\0\0\0"
    )
    with pytest.raises(MindferryError, match=r"no name that Keras gives"):
        convert_weights(tmp_path / "a.safetensors", tmp_path / "a.weights.h5")
    assert not (tmp_path / "a.weights.h5").exists()


def test_a_checkpoint_of_tensorflow_is_read_by_its_name_or_its_table() -> None:
    with np.load(FILES / "module.npz") as found:
        weight = found["weight"]
    for path in (FILES / "module", FILES / "module.index"):
        ours = arrays(path)
        assert sorted(ours) == ["net/parts/0", "net/parts/1/flag", "net/weight", "step"]
        assert np.array_equal(ours["net/weight"], weight) and ours["step"] == 7 and ours["net/parts/1/flag"]


def test_large_and_compressed_tables_are_read_alike(tmp_path: Path) -> None:
    values = np.random.default_rng(2).standard_normal((40, 30)).astype(">f4")
    with h5py.File(tmp_path / "a.weights.h5", "w") as file:
        file.create_dataset("layers/dense/vars/0", data=values)
        file.create_dataset("layers/dense_1/vars/0", data=values, compression="gzip", chunks=(8, 8))
        file.create_dataset("layers/dense_2/vars/0", data=values.astype("<f2"))
    found = arrays(tmp_path / "a.weights.h5")
    assert np.array_equal(found["layers/dense/vars/0"], values)
    assert np.array_equal(found["layers/dense_1/vars/0"], values)
    assert found["layers/dense_2/vars/0"].dtype == np.float16


def links_out(file: h5py.File, folder: Path) -> None:
    file["layers/dense/vars/0"] = h5py.ExternalLink(str(folder / "secret.h5"), "/w")


def links_within(file: h5py.File, folder: Path) -> None:
    file["a"] = h5py.SoftLink("/b")


def holds_itself(file: h5py.File, folder: Path) -> None:
    file.create_group("a")
    file["a/a"] = file["a"]


def takes_bytes_from_elsewhere(file: h5py.File, folder: Path) -> None:
    (folder / "secret").write_bytes(b"12345678")
    file.create_dataset("layers/dense/vars/0", (2,), "<f4", external=[(str(folder / "secret"), 0, 8)])


def is_made_of_others(file: h5py.File, folder: Path) -> None:
    layout = h5py.VirtualLayout((2,), "<f4")
    layout[:] = h5py.VirtualSource(str(folder / "secret.h5"), "w", (2,))
    file.create_virtual_dataset("layers/dense/vars/0", layout)


def claims_more_than_it_has(file: h5py.File, folder: Path) -> None:
    file.create_dataset("layers/dense/vars/0", (1 << 20, 1 << 12), "<f4", chunks=(1024, 1024), compression="gzip")


def holds_little_in_a_large_chunk(file: h5py.File, folder: Path) -> None:
    file.create_dataset("layers/dense/vars/0", (1,), "<f4", maxshape=(None,), chunks=(1 << 27,), compression="gzip")


@pytest.mark.parametrize(
    "make",
    [
        links_out,
        links_within,
        holds_itself,
        takes_bytes_from_elsewhere,
        is_made_of_others,
        claims_more_than_it_has,
        holds_little_in_a_large_chunk,
    ],
)
def test_what_leads_elsewhere_is_refused(make, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    with h5py.File(tmp_path / "a.h5", "w") as file:
        make(file, tmp_path)
    with pytest.raises(BadFileError):
        open_checkpoint(tmp_path / "a.h5")


def varint(number: int) -> bytes:
    low = bytes([number & 0x7F | (0x80 if number > 0x7F else 0)])
    return low + varint(number >> 7) if number > 0x7F else low


def test_a_table_that_names_one_block_a_thousand_times_is_refused(tmp_path: Path) -> None:
    """Each mention would be read: a megabyte of handles of a megabyte is a terabyte."""
    block = b"\0" * 200_000 + struct.pack("<I", 50_000) + b"\0" * 5  # all of it restarts: no row is counted
    handle = varint(0) + varint(200_004)
    rows = b"".join(varint(0) + varint(1) + varint(len(handle)) + b"k" + handle for _ in range(1000))
    index = rows + struct.pack("<I", 0)
    footer = (varint(0) + varint(0) + varint(len(block)) + varint(len(index))).ljust(40, b"\0")
    table = block + index + b"\0" * 5 + footer + struct.pack("<Q", 0xDB4775248B80FB57)
    (tmp_path / "a.index").write_bytes(table)
    with pytest.raises(BadFileError, match="again and again"):
        open_checkpoint(tmp_path / "a.index")


@pytest.mark.parametrize("name", ["model.weights.h5", "model.keras", "older.h5", "module.index"])
def test_a_damaged_file_is_one_sentence(name: str, tmp_path: Path) -> None:
    for each in FILES.glob("module*"):
        shutil.copy(each, tmp_path)
    data = (FILES / name).read_bytes()
    rng = np.random.default_rng(5)
    for attempt in range(60):
        broken = bytearray(data[: int(rng.integers(len(data)))] if attempt % 3 == 0 else data)
        for at in rng.integers(0, max(len(broken), 1), 8):
            if broken:
                broken[int(at)] = int(rng.integers(256))
        (tmp_path / name).write_bytes(bytes(broken))
        try:
            arrays(tmp_path / name)
        except MindferryError as error:
            assert "\n" not in str(error)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.keras", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.weights.h5", b"\0" * (80 << 20))
    with pytest.raises(BadFileError, match="bomb"):
        open_checkpoint(tmp_path / "a.keras")
