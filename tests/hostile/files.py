"""Malicious and broken checkpoints, one builder each; its docstring says what is wrong with the file."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

Builder = Callable[[Path, Path], None]
BUILDERS: dict[str, tuple[str, Builder]] = {}  # sentence -> (file name, builder)


def hostile(name: str) -> Callable[[Builder], Builder]:
    """Register a builder of `name`; it gets the path to write and the marker that an execution would create."""

    def register(builder: Builder) -> Builder:
        assert builder.__doc__ is not None
        BUILDERS[builder.__doc__] = (name, builder)
        return builder

    return register


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value.encode())) + value.encode()


def integer(value: int) -> bytes:
    raw = value.to_bytes(9, "little", signed=True)
    return b"\x8a\x09" + raw


def tensor(key="0", kind="FloatStorage", numel=2, offset=0, shape=(2,), stride=(1,)) -> bytes:
    """The pickle of one tensor, with any field made wrong."""
    sizes = b"(" + b"".join(map(integer, shape)) + b"t" + b"(" + b"".join(map(integer, stride)) + b"t"
    identity = (
        b"(" + text("storage") + b"ctorch\n" + kind.encode() + b"\n" + text(key) + text("cpu") + integer(numel) + b"tQ"
    )
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n("
        + identity
        + integer(offset)
        + sizes
        + b"\x89ccollections\nOrderedDict\n)RtR"
    )


def state_dict(*pairs: tuple[str, bytes]) -> bytes:
    return b"\x80\x02}(" + b"".join(text(name) + value for name, value in pairs) + b"u."


def archive(
    path: Path, pickled: bytes, records: dict[str, bytes] | None = None, compression=zipfile.ZIP_STORED
) -> None:
    with zipfile.ZipFile(path, "w", compression) as out:
        out.writestr("archive/data.pkl", pickled)
        for name, data in (records if records is not None else {"data/0": bytes(8)}).items():
            out.writestr(f"archive/{name}", data)
        out.writestr("archive/version", "3\n")


def calling(module: str, name: str, argument: str, marker: Path) -> bytes:
    return f"c{module}\n{name}\n".encode() + b"(" + text(argument.format(marker)) + b"tR"


GOOD = ("w", tensor())

CODE = {
    "os.system": ("os", "system", "touch {}"),
    "posix.system": ("posix", "system", "touch {}"),
    "builtins.eval": ("builtins", "eval", "open('{}', 'w')"),
    "builtins.exec": ("builtins", "exec", "open('{}', 'w')"),
    "__builtin__.eval of Python 2": ("__builtin__", "eval", "open('{}', 'w')"),
    "subprocess.check_output": ("subprocess", "check_output", "touch {}"),
    "subprocess.Popen": ("subprocess", "Popen", "touch {}"),
    "builtins.open": ("builtins", "open", "{}"),
    "builtins.getattr": ("builtins", "getattr", "{}"),
    "builtins.__import__": ("builtins", "__import__", "{}"),
    "runpy.run_path": ("runpy", "run_path", "{}"),
    "pickle.loads": ("pickle", "loads", "{}"),
    "torch.load, which unpickles another file": ("torch", "load", "{}"),
    "torch.hub.load": ("torch.hub", "load", "{}"),
    "torch.jit.load": ("torch.jit", "load", "{}"),
    "numpy.load, which can unpickle": ("numpy", "load", "{}"),
    "numpy.testing's runstring": ("numpy.testing._private.utils", "runstring", "{}"),
    "shutil.rmtree": ("shutil", "rmtree", "{}"),
    "socket.create_connection": ("socket", "create_connection", "{}"),
    "webbrowser.open": ("webbrowser", "open", "file://{}"),
    "pip's main": ("pip", "main", "{}"),
    "operator.methodcaller": ("operator", "methodcaller", "{}"),
    "functools.partial": ("functools", "partial", "{}"),
    "copyreg._reconstructor": ("copyreg", "_reconstructor", "{}"),
    "a dotted path through an allowed module": ("collections", "OrderedDict.fromkeys", "{}"),
    "an allowed name in another module": ("evil", "OrderedDict", "{}"),
    "a torch function that looks like a rebuild": ("torch._utils", "_rebuild_qtensor", "{}"),
    "torch's storage loader": ("torch.storage", "_load_from_bytes", "{}"),
}


def _code(sentence: str, module: str, name: str, argument: str) -> None:
    def build(path: Path, marker: Path) -> None:
        archive(path, state_dict(GOOD, ("x", calling(module, name, argument, marker))))

    build.__doc__ = f"a pickle that calls {sentence}"
    hostile("a.pth")(build)


for _sentence, _call in CODE.items():
    _code(_sentence, *_call)


class Executes:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self):
        return (exec, (f"open({str(self.marker)!r}, 'w')",))


@hostile("a.pth")
def protocol_4(path, marker):
    """code reached by protocol 4's STACK_GLOBAL"""
    archive(path, pickle.dumps({"w": Executes(marker)}, 4))


