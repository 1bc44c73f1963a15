"""Keras' weights: HDF5 tables (.weights.h5, the older .h5), alone or in a .keras archive. h5py reads them, and runs nothing.

An entry is called by its place in the file, `layers/dense/vars/0`; in the older form, which keeps an order, also by its number.
"""

from __future__ import annotations

import contextlib
import functools
import math
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import MindferryError
from ..dtypes import BY_NUMPY, DTYPES
from .entry import Advance, Checkpoint, Entry, SourceFile, Span, silent
from .limits import DEPTH, ENTRIES, NAME, bad, check_expansion, check_name, check_shape, shown

if TYPE_CHECKING:
    from .entry import Array

MAGIC = b"\x89HDF\r\n\x1a\n"
ARCHIVED = "model.weights.h5"
VARIABLES = "/vars/"


class H5File(SourceFile):
    """A file of tables, or an archive with one in it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        h5py = _h5py()
        self._opened = contextlib.ExitStack()
        self.is_archive = zipfile.is_zipfile(path)
        try:
            if self.is_archive:
                archive = self._opened.enter_context(zipfile.ZipFile(path))
                check_expansion(path, self.size, archive.getinfo(ARCHIVED).file_size)
                inner = self._opened.enter_context(archive.open(ARCHIVED))
                self.tables = self._opened.enter_context(h5py.File(inner, "r"))
            else:
                self.tables = self._opened.enter_context(h5py.File(path, "r", locking=False))
        except KeyError:
            self.close()
            raise bad(path, f"is an archive without {ARCHIVED}; it was not saved by Keras 3") from None
        except (OSError, RuntimeError, ValueError, NotImplementedError, zipfile.BadZipFile) as error:
            self.close()
            raise bad(path, f"can't be read as Keras' weights ({shown(error)}); the file is broken") from None

    def close(self) -> None:
        self._opened.close()
        super().close()


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise MindferryError("Keras' files are read by h5py, which is not installed; `pip install h5py`") from None
    return h5py


def holds_keras(path: Path) -> bool:
    """Whether an archive is one of Keras'."""
    try:
        with zipfile.ZipFile(path) as archive:
            return ARCHIVED in archive.NameToInfo
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return False


