"""The conversion's dropout: off, or replaced by a function that multiplies by the reference's masks."""

from __future__ import annotations

import contextlib
import inspect
import math
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from types import ModuleType
from typing import Any

Cell = Any
Tensor = Any
Problem = Callable[[str, str], None]  # path, what is wrong


@contextlib.contextmanager
def without_dropout(cell: Cell) -> Iterator[None]:
    """Dropout off, in cells and where a function asks for it, as on the torch side."""
    with replaced_dropout(cell, lambda name, input, *_, **__: input):
        yield


def multiply(input: Tensor, values: Any, path: str, wrong: Problem) -> Tensor:
    import mindspore as ms

    mask = ms.Tensor(values).astype(input.dtype)
    if mask.size == input.size:  # attention weights: (batch × heads, …) there, (batch, heads, …) here
        return input * mask.reshape(input.shape)
    if mask.ndim != input.ndim:
        wrong(path, f"dropout on {tuple(input.shape)}, the reference's on {tuple(mask.shape)}")
        return input
    return input * mask


def other_unit(name: str, drawn: int, shape: tuple[int, ...]) -> str:
    """What is wrong if a layer of this name drops whole channels and the reference single elements, or the reverse.

    Where each channel is a single element, as in (batch, features) or after pooling to 1 × 1, both are the same.
    """
    is_by_channel, was_by_channel = name[-2:].lower() in ("1d", "2d", "3d"), drawn < math.prod(shape)
    if is_by_channel == was_by_channel or (is_by_channel and math.prod(shape[2:]) == 1):
        return ""
    if is_by_channel:
        return "drops whole channels, the reference single elements"
    return "drops single elements, the reference whole channels"


def is_dropout(cell: Cell) -> bool:
    """MindSpore's own or a helper's, not one that the project wrote itself."""
    home = type(cell).__module__
    is_theirs = home.startswith("mindspore.") or "ms_compat" in home.split(".")
    return is_theirs and "Dropout" in type(cell).__name__ and not any(True for _ in cell.cells())


@contextlib.contextmanager
def replaced_dropout(cell: Cell, function: Callable[..., Tensor]) -> Iterator[None]:
    """Dropout cells hand on what they get; `function`, given its name first, stands in for every one that is called dropout."""
    from mindspore import mint, ops

    cells = [c for _, c in cell.cells_and_names() if is_dropout(c) and c.training]
    homes = (vars(ops), vars(mint.nn.functional), *helper_files(cell), *own_files(cell))
    places = [
        (home, name)
        for home in {id(each): each for each in homes}.values()
        for name in _dropout_names(home)
        if is_drop_function(home.get(name))
    ]
    originals = [home[name] for home, name in places]
    for found in cells:
        found.set_train(False)
    for home, name in places:
        home[name] = partial(_plainly, function, name, home[name])
    try:
        yield
    finally:
        for (home, name), original in zip(places, originals, strict=True):
            home[name] = original
        for found in cells:
            found.set_train(True)


def _dropout_names(home: dict[str, Any]) -> tuple[str, ...]:
    """What may be a function of dropout by its name. MindSpore's own files have thousands of names, and no new ones."""
    name = str(home.get("__name__", ""))
    return _library_names(name) if name.startswith("mindspore.") else _named_dropout(home)


@cache
def _library_names(module: str) -> tuple[str, ...]:
    return _named_dropout(vars(sys.modules[module]))


def _named_dropout(home: dict[str, Any]) -> tuple[str, ...]:
    return tuple(name for name in home if "dropout" in name and name.islower())


def helper_files(cell: Cell) -> list[dict[str, Any]]:
    """The names of every ms_compat that the cells use. Not from sys.modules alone: a test may have let go of it there."""
    used = own_files(cell)
    modules = [
        *(module for name, module in list(sys.modules.items()) if "ms_compat" in name),
        *(value for names in used for value in names.values() if isinstance(value, ModuleType)),
    ]
    every = [*used, *(vars(module) for module in modules if module is not None)]
    named = {id(names): names for names in every if "ms_compat" in str(names.get("__name__"))}
    return [names for names in named.values() if "ms_compat" in str(names["__name__"]).split(".")]


def own_files(cell: Cell) -> list[dict[str, Any]]:
    """The names of each file that defines a class of the cells: it may have taken a function by `from mindspore.ops import dropout`."""
    kinds = {type(found) for _, found in cell.cells_and_names()}
    files = [getattr(kind.construct, "__globals__", {}) for kind in kinds]
    return list({id(names): names for names in files}.values())


def is_drop_function(value: Any) -> bool:
    """A function of MindSpore or of a helper module, not one that the project wrote itself under such a name."""
    home = str(getattr(value, "__module__", ""))
    return callable(value) and (home.startswith("mindspore") or "ms_compat" in home.split("."))


def _plainly(
    function: Callable[..., Tensor], name: str, original: Callable[..., Tensor], *args: Any, **options: Any
) -> Tensor:
    """Alpha dropout stays off on both sides. A helper of which each call has the same rate has no argument for it."""
    given = inspect.signature(original).bind(*args, **options)
    given.apply_defaults()
    input, rate = given.args[0], given.arguments.get("p")
    return input if "alpha" in name else function(name, input, rate, given.arguments.get("training", True))