@hostile("a.pth")
def by_memo(path, marker):
    """code named once, put into the memo, and called from there"""
    call = b"cos\nsystem\nq\x01)" + b"0h\x01(" + text(f"touch {marker}") + b"tR"
    archive(path, state_dict(("x", call)))


@hostile("a.pth")
def old_instance(path, marker):
    """code called by the INST operation of protocol 0"""
    archive(path, b"(S'touch " + str(marker).encode() + b"'\nios\nsystem\n.")


@hostile("a.pth")
def old_object(path, marker):
    """code called by the OBJ operation"""
    archive(path, b"\x80\x02(cos\nsystem\n" + text(f"touch {marker}") + b"o.")


@hostile("a.pth")
def new_object(path, marker):
    """code called by NEWOBJ"""
    archive(path, state_dict(("x", b"csubprocess\nPopen\n(" + text(f"touch {marker}") + b"t\x81")))


@hostile("a.pth")
def extension(path, marker):
    """code from the extension registry (EXT1)"""
    archive(path, b"\x80\x02\x82\x01(" + text(f"touch {marker}") + b"tR.")


@hostile("a.pth")
def build_attributes(path, marker):
    """a BUILD that sets attributes on an allowed class"""
    archive(path, b"\x80\x02ccollections\nOrderedDict\n}(" + text("__setstate__") + b"cos\nsystem\nub.")


@hostile("a.pth")
def call_of_a_tensor(path, marker):
    """a REDUCE that calls a tensor"""
    archive(path, state_dict(("x", tensor() + b"(" + text("x") + b"tR")))


@hostile("a.pth")
def rebuild_type(path, marker):
    """code smuggled through _rebuild_from_type_v2"""
    call = b"ctorch._tensor\n_rebuild_from_type_v2\n(cos\nsystem\nctorch\nTensor\n(" + text(f"touch {marker}") + b"t}tR"
    archive(path, state_dict(("x", call)))


@hostile("a.pth")
def legacy_code(path, marker):
    """code in the system record of a legacy file"""
    magic = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
    path.write_bytes(
        magic + b"\x80\x02M\xe9\x03." + b"\x80\x02" + calling("posix", "system", "touch {}", marker) + b"."
    )


@hostile("a.pth")
def legacy_code_after_the_data(path, marker):
    """code in the last record of a legacy file"""
    magic = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
    parts = [b"\x80\x02M\xe9\x03.", b"\x80\x02}.", state_dict(GOOD), pickle.dumps(Executes(marker), 2)]
    path.write_bytes(magic + b"".join(parts))


@hostile("a.bin")
def bare_pickle(path, marker):
    """a bare pickle that executes, called .bin"""
    path.write_bytes(pickle.dumps(Executes(marker), 2))


@hostile("a.safetensors")
def disguised(path, marker):
    """a pickle that executes, called .safetensors"""
    path.write_bytes(pickle.dumps(Executes(marker), 2))


@hostile("a.ckpt")
def disguised_ckpt(path, marker):
    """a zip with code in it, called .ckpt"""
    archive(path, pickle.dumps(Executes(marker), 2))


@hostile("a.pth")
def numpy_objects(path, marker):
    """a numpy array of objects whose elements execute"""
    import numpy as np

    archive(path, pickle.dumps({"w": np.array([Executes(marker)], dtype=object)}, 2))


@hostile("a.pth")
def numpy_object_type_only(path, marker):
    """a numpy array whose type becomes object behind its creation"""
    import numpy as np

    plain = pickle.dumps({"w": np.zeros(1, np.float64)}, 2)
    archive(path, plain.replace(text("f8"), text("O8")))


@hostile("a.pth")
def torchscript(path, marker):
    """a TorchScript program"""
    archive(
        path, state_dict(GOOD), {"data/0": bytes(8), "constants.pkl": b"\x80\x02).", "code/__torch__.py": b"import os"}
    )


