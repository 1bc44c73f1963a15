"""What a MindSpore model holds: every place for a tensor, and the classes of the cells around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from .layers import AFFINE, layer_of, short


@dataclass(frozen=True, slots=True)
class Slot:
    """One place for a tensor. A tensor that is tied has several places, with the same `tie`."""

    path: str  # by attribute names, as Cell.state_dict() has it
    name: str  # as load_param_into_net expects it in a checkpoint: Parameter.name, which can differ from the path
    shape: tuple[int, ...]
    dtype: str
    tie: int
    optional: bool = False  # this cell is built without the option that gives its torch twin the tensor


@dataclass(frozen=True, slots=True)
class Tree:
    slots: tuple[Slot, ...]
    cells: Mapping[str, tuple[str, ...]]  # path -> the cell's class and its bases, nearest first


def describe(cell: Any) -> Tree:
    """Read the tree of a live `mindspore.nn.Cell`."""
    import mindspore as ms

    ties: dict[int, int] = {}
    slots = []
    paths = {""}
    for path, value in cell.state_dict().items():
        if not isinstance(value, ms.Tensor):
            continue
        name = value.name if isinstance(value, ms.Parameter) else path
        shape = tuple(int(size) for size in value.shape)
        tie = ties.setdefault(id(value), len(ties))
        slots.append(Slot(path, name, shape, dtype_name(value), tie, _is_optional(cell, path, value)))
        paths.update(_prefixes(path))
    return Tree(tuple(slots), {path: _classes(_owner(cell, path)) for path in sorted(paths)})


def dtype_name(tensor: Any) -> str:
    """MindSpore's `Float32`, `Bool`, `BFloat16` as torch and numpy spell them."""
    return str(tensor.dtype).lower()


def _is_optional(cell: Any, path: str, value: Any) -> bool:
    """A norm without `affine` or running statistics still holds them in MindSpore; torch's holds nothing."""
    owner, _, local = path.rpartition(".")
    cell = _owner(cell, owner)
    classes = _classes(cell)
    if local not in layer_of(classes)[0].optional:
        return False
    if local in AFFINE.values():
        return not value.requires_grad
    return "nn._InstanceNorm" in classes or getattr(cell, "use_batch_statistics", None) is True


def _prefixes(path: str) -> list[str]:
    parts = path.split(".")[:-1]
    return [".".join(parts[: end + 1]) for end in range(len(parts))]


def _owner(cell: Any, path: str) -> Any:
    try:
        return cell.get_sub_cell(path) if path else cell
    except (AttributeError, ValueError, TypeError):  # the dotted names of a ParameterTuple are no cells
        return None


def _classes(cell: Any) -> tuple[str, ...]:
    kind: Any = type(cell)
    return _bases(kind)


@cache
def _bases(kind: Any) -> tuple[str, ...]:
    from mindspore import nn

    bases = [base for base in kind.__mro__ if issubclass(base, nn.Cell) and base is not nn.Cell]
    return tuple(short(f"{base.__module__}.{base.__qualname__}") for base in bases)
