"""Odd but legitimate checkpoints: what comes out equals what torch loads, or the file is refused by name."""

from __future__ import annotations

import pytest
import torch

from mindferry.errors import MindferryError
from mindferry.weights import convert_weights

SEED = 7
FORMATS = ("pth", "safetensors", "ckpt")


class Branded(torch.Tensor):
    """A subclass of a user's own."""


def _views() -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(SEED)
    x = torch.randn(6, 8, generator=generator)
    z = torch.complex(x, torch.randn(6, 8, generator=generator))
    deep = torch.randn(4, 3, 5, 7, generator=generator)
    return {
        "conjugate": z.conj(),
        "conjugate of a slice": z[1:5, ::2].conj(),
        "conjugate, transposed": z.t().conj(),
        "imaginary part of a conjugate": z.conj().imag,
        "real part of a conjugate": z.conj().real,
        "negated view": torch._neg_view(x),
        "negated half": torch._neg_view(x.half()),
        "negated bfloat16": torch._neg_view(x.bfloat16()),
        "negated integers": torch._neg_view((x * 100).long()),
        "negated complex": torch._neg_view(z),
        "negated conjugate": torch._neg_view(z.conj()),
        "double conjugate": z.conj().conj(),
        "transposed": x.t(),
        "strided": x[::2, 1::3],
        "expanded": x[:1].expand(5, 8),
        "expanded scalar": torch.tensor(2.5).expand(3, 4),
        "permuted": deep.permute(3, 0, 2, 1),
        "channels last": deep.contiguous(memory_format=torch.channels_last),
        "diagonal": x.diagonal(),
        "unfolded": x.flatten().unfold(0, 6, 2),
        "narrow": x.narrow(1, 3, 2),
        "flipped": x.flip(0),
        "one of one": x[2:3, 4:5],
        "scalar": torch.tensor(3.5),
        "empty": torch.empty(0, 3),
        "empty view": x[:, 8:],
        "view as another type": x.view(torch.int32),
        "view as shorter type": x.half().view(torch.uint8),
        "bytes of complex": torch.view_as_real(z),
        "parameter": torch.nn.Parameter(x),
        "frozen parameter": torch.nn.Parameter(x.t(), requires_grad=False),
        "parameter of a conjugate": torch.nn.Parameter(z.conj()),
        "buffer": torch.nn.Buffer(x) if hasattr(torch.nn, "Buffer") else x,
    }


def _dtypes() -> dict[str, torch.Tensor]:
    x = torch.arange(-6, 6).float()
    names = (
        "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 uint16 uint32 uint64 bool complex64"
    ).split()
    names += ["complex128", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]
    made = {}
    for name in names:
        values = x.abs() if name.startswith("uint") else x
        made[name] = values.to(getattr(torch, name))
    made |= {f"{name}, every other": tensor[::2] for name, tensor in list(made.items())}
    return made


def _refused() -> dict[str, torch.Tensor]:
    x = torch.arange(12.0).reshape(3, 4)
    return {
        "qtensor": torch.quantize_per_tensor(x, 0.1, 3, torch.qint8),
        "qtensor by channel": torch.quantize_per_channel(x, torch.ones(3), torch.zeros(3), 0, torch.quint8),
        "sparse": x.to_sparse(),
        "sparse csr": x.to_sparse_csr(),
        "meta": x.to("meta"),
        "nested": torch.nested.nested_tensor([x, x[:2]]),
        "subclass": x.as_subclass(Branded),
        "half a complex number": x.to(torch.complex32),
    }


