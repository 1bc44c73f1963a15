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
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..artifacts import WeightEntry, WeightsReport
from ..errors import MindferryError
from ..files import complete_or_absent
from ..layout import carried_name
from .formats.ckpt import check_ckpt, write_ckpt
from .formats.entry import CHUNK, Advance, Entry, SourceFile, Span, silent
from .formats.files import check_free
from .formats.limits import DEPTH, OPERATIONS, bad, check_expansion, check_name, shown
from .formats.pth import LEGACY_MAGIC, ZIP_MAGIC, entry_of, read_value
from .formats.rebuilt import Inert, NumpyArray, TensorRef

STRUCTURE = "__structure__"  # the record that holds the JSON, as in the helpers' save()
Json = Any
SPACES = {"argparse.Namespace": argparse.Namespace, "types.SimpleNamespace": types.SimpleNamespace}


def is_torch_file(path: Path) -> bool:
    """Whether torch.save wrote it: numpy's .npz is a zip, too, but holds no pickle of that name."""
    try:
        with open(path, "rb") as file:
            head = file.read(16)
        if not head.startswith(ZIP_MAGIC):
            return head.startswith(LEGACY_MAGIC)
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith("data.pkl") for name in archive.namelist())
    except (OSError, zipfile.BadZipFile):
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

    def is_state(self, value: Any) -> bool:
        """A network's state alone: tensors by name."""
        is_table = isinstance(value, dict) and bool(value)
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
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, bytes | bytearray):
            return {"bytes": base64.b64encode(value).decode()}
        if type(value) in (list, tuple):  # a Global is a tuple, too
            return {type(value).__name__: [self.pack(each, (*path, number)) for number, each in enumerate(value)]}
        if isinstance(value, dict):
            return {"dict": [[self.pack(key, path), self.pack(each, (*path, key))] for key, each in value.items()]}
        if isinstance(value, TensorRef | NumpyArray):
            return self.pack_array(value, path)
        return self.pack_object(value, path)

    def pack_array(self, value: TensorRef | NumpyArray, path: tuple[Any, ...]) -> Json:
        if isinstance(value, TensorRef) and self.is_plain(value):
            name = f"tensor.{len(self.entries)}"
            self.add(name, value, _spelled(path))
            return {"tensor": name, "parameter": False}
        import numpy as np

        buffer = io.BytesIO()
        np.save(buffer, self.entry(_spelled(path) or "value", value).array(), allow_pickle=False)
        array = {"numpy": base64.b64encode(buffer.getvalue()).decode()}
        if isinstance(value, TensorRef):
            return {"as_tensor": {**array, "scalar": False}}
        return {**array, "scalar": not value.shape}

    def pack_object(self, value: Any, path: tuple[Any, ...]) -> Json:
        made = self.made(value, path)
        if isinstance(made, str):
            return made
        return {"set": self.pack(list(made), path)["list"]} if isinstance(made, set) else _pickled(made)

    def made(self, value: Any, path: tuple[Any, ...]) -> Any:
        """The few classes of Python's own that checkpoints hold, made here of plain values."""
        match value:
            case Inert(("argparse.Namespace" | "types.SimpleNamespace") as name, (), dict() as state):
                return SPACES[name](**self.plain(state, path))
            case Inert(str(name), parts) if name.startswith("pathlib.") and all(
                isinstance(each, str) for each in parts
            ):
                return pathlib.PurePosixPath(*parts)
            case Inert(
                "builtins.set" | "__builtin__.set" | "builtins.frozenset" | "__builtin__.frozenset", (list(items),)
            ):
                return {self.plain(each, path) for each in items}
            case Inert("torch.device" | "torch.torch_version.TorchVersion", parts) if parts and all(
                isinstance(each, str | int) for each in parts
            ):
                return ":".join(map(str, parts))
        kind = value.name if isinstance(value, Inert) else value
        where = f" at {shown(_spelled(path))}" if path else ""
        raise bad(
            self.file.path, f"holds a {shown(kind)}{where}, which can't be carried as it is; save it without that"
        )

    def plain(self, value: Any, path: tuple[Any, ...]) -> Any:
        """A value that pickle can hold without a class of the project's."""
        self.check_size(path)
        if value is None or type(value) in (bool, int, float, str, bytes):
            return value
        if type(value) in (list, tuple):
            return type(value)(self.plain(each, (*path, number)) for number, each in enumerate(value))
        if type(value) is dict:
            return {key: self.plain(each, (*path, key)) for key, each in value.items()}
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


def _pickled(value: Any) -> Json:
    return {"pickle": base64.b64encode(pickle.dumps(value)).decode(), "class": type(value).__name__}


def _spelled(path: tuple[Any, ...]) -> str:
    return ".".join(shown(part) for part in path)