def read_keras(path: Path) -> Checkpoint:
    file = H5File(path)
    try:
        root = file.tables
        if "model_weights" in root and "layer_names" in root["model_weights"].attrs:
            root = root["model_weights"]
        found = list(_by_order(file, root) if "layer_names" in root.attrs else _by_place(file, root))
        entries = tuple(_entry(file, name, data) for name, data in found if _is_numbers(data))
    except (OSError, RuntimeError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        file.close()
        raise bad(path, f"can't be read as Keras' weights ({shown(error)}); the file is broken") from None
    except MindferryError:
        file.close()
        raise
    check_expansion(path, file.size, sum(entry.nbytes for entry in entries))
    extras = tuple(name for name, data in found if not _is_numbers(data))
    return Checkpoint(path, "keras", entries, (file,), extras=extras)


def _by_place(file: H5File, root: Any) -> Iterator[tuple[str, Any]]:
    """Every table with its place. Links that lead elsewhere, to other files above all, are refused."""
    h5py = _h5py()
    waiting: list[tuple[str, Any, int]] = [("", root, 0)]
    seen = set()
    count = 0
    while waiting:
        place, group, depth = waiting.pop()
        address = h5py.h5o.get_info(group.id).addr
        if address in seen or depth > DEPTH:
            raise bad(file.path, f"{shown(place) or 'its root'} holds itself, or is nested too deeply; refused")
        seen.add(address)
        inner = []
        for name in sorted(group):
            count += 1
            if count > ENTRIES or len(place) + len(name) > NAME:
                raise bad(file.path, f"holds more than {ENTRIES} tables, or names that are too long")
            if type(group.get(name, getlink=True)) is not h5py.HardLink:
                raise bad(file.path, f"{shown(place + name)} is a link to somewhere else; refused")
            item = group[name]
            if isinstance(item, h5py.Group):
                inner.append((f"{place}{name}/", item, depth + 1))
            elif isinstance(item, h5py.Dataset):
                yield f"{place}{name}", item
        waiting += reversed(inner)


def _by_order(file: H5File, root: Any) -> Iterator[tuple[str, Any]]:
    """The older form: layers in the network's order, and the weights of each in the layer's."""
    tables = dict(_by_place(file, root))
    place = 0
    for layer in map(_text, root.attrs["layer_names"]):
        for weight in map(_text, root[layer].attrs["weight_names"]):
            data = tables.get(f"{layer}/{weight}")
            if data is None:
                raise bad(file.path, f"lacks {shown(f'{layer}/{weight}')}, which it names; the file is broken")
            yield f"{place}:{weight.removesuffix(':0')}", data
            place += 1


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _is_numbers(data: Any) -> bool:
    return data.shape is not None and data.dtype.kind in "fiub?V" and data.dtype.fields is None


def _entry(file: H5File, name: str, data: Any) -> Entry:
    check_name(file.path, name)
    shape = check_shape(file.path, name, list(map(int, data.shape)))
    is_short = _text(data.attrs.get("dtype", "")) == "bfloat16" and data.dtype.itemsize == 2
    dtype = "bfloat16" if is_short else BY_NUMPY.get(data.dtype.newbyteorder("<").str, "")
    if not dtype:
        raise bad(file.path, f"{shown(name)} has the type {shown(str(data.dtype))}, which mindferry doesn't know")
    if data.external or data.is_virtual:
        raise bad(file.path, f"{shown(name)} takes its values from another file; refused")
    if (
        data.chunks is not None
    ):  # the library unpacks a chunk whole, also where it is larger than the table that it holds
        check_expansion(file.path, file.size, math.prod(data.chunks) * data.dtype.itemsize)
    offset = data.id.get_offset() if data.chunks is None and not file.is_archive else None
    size = DTYPES[dtype].size
    for length in shape:
        size *= length
    if offset is not None and data.dtype.str[:1] in "<|":
        if offset + size > file.size:
            raise bad(file.path, f"is cut short: {shown(name)} ends at byte {offset + size} of {file.size}")
        return Entry(name, dtype, shape, (Span(file, offset, size),))
    return Entry(name, dtype, shape, compute=functools.partial(_values, file, name, data, dtype))


def _values(file: H5File, name: str, data: Any, dtype: str) -> Array:
    import numpy as np

    try:
        found = np.asarray(data[()])
    except (OSError, RuntimeError, ValueError) as error:
        raise bad(file.path, f"{shown(name)} can't be read ({shown(error)}); the file is damaged") from None
    return found.view("<u2") if dtype == "bfloat16" else found.astype(DTYPES[dtype].numpy, copy=False)


def write_keras(out_path: Path, entries: Sequence[Entry], advance: Advance = silent) -> None:
    """As Keras 3 writes .weights.h5."""
    with _h5py().File(out_path, "w", locking=False) as tables:
        for entry in entries:
            data = entry.array()
            made = tables.create_dataset(entry.name, data=data)
            if entry.dtype == "bfloat16":
                made.attrs["dtype"] = "bfloat16"
            advance(entry.nbytes)


def check_keras(entry: Entry) -> None:
    if VARIABLES not in f"/{entry.name}":
        raise MindferryError(
            f"{entry.name} is no name that Keras gives (layers/dense/vars/0), so a .weights.h5 can't hold it; write a .ckpt"
        )
    if entry.dtype not in BY_NUMPY.values() and entry.dtype != "bfloat16":
        raise MindferryError(f"{entry.name} is {entry.dtype}, which Keras' files don't hold; write a .ckpt instead")
