"""A checkpoint with everything that it holds, as the converted project's own load() reads it: tensors as records, the rest as JSON.

Names, shapes and nesting stay torch's: the helpers find MindSpore's. Nothing in the file is run.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import io
import json
import math
import pathlib
import pickle
import types
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..artifacts import WeightEntry, WeightsReport
from ..errors import MindferryError
from ..files import complete_or_absent
from ..layout import carried_name
from .dtypes import DTYPES
from .formats.ckpt import STRUCTURE, check_ckpt, write_ckpt
from .formats.entry import CHUNK, Advance, Entry, SourceFile, Span, silent
from .formats.files import check_free
from .formats.limits import DEPTH, FREE, OPERATIONS, bad, check_expansion, check_name, shown
from .formats.pth import LEGACY_MAGIC, ZIP_MAGIC, entry_of, read_value
from .formats.rebuilt import Inert, NumpyArray, TensorRef
from .formats.zipped import zip_records

Json = Any
SPACES = {"argparse.Namespace": argparse.Namespace, "types.SimpleNamespace": types.SimpleNamespace}
PATHS: dict[str, type[pathlib.PurePath]] = {
    "Path": pathlib.PosixPath,
    "PosixPath": pathlib.PosixPath,
    "PurePath": pathlib.PurePosixPath,
    "PurePosixPath": pathlib.PurePosixPath,
    "PureWindowsPath": pathlib.PureWindowsPath,
}
TEXT = 8  # times the file's size that its texts, bytes and arrays may come to as JSON: a control character takes six letters
CONTAINER = 96  # letters that a list or a dictionary counts as: an empty one is a byte in a pickle, and a table here
MEMBERS = 10_000  # of sets that may be numbers or pairs: those can be chosen to collide, and such a set takes forever


def is_torch_file(path: Path) -> bool:
    """Whether torch.save wrote it: numpy's .npz is a zip, too, but holds no pickle of that name."""
    try:
        with contextlib.closing(SourceFile(path)) as file:
            head = file.read(0, min(file.size, 16))
            if not head.startswith(ZIP_MAGIC):
                return head.startswith(LEGACY_MAGIC)
            return any(name.endswith("data.pkl") for name in zip_records(file))
    except MindferryError:
        return False


def carry_whole(
    source: Path, output: Path, *, allowed: frozenset[str] = frozenset(), force: bool = False, advance: Advance = silent
) -> WeightsReport:
    """Write all of `source` to `output` in MindSpore's format, whatever its name ends in."""
    check_free(output, (source,), force)
    with contextlib.closing(SourceFile(source)) as file:
        packer = _packed(file, allowed)
        output.parent.mkdir(parents=True, exist_ok=True)
        with complete_or_absent(output) as partial:
            write_ckpt(partial, packer.entries, advance)
    kept = [entry for entry in packer.entries if entry.name != STRUCTURE]
    return WeightsReport(
        str(source),
        str(output),
        tuple(WeightEntry(packer.places[each.name], each.name, each.shape, each.dtype, "whole") for each in kept),
    )


def carry_all(project: Path, output: Path, names: Sequence[str]) -> WeightsReport:
    """Those that a project's own run loads, under the names that the converted code and command have for them."""
    entries: list[WeightEntry] = []
    written, failed = [], []
    for name in names:
        try:
            entries += carry_whole(project / name, output / carried_name(name), force=True).entries
            written.append(str(output / carried_name(name)))
        except MindferryError as error:
            failed.append(str(error))
    if not written:
        raise MindferryError(failed[0])
    return WeightsReport(", ".join(names), written[0], tuple(entries), unexpected=tuple(failed))