@hostile("a.pth")
def whole_module(path, marker):
    """a whole pickled model, whose class would be imported"""
    archive(path, b"\x80\x02cmodels\nNet\n)\x81}b.")


@hostile("a.pth")
def zip_bomb(path, marker):
    """a zip bomb: gigabytes of zeros in a small compressed record"""
    archive(
        path,
        state_dict(("w", tensor(numel=1 << 24, shape=(1 << 24,)))),
        {"data/0": bytes(1 << 26)},
        zipfile.ZIP_DEFLATED,
    )


@hostile("a.pth")
def compressed_pickle(path, marker):
    """a pickle that is itself a compression bomb"""
    archive(path, b"\x80\x02" + b"}" * (1 << 22), {}, zipfile.ZIP_DEFLATED)


@hostile("a.pth")
def view_bomb(path, marker):
    """a tensor that expands four bytes to terabytes by a stride of zero"""
    archive(path, state_dict(("w", tensor(shape=(1 << 40,), stride=(0,)))))


@hostile("a.pth")
def many_views(path, marker):
    """a thousand tensors that all show the same storage"""
    names = [(f"w{i}", tensor(numel=1 << 18, shape=(1 << 18,))) for i in range(1000)]
    archive(path, state_dict(*names), {"data/0": bytes(1 << 20)})


@hostile("a.pth")
def nested_bomb(path, marker):
    """dictionaries nested a hundred thousand deep"""
    archive(path, b"\x80\x02" + b"}X\x01\x00\x00\x00a" * 100_000 + b"N" + b"s" * 100_000 + b".")


@hostile("a.pth")
def endless_operations(path, marker):
    """six million operations that build nothing"""
    archive(path, b"\x80\x02" + b"N0" * 3_000_000 + b"}.")


@hostile("a.pth")
def self_reference(path, marker):
    """a dictionary that holds itself"""
    archive(path, b"\x80\x02}q\x00X\x01\x00\x00\x00ah\x00s.")


@hostile("a.pth")
def colliding_keys(path, marker):
    """integer keys chosen to collide in a dictionary"""
    keys = b"".join(integer(i * ((1 << 61) - 1)) + b"N" for i in range(1, 5))
    archive(path, b"\x80\x02}(" + keys + b"u.")


@hostile("a.pth")
def huge_number(path, marker):
    """a number of a million digits"""
    archive(path, b"\x80\x02I" + b"9" * 1_000_000 + b"\n.")


@hostile("a.pth")
def negative_offset(path, marker):
    """a tensor at a negative offset of its storage"""
    archive(path, state_dict(("w", tensor(offset=-1))))


@hostile("a.pth")
def negative_shape(path, marker):
    """a tensor of negative length"""
    archive(path, state_dict(("w", tensor(shape=(-2,)))))


@hostile("a.pth")
def negative_stride(path, marker):
    """a tensor that runs backwards out of its storage"""
    archive(path, state_dict(("w", tensor(stride=(-1,)))))


@hostile("a.pth")
def beyond_storage(path, marker):
    """a tensor that reaches beyond its storage"""
    archive(path, state_dict(("w", tensor(offset=1))))


@hostile("a.pth")
def wide_stride(path, marker):
    """a stride that leaves the storage"""
    archive(path, state_dict(("w", tensor(stride=(1 << 50,)))))


@hostile("a.pth")
def overflowing_shape(path, marker):
    """a shape whose product overflows 64 bits to something small"""
    archive(path, state_dict(("w", tensor(shape=(1 << 32, 1 << 32), stride=(0, 0)))))


@hostile("a.pth")
def float_shape(path, marker):
    """a shape of NaN"""
    good = tensor()
    archive(path, state_dict(("w", good.replace(b"(" + integer(2) + b"t(", b"(G\x7f\xf8\0\0\0\0\0\0t(", 1))))


@hostile("a.pth")
def storage_size(path, marker):
    """a storage announced larger than its record"""
    archive(path, state_dict(("w", tensor(numel=1 << 30))))


@hostile("a.pth")
def two_faced_storage(path, marker):
    """one storage described with two types"""
    archive(path, state_dict(GOOD, ("v", tensor(kind="DoubleStorage", numel=1, shape=(1,)))))


