"""Every file format and number type, there and back, and as the frameworks' own loaders see what was written."""

from __future__ import annotations

import json
import math
import zipfile

import numpy as np
import pytest

from mindferry.errors import MindferryError
from mindferry.weights import convert_weights
from mindferry.weights.dtypes import DTYPES
from mindferry.weights.formats.entry import Entry
from mindferry.weights.formats.files import open_checkpoint, write_checkpoint

torch = pytest.importorskip("torch")

SHAPES = [(), (1,), (7,), (3, 5), (2, 3, 4), (0, 4), (2, 1, 3, 1, 2)]


def tensors_of(dtype, seed=0):
    """One tensor a shape, of random bytes that are valid values."""
    rng = np.random.default_rng(seed)
    made = {}
    for number, shape in enumerate(SHAPES):
        count = math.prod(shape)
        if dtype == "bool":
            raw = rng.integers(0, 2, count, np.uint8)
        else:
            raw = rng.integers(0, 256, count * DTYPES[dtype].size, np.uint8)
        flat = (
            torch.from_numpy(raw).view(getattr(torch, dtype)) if count else torch.empty(0, dtype=getattr(torch, dtype))
        )
        made[f"layer{number}.value"] = flat.reshape(shape)
    return made


def raw_bytes(tensor):
    return tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def contents(path, key=None):
    with open_checkpoint(path, key) as checkpoint:
        checkpoint.verify()
        return {
            entry.name: (entry.dtype, entry.shape, b"".join(bytes(c) for c in entry.chunks(bytearray(1000))))
            for entry in checkpoint.entries
        }


def expected(tensors):
    return {k: (str(t.dtype).removeprefix("torch."), tuple(t.shape), raw_bytes(t)) for k, t in tensors.items()}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("is_zip", [True, False], ids=["zip", "legacy"])
def test_what_torch_saves_is_read_bit_by_bit(dtype, is_zip, tmp_path):
    tensors = tensors_of(dtype)
    torch.save(tensors, tmp_path / "a.pth", _use_new_zipfile_serialization=is_zip)
    assert contents(tmp_path / "a.pth") == expected(tensors)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("suffix", [".ckpt", ".safetensors", ".pth"])
def test_a_round_trip_changes_no_bit_and_what_cannot_be_held_is_refused(dtype, suffix, tmp_path):
    tensors = tensors_of(dtype, seed=1)
    torch.save(tensors, tmp_path / "a.pth")
    there, back = tmp_path / f"there{suffix}", tmp_path / "back.pth"
    known = DTYPES[dtype]
    if not {".ckpt": known.ckpt, ".safetensors": known.safetensors, ".pth": "any"}[suffix]:
        with pytest.raises(MindferryError, match=dtype):
            convert_weights(tmp_path / "a.pth", there)
        assert not there.exists()
        return
    convert_weights(tmp_path / "a.pth", there)
    assert contents(there) == expected(tensors)
    convert_weights(there, back, reverse=True)
    assert expected(torch.load(back)) == expected(torch.load(back, mmap=True)) == expected(tensors)


@pytest.mark.parametrize("dtype", [name for name, known in DTYPES.items() if known.safetensors])
def test_the_safetensors_library_reads_what_we_write_and_writes_what_we_read(dtype, tmp_path):
    library = pytest.importorskip("safetensors.torch")
    tensors = tensors_of(dtype, seed=2)
    library.save_file(tensors, tmp_path / "theirs.safetensors")
    assert contents(tmp_path / "theirs.safetensors") == expected(tensors)
    convert_weights(tmp_path / "theirs.safetensors", tmp_path / "ours.safetensors")
    assert expected(library.load_file(tmp_path / "ours.safetensors")) == expected(tensors)


@pytest.mark.parametrize("suffix", [".ckpt", ".safetensors"])
@pytest.mark.parametrize("dtype", [name for name, known in DTYPES.items() if known.ckpt])
def test_mindspores_own_loader_reads_what_we_write(dtype, suffix, tmp_path):
    ms = pytest.importorskip("mindspore")
    tensors = {name: tensor for name, tensor in tensors_of(dtype, seed=3).items() if tensor.numel()}
    torch.save(tensors, tmp_path / "a.pth")
    path = tmp_path / f"a{suffix}"
    convert_weights(tmp_path / "a.pth", path)
    loaded = ms.load_checkpoint(str(path), format=suffix[1:])
    assert set(loaded) == set(tensors)
    for name, tensor in tensors.items():
        value = loaded[name]
        assert tuple(value.shape) == tuple(tensor.shape) and str(value.dtype).lower() == dtype
        got = value.view(ms.uint16).asnumpy() if dtype == "bfloat16" and value.ndim else value.asnumpy()
        if dtype != "bfloat16" or value.ndim:
            assert got.tobytes() == raw_bytes(tensor)


