"""What a checkpoint holds: names, shapes, types, sizes, statistics, and values that are no numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .formats.entry import Advance, silent
from .formats.files import open_checkpoint
from .numbers import Statistics, statistics


@dataclass(frozen=True, slots=True)
class Tensor:
    name: str
    dtype: str
    shape: tuple[int, ...]
    nbytes: int
    statistics: Statistics | None = None


@dataclass(frozen=True, slots=True)
class Inspection:
    path: str
    format: str
    tensors: tuple[Tensor, ...]
    key: str = ""
    others: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()

    @property
    def parameters(self) -> int:
        count = 0
        for tensor in self.tensors:
            product = 1
            for size in tensor.shape:
                product *= size
            count += product
        return count

    @property
    def broken(self) -> tuple[Tensor, ...]:
        """Tensors that hold NaN or infinity."""
        return tuple(t for t in self.tensors if t.statistics and (t.statistics.nan or t.statistics.inf))


def inspect_weights(
    path: Path,
    *,
    key: str | None = None,
    values: bool = True,
    allowed: Iterable[str] = (),
    advance: Advance = silent,
) -> Inspection:
    """List the tensors of `path`; with `values`, read them too and check the file's checksums."""
    with open_checkpoint(Path(path), key, frozenset(allowed)) as checkpoint:
        if values:
            checkpoint.verify()
        tensors = []
        for entry in checkpoint.entries:
            figures = statistics(entry) if values else None
            tensors.append(Tensor(entry.name, entry.dtype, entry.shape, entry.nbytes, figures))
            advance(entry.nbytes)
        return Inspection(
            str(path), checkpoint.format, tuple(tensors), checkpoint.key, checkpoint.others, checkpoint.extras
        )