@hostile("a.pth")
def missing_storage(path, marker):
    """a tensor whose storage is not in the file"""
    archive(path, state_dict(("w", tensor(key="7"))))


@hostile("a.pth")
def storage_path(path, marker):
    """a storage key that climbs out of the archive"""
    archive(path, state_dict(("w", tensor(key="../../../etc/passwd"))))


@hostile("a.pth")
def record_path(path, marker):
    """a zip record whose name climbs out of the folder"""
    archive(path, state_dict(GOOD), {"data/0": bytes(8), "../../../escaped": b"x"})


@hostile("a.pth")
def tensor_path(path, marker):
    """a tensor whose name is a path out of the folder"""
    archive(path, state_dict(("../../escaped", tensor())))


@hostile("a.pth")
def control_name(path, marker):
    """a tensor whose name would rewrite the terminal"""
    archive(path, state_dict(("\x1b[2Jw\n", tensor())))


@hostile("a.pth")
def duplicate_key(path, marker):
    """a state dict with the same key twice"""
    archive(path, state_dict(GOOD, GOOD))


@hostile("a.pth")
def duplicate_record(path, marker):
    """a zip with the same record twice"""
    import warnings

    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as out:
        warnings.simplefilter("ignore")
        out.writestr("archive/data.pkl", state_dict(GOOD))
        out.writestr("archive/data/0", bytes(8))
        out.writestr("archive/data/0", b"otherone")


@hostile("a.pth")
def two_pickles(path, marker):
    """a zip with two pickles to choose from"""
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("archive/data.pkl", state_dict(GOOD))
        out.writestr("other/data.pkl", state_dict(GOOD))
        out.writestr("archive/data/0", bytes(8))


def _patched(path: Path, find: bytes, change: Callable[[bytearray, int], None], last: bool = True) -> None:
    data = bytearray(path.read_bytes())
    change(data, data.rfind(find) if last else data.find(find))
    path.write_bytes(data)


@hostile("a.pth")
def wrong_checksum(path, marker):
    """a flipped bit in a tensor's bytes"""
    archive(path, state_dict(GOOD), {"data/0": b"ABCDEFGH"})
    _patched(path, b"ABCDEFGH", lambda data, at: data.__setitem__(at, data[at] ^ 1))


@hostile("a.pth")
def wrong_pickle_checksum(path, marker):
    """a flipped bit in the pickle"""
    archive(path, state_dict(GOOD))
    _patched(path, b"storage", lambda data, at: data.__setitem__(at, data[at] ^ 1))


@hostile("a.pth")
def wrong_partial_checksum(path, marker):
    """a flipped bit in a storage of which a tensor shows only a part"""
    archive(path, state_dict(("w", tensor(numel=4, shape=(2,)))), {"data/0": b"ABCDEFGHIJKLMNOP"})
    _patched(path, b"IJKL", lambda data, at: data.__setitem__(at, data[at] ^ 1))


@hostile("a.pth")
def overlapping_records(path, marker):
    """zip records that overlap"""
    archive(path, state_dict(GOOD, ("v", tensor(key="1"))), {"data/0": bytes(8), "data/1": bytes(8)})
    data = bytearray(path.read_bytes())
    first, second = (data.rfind(b"archive/data/" + digit) - 46 for digit in (b"0", b"1"))
    data[second + 42 : second + 46] = data[first + 42 : first + 46]
    path.write_bytes(data)


@hostile("a.pth")
def running_records(path, marker):
    """a zip record whose length runs into the next"""
    archive(path, state_dict(GOOD, ("v", tensor(key="1"))), {"data/0": bytes(8), "data/1": bytes(8)})
    longer = struct.pack("<II", 60, 60)
    _patched(path, b"archive/data/0", lambda data, at: data.__setitem__(slice(at - 26, at - 18), longer))


@hostile("a.pth")
def record_beyond(path, marker):
    """a zip record that lies beyond the file"""
    archive(path, state_dict(GOOD))
    _patched(path, b"archive/data/0", lambda data, at: data.__setitem__(slice(at - 4, at), b"\xff\xff\xff\x7f"))


@hostile("a.pth")
def truncated_zip(path, marker):
    """a zip cut in the middle"""
    archive(path, state_dict(GOOD), {"data/0": bytes(8000)})
    path.write_bytes(path.read_bytes()[:4000])


@hostile("a.pth")
def truncated_pickle(path, marker):
    """a pickle cut in the middle"""
    archive(path, state_dict(GOOD)[:-20])