def _packed(file: SourceFile, allowed: frozenset[str]) -> _Packer:
    value, spans = read_value(file, allowed)
    packer = _Packer(file, spans)
    if packer.is_state(value):
        for name, tensor in value.items():
            packer.add(check_name(file.path, name), tensor, name)
    else:
        try:
            text = json.dumps(packer.pack(value, ())).encode()
        except (TypeError, ValueError) as error:  # a set of lists, a namespace of numbers, a number without end
            raise bad(file.path, f"holds a value that Python itself would not make ({shown(error)})") from None
        packer.entries.append(Entry(STRUCTURE, "uint8", (len(text),), compute=_constant(text)))
    buffer = bytearray(CHUNK)
    for span in spans.values():
        if span.crc is not None:
            span.check(buffer)
    for entry in packer.entries:
        if entry.name != STRUCTURE:
            check_ckpt(entry)
    return packer


@dataclass(slots=True)
class _Packer:
    """The JSON of a value, in the form of the helpers' pack_checkpoint(), and the tensors on the way."""

    file: SourceFile
    spans: Mapping[str, Span]
    entries: list[Entry] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)  # record -> where in the checkpoint it is from
    total: int = 0
    steps: int = 0
    letters: int = 0
    members: int = 0

    def is_state(self, value: Any) -> bool:
        """A network's state alone: tensors by name, none of which load() would take for the JSON."""
        is_table = isinstance(value, dict) and bool(value) and STRUCTURE not in value
        return is_table and all(isinstance(key, str) and self.is_plain(each) for key, each in value.items())

    def is_plain(self, value: Any) -> bool:
        """What a checkpoint of MindSpore's can hold as it is: empty tensors would be dropped, complex ones can't be read back."""
        return isinstance(value, TensorRef) and bool(math.prod(value.shape)) and not value.dtype.startswith("complex")

    def add(self, name: str, tensor: TensorRef, place: str) -> None:
        self.entries.append(self.entry(name, tensor))
        self.places[name] = place

    def entry(self, name: str, tensor: TensorRef | NumpyArray) -> Entry:
        entry = entry_of(self.file, name, tensor, self.spans)
        self.total += entry.nbytes
        check_expansion(self.file.path, self.file.size, self.total)
        return entry

    def pack(self, value: Any, path: tuple[Any, ...]) -> Json:
        self.check_size(path)
        if value is None or type(value) is bool:
            return value
        if type(value) is int:
            self.spend(value.bit_length() // 3)
            return value
        if type(value) is str:
            self.spend(len(value) if value.isascii() and value.isprintable() else len(json.dumps(value)))
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if type(value) is bytes:
            return {"bytes": self.spelled(value)}
        if type(value) is bytearray:
            return self.pickled(value)
        if isinstance(value, list | tuple | dict):
            self.spend(CONTAINER)
        if type(value) in (list, tuple):  # a Global is a tuple, too
            return {type(value).__name__: [self.pack(each, (*path, number)) for number, each in enumerate(value)]}
        if isinstance(value, dict):
            kind = "ordered" if isinstance(value, OrderedDict) else "dict"
            return {kind: [[self.pack(key, path), self.pack(each, (*path, key))] for key, each in value.items()]}
        if isinstance(value, TensorRef | NumpyArray):
            return self.pack_array(value, path)
        return self.pack_object(value, path)

    def pack_array(self, value: TensorRef | NumpyArray, path: tuple[Any, ...]) -> Json:
        if isinstance(value, TensorRef) and self.is_plain(value):
            name = f"tensor.{len(self.entries)}"
            self.add(name, value, _spelled(path))
            return {"tensor": name, "parameter": False}
        import numpy as np

        if not DTYPES[value.dtype or "float32"].numpy:
            raise bad(
                self.file.path,
                f"holds an empty tensor of {value.dtype}{_at(path)}, which can't be carried; save it without that",
            )
        buffer = io.BytesIO()
        np.save(buffer, self.entry(_spelled(path) or "value", value).array(), allow_pickle=False)
        array = {"numpy": self.spelled(buffer.getvalue())}
        if isinstance(value, TensorRef):
            return {"as_tensor": {**array, "scalar": False}}
        return {**array, "scalar": value.is_scalar}

    def pack_object(self, value: Any, path: tuple[Any, ...]) -> Json:
        made = self.made(value, path)
        if isinstance(made, str):
            return self.pack(made, path)
        return {"set": self.pack(list(made), path)["list"]} if isinstance(made, set) else self.pickled(made)

    def pickled(self, value: Any) -> Json:
        return {"pickle": self.spelled(pickle.dumps(value)), "class": type(value).__name__}

    def spelled(self, data: bytes | bytearray) -> str:
        self.spend(len(data) * 4 // 3)
        return base64.b64encode(data).decode()

    def spend(self, letters: int) -> None:
        """A text that is held once can be named a million times, and JSON spells it out each time."""
        self.letters += letters
        if self.letters > max(TEXT * self.file.size, FREE):
            raise bad(self.file.path, "comes to more text than it holds, by using the same part of it again and again")

    def made(self, value: Any, path: tuple[Any, ...]) -> Any:
        """The few classes of Python's own that checkpoints hold, made here of plain values."""
        match value:
            case Inert(("argparse.Namespace" | "types.SimpleNamespace") as name, (), dict() as state):
                return SPACES[name](**self.plain(state, path))
            case Inert(str(name), parts) if _is_path(name) and all(isinstance(each, str) for each in parts):
                return PATHS[name.rpartition(".")[2]](*parts)
            case Inert("builtins.set" | "__builtin__.set", (list(items),)):
                return {self.member(each, path) for each in items}
            case Inert("builtins.frozenset" | "__builtin__.frozenset", (list(items),)):
                return frozenset(self.member(each, path) for each in items)
            case Inert("torch.device" | "torch.torch_version.TorchVersion", parts) if parts and all(
                isinstance(each, str | int) for each in parts
            ):
                return ":".join(map(str, parts))
        kind = value.name if isinstance(value, Inert) else value
        raise bad(
            self.file.path, f"holds a {shown(kind)}{_at(path)}, which can't be carried as it is; save it without that"
        )

    def member(self, value: Any, path: tuple[Any, ...]) -> Any:
        """Of a set."""
        if not isinstance(value, str | bytes):
            self.members += 1
            if self.members > MEMBERS:
                raise bad(self.file.path, f"holds sets of more than {MEMBERS} numbers or pairs; save them as lists")
        return self.plain(value, (*path, "member"))

    def plain(self, value: Any, path: tuple[Any, ...]) -> Any:
        """A value that pickle can hold without a class of the project's."""
        self.check_size(path)
        if value is None or type(value) in (bool, int, float, str, bytes, bytearray):
            return value
        if type(value) in (list, tuple):
            return type(value)(self.plain(each, (*path, number)) for number, each in enumerate(value))
        if type(value) in (dict, OrderedDict):
            return type(value)((key, self.plain(each, (*path, key))) for key, each in value.items())
        return self.made(value, path)

    def check_size(self, path: tuple[Any, ...]) -> None:
        """What shares its parts again and again is spelled out here, so it has an end."""
        self.steps += 1
        if self.steps > OPERATIONS or len(path) > DEPTH:
            raise bad(self.file.path, f"holds more than {OPERATIONS} values, or nests them more than {DEPTH} deep")


def _constant(text: bytes) -> Callable[[], Any]:
    def compute() -> Any:
        import numpy as np

        return np.frombuffer(text, np.uint8)

    return compute


def _is_path(name: str) -> bool:
    """Whether a class is one of pathlib's that can be made here: WindowsPath can't."""
    module, _, kind = name.rpartition(".")
    return module in ("pathlib", "pathlib._local") and kind in PATHS


def _at(path: tuple[Any, ...]) -> str:
    return f" at {shown(_spelled(path))}" if path else ""


def _spelled(path: tuple[Any, ...]) -> str:
    return ".".join(shown(part) for part in path)
