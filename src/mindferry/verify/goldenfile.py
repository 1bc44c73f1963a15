"""A golden file being written: safetensors format, streamed, with nothing but torch."""

from __future__ import annotations

import ctypes
import json
import re
from pathlib import Path
from typing import Any

Tensor = Any  # torch.Tensor

BLOCK = (
    1 << 18
)  # bytes at a time: Linux caches what is written in pieces as large as one write, and large ones cost it six times as much


class RecordError(Exception):
    """Bad input, said in one sentence."""


class UnfitError(RecordError):
    """What was built is not the network that the weights are of."""


_DTYPES = {"float32": "F32", "float64": "F64", "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8"}
_DTYPES |= {"uint8": "U8", "bool": "BOOL", "complex64": "C64"}


def as_kept(tensor: Tensor) -> Tensor:
    """As it is in the file: on the CPU, what has a point in float32, complex numbers as two of these."""
    import torch

    with torch._C.DisableTorchFunction():  # lifted.py would make float64 of it
        kept = tensor.detach().to("cpu")
        if kept.is_floating_point() or kept.is_complex():
            kept = kept.to(torch.complex64 if kept.is_complex() else torch.float32).resolve_conj()
        return kept.contiguous()


def _memory(tensor: Tensor, size: int) -> memoryview:
    """By address, since numpy may not be there."""
    return memoryview((ctypes.c_char * size).from_address(tensor.data_ptr()) if size else b"").cast("B")


class GoldenWriter:
    """Streams tensors to disk; nothing is kept in memory. The header goes into room left for it at the front."""

    def __init__(self, path: Path, room: int) -> None:
        self.path, self._room, self._end = path, (room + 7) // 8 * 8, 0
        self.entries: dict[str, dict[str, Any]] = {}
        path.unlink(missing_ok=True)  # a conversion may still hold the old one's weights
        self._file = path.open("w+b")

    @classmethod
    def reopened(cls, path: Path) -> tuple[GoldenWriter, dict[str, Any]]:
        """A finished file, to read from, and what its header tells."""
        found = cls.__new__(cls)
        found.path, found._file = path, path.open("r+b")
        found._room = int.from_bytes(found._file.read(8), "little")
        found.entries = json.loads(found._file.read(found._room))
        metadata = json.loads(found.entries.pop("__metadata__")["mindferry"])
        found._end = max((entry["data_offsets"][1] for entry in found.entries.values()), default=0)
        return found, metadata

    def close(self) -> None:
        self._file.close()

    def write(self, key: str, tensor: Tensor) -> None:
        self.write_kept(key, as_kept(tensor))

    def write_kept(self, key: str, kept: Tensor) -> None:
        name = str(kept.dtype).removeprefix("torch.")
        if name not in _DTYPES:
            raise RecordError(f"{key} has dtype {name}, which a golden file cannot hold")
        size = kept.numel() * kept.element_size()
        self._file.seek(8 + self._room + self._end)
        memory = _memory(kept, size)
        for begin in range(0, size, BLOCK):
            self._file.write(memory[begin : begin + BLOCK])
        offsets = [self._end, self._end + size]
        self.entries[key] = {"dtype": _DTYPES[name], "shape": list(kept.shape), "data_offsets": offsets}
        self._end += size

    def mark(self) -> tuple[int, int]:
        """A point to come back to, should a run fail halfway."""
        return self._end, len(self.entries)

    def rewind(self, mark: tuple[int, int]) -> None:
        self._end = mark[0]
        self.entries = dict(list(self.entries.items())[: mark[1]])

    def read(self, key: str) -> Tensor:
        import torch

        entry = self.entries[key]
        start, end = entry["data_offsets"]
        dtype = getattr(torch, next(name for name, code in _DTYPES.items() if code == entry["dtype"]))
        with torch._C.DisableTorchFunction():  # lifted.py would make float64 of it
            tensor = torch.empty(entry["shape"], dtype=dtype)
        self._file.seek(8 + self._room + start)
        if start != end:
            self._file.readinto(_memory(tensor, end - start))
        return tensor

    def finish(self, metadata: dict[str, Any]) -> None:
        header = json.dumps({"__metadata__": {"mindferry": json.dumps(metadata)}, **self.entries}).encode()
        if len(header) > self._room:
            self._make_room(len(header))
        self._file.seek(0)
        self._file.write(self._room.to_bytes(8, "little") + header.ljust(self._room))
        self._file.truncate(8 + self._room + self._end)
        self.close()

    def _make_room(self, needed: int) -> None:
        """Move the data back, last block first."""
        old, self._room = self._room, (needed + 7) // 8 * 8
        for start in reversed(range(0, self._end, BLOCK)):
            self._file.seek(8 + old + start)
            data = self._file.read(min(BLOCK, self._end - start))
            self._file.seek(8 + self._room + start)
            self._file.write(data)


def describe(key: str) -> str:
    """`train/layer1.0#0.0~` -> `the gradient of layer1.0`."""
    name = key.rstrip("~").split("/", 1)[-1]
    path = re.sub(r"#0?(\d*)\.\d+$", lambda m: f" (call {m[1]})" if m[1] else "", name) or "the whole network"
    return f"the gradient of {path}" if key.endswith("~") else path