@hostile("a.pth")
def empty_stack(path, marker):
    """a pickle that takes more from its stack than is there"""
    archive(path, b"\x80\x02000000R.")


@hostile("a.pth")
def text_lengths(path, marker):
    """a text in the pickle longer than the file"""
    archive(path, b"\x80\x02X\xff\xff\xff\x7fabc.")


@hostile("a.pth")
def legacy_truncated(path, marker):
    """a legacy file whose storage is cut"""
    import torch

    torch.save({"w": torch.ones(1000)}, path, _use_new_zipfile_serialization=False)
    path.write_bytes(path.read_bytes()[:-100])


@hostile("a.pth")
def legacy_length(path, marker):
    """a legacy file that announces more elements than it has"""
    import torch

    torch.save({"w": torch.ones(1000)}, path, _use_new_zipfile_serialization=False)
    data = bytearray(path.read_bytes())
    data[-4008:-4000] = (1 << 60).to_bytes(8, "little")
    path.write_bytes(data)


@hostile("a.pth")
def legacy_negative_length(path, marker):
    """a legacy file with a storage of negative length"""
    import torch

    torch.save({"w": torch.ones(1000)}, path, _use_new_zipfile_serialization=False)
    data = bytearray(path.read_bytes())
    data[-4008:-4000] = (-1).to_bytes(8, "little", signed=True)
    path.write_bytes(data)


@hostile("a.pth")
def sparse(path, marker):
    """a sparse tensor, which no MindSpore parameter can take"""
    import torch

    torch.save({"w": torch.eye(3).to_sparse()}, path)


@hostile("a.pth")
def no_tensors(path, marker):
    """a checkpoint without a single tensor"""
    archive(path, b"\x80\x02}X\x05\x00\x00\x00epochK\x03s.")


@hostile("a.pth")
def empty(path, marker):
    """an empty file"""
    path.write_bytes(b"")


@hostile("a.pth")
def noise(path, marker):
    """random bytes"""
    import random

    path.write_bytes(random.Random(0).randbytes(5000))


def safetensors(path: Path, header: object, data: bytes = bytes(8), length: int | None = None) -> None:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(raw) if length is None else length) + raw + data)


def described(**changes: object) -> dict[str, object]:
    return {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]} | changes


SAFETENSORS = {
    "a header length beyond the file": lambda p: safetensors(p, {"w": described()}, length=1 << 40),
    "a header length of all ones": lambda p: safetensors(p, {"w": described()}, length=(1 << 64) - 1),
    "a header that is no JSON": lambda p: safetensors(p, b"{'w': }"),
    "a header nested a hundred thousand deep": lambda p: safetensors(p, b"[" * 100_000),
    "a header that is a list": lambda p: safetensors(p, [1]),
    "the same key twice": lambda p: safetensors(
        p,
        b'{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}',
    ),
    "a shape of NaN": lambda p: safetensors(p, b'{"w":{"dtype":"F32","shape":[NaN],"data_offsets":[0,8]}}'),
    "a negative shape": lambda p: safetensors(p, {"w": described(shape=[-2])}),
    "a shape of booleans": lambda p: safetensors(p, {"w": described(shape=[True, 2])}),
    "a shape that overflows": lambda p: safetensors(p, {"w": described(shape=[1 << 32, 1 << 32])}),
    "a hundred dimensions": lambda p: safetensors(p, {"w": described(shape=[1] * 100 + [2])}),
    "negative offsets": lambda p: safetensors(p, {"w": described(data_offsets=[-8, 0])}),
    "offsets in the wrong order": lambda p: safetensors(p, {"w": described(data_offsets=[8, 0])}),
    "offsets beyond the file": lambda p: safetensors(p, {"w": described(shape=[4], data_offsets=[0, 16])}),
    "overlapping tensors": lambda p: safetensors(p, {"w": described(), "v": described(shape=[1], data_offsets=[4, 8])}),
    "a hole between tensors": lambda p: safetensors(p, {"w": described(data_offsets=[8, 16])}, bytes(16)),
    "bytes behind the last tensor": lambda p: safetensors(p, {"w": described()}, bytes(20)),
    "a type that nobody knows": lambda p: safetensors(p, {"w": described(dtype="F99")}),
    "a type that is a list": lambda p: safetensors(p, {"w": described(dtype=["F32"])}),
    "metadata that is no text": lambda p: safetensors(p, {"__metadata__": {"a": [1]}, "w": described()}),
    "a name that climbs out of the folder": lambda p: safetensors(p, {"../../w": described()}),
    "an empty name": lambda p: safetensors(p, {"": described()}),
    "seven bytes": lambda p: p.write_bytes(bytes(7)),
}