def test_a_ckpt_is_byte_for_byte_what_mindspore_writes(tmp_path):
    ms = pytest.importorskip("mindspore")
    rng = np.random.default_rng(4)
    arrays = {
        f"p{i}": rng.standard_normal(shape).astype(np.float32) for i, shape in enumerate([(3,), (2, 300), (1, 1, 5)])
    }
    save_list = [{"name": name, "data": ms.Tensor(array)} for name, array in arrays.items()]
    ms.save_checkpoint(save_list, str(tmp_path / "theirs.ckpt"))
    entries = [Entry(n, "float32", a.shape, compute=lambda a=a: a) for n, a in arrays.items()]
    write_checkpoint(tmp_path / "ours.ckpt", entries, "ms")
    assert (tmp_path / "ours.ckpt").read_bytes() == (tmp_path / "theirs.ckpt").read_bytes()


@pytest.mark.parametrize("options", [{}, {"crc_check": True}, {"format": "safetensors"}], ids=str)
def test_what_mindspore_saves_is_read(options, tmp_path):
    ms = pytest.importorskip("mindspore")
    array = np.random.default_rng(5).standard_normal((4, 6)).astype(np.float32)
    path = tmp_path / f"a.{options.get('format', 'ckpt')}"
    ms.save_checkpoint([{"name": "x", "data": ms.Tensor(array)}], str(path), **options)
    assert contents(path) == {"x": ("float32", (4, 6), array.tobytes())}


def test_tensors_above_a_slice_are_cut_as_mindspore_cuts_them_and_joined_again(tmp_path, monkeypatch):
    monkeypatch.setattr("mindferry.weights.formats.ckpt.SLICE", 1000)
    array = np.random.default_rng(6).standard_normal(777)
    write_checkpoint(tmp_path / "a.ckpt", [Entry("x", "float64", (777,), compute=lambda: array)], "ms")
    assert (tmp_path / "a.ckpt").read_bytes().count(b"Float64") == 7
    assert contents(tmp_path / "a.ckpt")["x"][2] == array.tobytes()
    ms = pytest.importorskip("mindspore")
    np.testing.assert_array_equal(ms.load_checkpoint(str(tmp_path / "a.ckpt"))["x"].asnumpy(), array)


def test_views_of_every_kind_arrive_in_order(tmp_path):
    base = torch.randn(6, 8)
    views = {
        "transposed": base.t(),
        "slice": base[2:4],
        "column": base[:, 3],
        "stepped": base[::2, 1::3],
        "expanded": torch.randn(3, 1).expand(3, 5),
        "offset": base.flatten()[11:],
    }
    torch.save(views, tmp_path / "a.pth")
    assert contents(tmp_path / "a.pth") == expected(views)


def test_numpy_arrays_in_a_pth_are_tensors_too(tmp_path):
    arrays = {
        "c": np.arange(6.0).reshape(2, 3),
        "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "s": np.float32(3),
    }
    torch.save(arrays, tmp_path / "a.pth")
    found = contents(tmp_path / "a.pth")
    assert {name: found[name][2] for name in arrays} == {name: np.asarray(a).tobytes() for name, a in arrays.items()}
    assert found["s"][:2] == ("float32", ())


def test_parameters_and_tensor_subclasses_are_read(tmp_path):
    torch.save(
        {"p": torch.nn.Parameter(torch.arange(3.0)), "b": torch.nn.Buffer(torch.arange(2.0))}, tmp_path / "a.pth"
    )
    assert set(contents(tmp_path / "a.pth")) == {"p", "b"}


def training_checkpoint():
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(5, 3)).sum().backward()
    optimizer.step()
    return model.state_dict(), optimizer.state_dict()


NESTED = {
    "model": lambda m, o: {"model": m, "optimizer": o, "epoch": 3},
    "state_dict": lambda m, o: {
        "epoch": 3,
        "arch": "net",
        "state_dict": m,
        "best_acc1": torch.tensor(3.0),
        "optimizer": o,
    },
    "": lambda m, o: m,
    "net.inner": lambda m, o: {"net": {"inner": m}, "optim": o},
    "model_state_dict": lambda m, o: {"model_state_dict": m, "optimizer_state_dict": o, "loss": torch.tensor(1.0)},
}


@pytest.mark.parametrize("key", NESTED)
def test_the_parameters_of_a_training_checkpoint_are_found(key, tmp_path):
    model, optimizer = training_checkpoint()
    torch.save(NESTED[key](model, optimizer), tmp_path / "a.pth")
    assert contents(tmp_path / "a.pth") == expected(model)
    with open_checkpoint(tmp_path / "a.pth") as checkpoint:
        assert checkpoint.key == key