# torch itself can't write these types in its older format.
UNTYPED = ("uint16", "uint32", "uint64", "float8")
CASES = [(kind, False) for kind in (*_views(), *_dtypes())]
CASES += [(kind, True) for kind, _ in CASES if not kind.startswith(UNTYPED)]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("kind", "is_legacy"), CASES)
def test_it_arrives_with_the_values_that_torch_loads(kind, is_legacy, form, tmp_path):
    tensor = {**_views(), **_dtypes()}[kind]
    torch.save(
        {"values": tensor, "other": torch.ones(2)}, tmp_path / "a.pth", _use_new_zipfile_serialization=not is_legacy
    )
    expected = _bytes_of(torch.load(tmp_path / "a.pth", weights_only=False)["values"])
    assert expected == _bytes_of(tensor), "torch itself loses it"
    try:
        convert_weights(tmp_path / "a.pth", tmp_path / f"b.{form}")
    except MindferryError as error:
        assert str(tensor.dtype).removeprefix("torch.") in str(error), "refused, but not by name"
        return
    convert_weights(tmp_path / f"b.{form}", tmp_path / "c.pth", reverse=True)
    actual = torch.load(tmp_path / "c.pth", weights_only=True)["values"]
    assert actual.dtype == tensor.dtype and actual.shape == tensor.shape
    assert _bytes_of(actual) == expected


def _bytes_of(tensor: torch.Tensor) -> bytes:
    plain = tensor.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    return bytes(plain.untyped_storage())


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", _refused())
def test_what_can_not_be_carried_is_refused_by_name(kind, form, tmp_path):
    torch.save({"w": _refused()[kind]}, tmp_path / "a.pth")
    with pytest.raises(MindferryError, match=r"tensor|test_odd_tensors|ComplexHalf|meta|complex32"):
        convert_weights(tmp_path / "a.pth", tmp_path / f"b.{form}")
    assert not (tmp_path / f"b.{form}").exists()


@pytest.mark.parametrize("name", [1, True, None, b"w", ("a", "b")], ids=repr)
def test_a_tensor_under_a_key_that_is_no_text_is_refused_by_name(name, tmp_path):
    torch.save({"w": torch.ones(2), name: torch.zeros(3)}, tmp_path / "in.pth")
    with pytest.raises(MindferryError, match="which is no text") as told:
        convert_weights(tmp_path / "in.pth", tmp_path / "out.ckpt")
    assert repr(name) in str(told.value) and not (tmp_path / "out.ckpt").exists()


def test_metadata_that_nobody_knows_is_refused_by_name(tmp_path):
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parent.parent / "hostile"))
    from files import archive, state_dict, tensor, text

    whole = tensor().removesuffix(b"tR") + b"}" + text("mirrored") + b"\x88s" + b"tR"
    archive(tmp_path / "a.pth", state_dict(("w", whole)), {"archive/data/0": bytes(8)})
    with pytest.raises(MindferryError, match="metadata 'mirrored'"):
        convert_weights(tmp_path / "a.pth", tmp_path / "a.ckpt")


def test_tied_views_of_one_storage_stay_what_they_are(tmp_path):
    base = torch.randn(4, 6, generator=torch.Generator().manual_seed(SEED))
    torch.save({"a": base, "b": base.t(), "c": base[1], "d": base}, tmp_path / "a.pth")
    convert_weights(tmp_path / "a.pth", tmp_path / "b.safetensors")
    convert_weights(tmp_path / "b.safetensors", tmp_path / "c.pth", reverse=True)
    actual = torch.load(tmp_path / "c.pth", weights_only=True)
    for name, expected in {"a": base, "b": base.t(), "c": base[1], "d": base}.items():
        assert torch.equal(actual[name], expected), name


def test_a_large_view_is_put_in_order_without_being_held_whole(tmp_path):
    """As the operating system counts it: pages of a mapped file would count too."""
    import subprocess
    import sys

    torch.save(
        {"turned": torch.zeros(4000, 6000).t(), "every other": torch.zeros(4000, 6000)[:, ::2]}, tmp_path / "a.pth"
    )
    code = (
        "import numpy, resource, sys\nfrom mindferry.weights import convert_weights\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "convert_weights('a.pth', 'a.ckpt')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before >> 10)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and int(done.stdout) < 60, done.stdout + done.stderr