def _safetensors(sentence: str, write: Callable[[Path], object]) -> None:
    def build(path: Path, marker: Path) -> None:
        write(path)

    build.__doc__ = f"safetensors with {sentence}"
    hostile("a.safetensors")(build)


for _sentence, _write in SAFETENSORS.items():
    _safetensors(_sentence, _write)


def ckpt(
    name: bytes = b"w", dims: bytes = b"\x08\x02", kind: bytes = b"Float32", data: bytes = bytes(8), extra: int = 0
) -> bytes:
    def field(head: int, body: bytes, more: int = 0) -> bytes:
        length, out = len(body) + more, bytearray([head])
        while length > 127:
            out.append(length & 127 | 128)
            length >>= 7
        return bytes(out) + bytes([length]) + body

    tensor_proto = dims + field(0x12, kind) + field(0x1A, data, extra)
    return field(0x0A, field(0x0A, name) + field(0x12, tensor_proto))


CKPT = {
    "a record that is cut": ckpt()[:-3],
    "content that announces more than its record": ckpt(extra=1 << 20),
    "a shape that needs more bytes than there are": ckpt(dims=b"\x08\x7f"),
    "a negative dimension": ckpt(dims=b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
    "a number without end": b"\x0a" + b"\xff" * 40,
    "a hundred dimensions": ckpt(dims=b"\x08\x01" * 100),
    "the same tensor twice, not in a row": ckpt() + ckpt(b"v") + ckpt(),
    "slices of one tensor that disagree on its type": ckpt(data=bytes(4)) + ckpt(kind=b"Float16", data=bytes(4)),
    "a type that MindSpore can't load": ckpt(kind=b"Complex64"),
    "a type that nobody knows": ckpt(kind=b"Float99"),
    "a name that is no text": ckpt(b"\xff\xfe"),
    "a name of a megabyte": ckpt(b"w" * 1_000_000),
    "a name that climbs out of the folder": ckpt(b"../../w"),
    "a wrong checksum": ckpt() + b"crc_num" + (12345).to_bytes(10, "big"),
    "noise behind the last record": ckpt() + b"noise",
    "an unknown field": ckpt() + b"\x12\x01x",
}


def _ckpt(sentence: str, data: bytes) -> None:
    def build(path: Path, marker: Path) -> None:
        path.write_bytes(data)

    build.__doc__ = f"a .ckpt with {sentence}"
    hostile("a.ckpt")(build)


for _sentence, _data in CKPT.items():
    _ckpt(_sentence, _data)

INDEX = {
    "a shard outside the folder": {"weight_map": {"w": "../a.safetensors"}},
    "a shard at an absolute path": {"weight_map": {"w": "/etc/passwd"}},
    "a shard that is missing": {"weight_map": {"w": "gone.safetensors"}},
    "itself as a shard": {"weight_map": {"w": "a.safetensors.index.json"}},
    "a shard that is a number": {"weight_map": {"w": 3}},
    "no map": {"metadata": {}},
    "a tensor that its shard doesn't hold": {"weight_map": {"w": "part.safetensors", "v": "part.safetensors"}},
    "a tensor in a shard that it doesn't list": {"weight_map": {"w": "two.safetensors"}},
}


def _index(sentence: str, body: object) -> None:
    def build(path: Path, marker: Path) -> None:
        path.write_text(json.dumps(body))
        safetensors(path.parent / "part.safetensors", {"w": described()})
        two = {"w": described(), "v": described(data_offsets=[8, 16])}
        safetensors(path.parent / "two.safetensors", two, bytes(16))

    build.__doc__ = f"an index with {sentence}"
    hostile("a.safetensors.index.json")(build)


for _sentence, _body in INDEX.items():
    _index(_sentence, _body)


def good_zip() -> bytes:
    """A sound file of the same making, to show that the builders' parts are accepted when nothing is wrong."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("archive/data.pkl", state_dict(GOOD))
        made.writestr("archive/data/0", struct.pack("<2f", 1.5, -2.0))
    return out.getvalue()