def test_an_ema_copy_is_told_of_and_can_be_asked_for(tmp_path):
    model, optimizer = training_checkpoint()
    averaged = {name: tensor * 2 for name, tensor in model.items()}
    torch.save({"model": model, "model_ema": averaged, "optimizer": optimizer}, tmp_path / "a.pth")
    report = convert_weights(tmp_path / "a.pth", tmp_path / "a.ckpt")
    assert (report.key, report.others) == ("model", ("model_ema",))
    assert contents(tmp_path / "a.pth", "model_ema") == expected(averaged)


def test_two_models_of_equal_rank_are_asked_about(tmp_path):
    model, _ = training_checkpoint()
    torch.save({"actor": model, "critic": {k: v + 1 for k, v in model.items()}}, tmp_path / "a.pth")
    with pytest.raises(MindferryError, match=r"actor \(4\), critic \(4\); choose with --key"):
        open_checkpoint(tmp_path / "a.pth")
    with pytest.raises(MindferryError, match="no tensors under 'actress'"):
        open_checkpoint(tmp_path / "a.pth", "actress")


def test_arguments_in_a_checkpoint_are_inert_and_unknown_classes_can_be_allowed(tmp_path):
    import argparse
    import decimal

    torch.save({"model": {"x": torch.ones(2)}, "args": argparse.Namespace(lr=0.1)}, tmp_path / "a.pth")
    assert set(contents(tmp_path / "a.pth")) == {"x"}
    torch.save({"model": {"x": torch.ones(2)}, "when": decimal.Decimal("1.5")}, tmp_path / "b.pth")
    with pytest.raises(MindferryError, match=r"decimal.Decimal"):
        open_checkpoint(tmp_path / "b.pth")
    with open_checkpoint(tmp_path / "b.pth", allowed=frozenset({"decimal.Decimal"})) as checkpoint:
        assert [entry.name for entry in checkpoint.entries] == ["x"]


@pytest.mark.parametrize("kind", ["safetensors", "bin"])
def test_a_sharded_set_is_one_model(kind, tmp_path):
    tensors = {f"l{i}.weight": torch.randn(4, 4, 1, 1) for i in range(5)}
    places = {}
    for number, part in enumerate([["l0", "l1"], ["l2", "l3", "l4"]]):
        file_name = f"model-{number}.{kind}"
        shard = {f"{name}.weight": tensors[f"{name}.weight"] for name in part}
        places |= dict.fromkeys(shard, file_name)
        if kind == "bin":
            torch.save(shard, tmp_path / file_name)
        else:
            pytest.importorskip("safetensors.torch").save_file(shard, tmp_path / file_name)
    index = tmp_path / f"model.{kind}.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": places}))
    assert contents(index) == contents(tmp_path) == expected(tensors)


def test_shards_are_written_with_an_index_that_transformers_reads(tmp_path):
    tensors = {f"l{i}.weight": torch.randn(10, 10, 1, 1) for i in range(5)}
    torch.save(tensors, tmp_path / "a.pth")
    convert_weights(tmp_path / "a.pth", tmp_path / "out" / "model.safetensors", shard_bytes=1000)
    index = json.loads((tmp_path / "out" / "model.safetensors.index.json").read_text())
    assert index["metadata"]["total_size"] == 2000 and len(set(index["weight_map"].values())) == 3
    assert sorted(p.name for p in (tmp_path / "out").iterdir())[0] == "model-00001-of-00003.safetensors"
    assert contents(tmp_path / "out") == expected(tensors)


def test_a_written_pth_is_aligned_for_mapping_and_carries_right_checksums(tmp_path):
    torch.save({"a": torch.randn(3), "b": torch.randn(1000)}, tmp_path / "a.pth")
    convert_weights(tmp_path / "a.pth", tmp_path / "b.pth", reverse=True)
    with zipfile.ZipFile(tmp_path / "b.pth") as archive:
        assert archive.testzip() is None
        for info in archive.infolist():
            if "/data/" in info.filename:
                start = info.header_offset + 30 + len(info.filename) + len(info.extra)
                assert start % 64 == 0


def test_wide_integers_in_a_pickle_are_written_and_read(tmp_path):
    from mindferry.weights.formats.pth_write import _integer

    assert _integer(5) == b"J\x05\x00\x00\x00" and _integer(1 << 40)[:2] == b"\x8a\x08"


def test_a_torch_model_takes_the_converted_file_strictly(tmp_path):
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.LayerNorm(5))
    torch.save(model.state_dict(), tmp_path / "a.pth")
    convert_weights(tmp_path / "a.pth", tmp_path / "a.ckpt")
    convert_weights(tmp_path / "a.ckpt", tmp_path / "b.pth", reverse=True)
    model.load_state_dict(torch.load(tmp_path / "b.pth"))
