"""The conversion's dropout: off, or with the reference's masks, found by the path of the module and the number of the call there."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

Cell = Any
Tensor = Any
Mask = Callable[
    [str], tuple[Any, float] | None
]  # path -> the next mask there and its rate; None where the reference drops nothing
Problem = Callable[[str, str], None]  # path, what is wrong


@contextlib.contextmanager
def without_dropout(cell: Cell) -> Iterator[None]:
    """Dropout off, in cells and where a function asks for it, as on the torch side."""
    with _off(cell, lambda input, *_, **__: input):
        yield


@contextlib.contextmanager
def shared_dropout(cell: Cell, here: Callable[[], str], mask: Mask, wrong: Problem) -> Iterator[None]:
    """Dropout with the reference's masks. `here` is the path of the cell that runs."""

    def apply(path: str, rate: float | None, input: Tensor) -> Tensor:
        found = mask(path)
        if found is None:
            if rate:
                wrong(path, f"drops {rate:g} of its input, the reference nothing")
            return input
        values, expected = found
        if rate is not None and abs(rate - expected) > 1e-6:
            wrong(path, f"drops {rate:g} of its input, not {expected:g}")
        return multiply(input, values, path, wrong)

    def function(input: Tensor, p: float = 0.5, training: bool = True, *_: Any, **__: Any) -> Tensor:
        return apply(here(), float(p), input) if training else input

    handles = [
        found.register_forward_hook(
            lambda _, args, output, path=path, found=found: apply(path, getattr(found, "p", None), output)
        )
        for path, found in cell.cells_and_names()
        if is_dropout(found) and found.training
    ]
    try:
        with _off(cell, function):
            yield
    finally:
        for handle in handles:
            handle.remove()


def multiply(input: Tensor, values: Any, path: str, wrong: Problem) -> Tensor:
    import mindspore as ms

    mask = ms.Tensor(values).astype(input.dtype)
    if mask.size == input.size:  # attention weights: (batch × heads, …) there, (batch, heads, …) here
        return input * mask.reshape(input.shape)
    if mask.ndim != input.ndim:
        wrong(path, f"dropout on {tuple(input.shape)}, the reference's on {tuple(mask.shape)}")
        return input
    return input * mask


def is_dropout(cell: Cell) -> bool:
    return "Dropout" in type(cell).__name__ and not any(True for _ in cell.cells())


@contextlib.contextmanager
def _off(cell: Cell, function: Callable[..., Tensor]) -> Iterator[None]:
    """Dropout cells hand on what they get; `function` stands in for every function that is called dropout."""
    from mindspore import ops

    cells = [c for _, c in cell.cells_and_names() if is_dropout(c) and c.training]
    places = [
        (home, name)
        for home in (vars(ops), *_helpers(cell))
        for name in home
        if "dropout" in name and name.islower() and callable(home[name])
    ]
    originals = [home[name] for home, name in places]
    for found in cells:
        found.set_train(False)
    for home, name in places:
        home[name] = partial(_plainly, function, name)
    try:
        yield
    finally:
        for (home, name), original in zip(places, originals, strict=True):
            home[name] = original
        for found in cells:
            found.set_train(True)


def _helpers(cell: Cell) -> list[dict[str, Any]]:
    """The names of every ms_compat that the cells use. Not from sys.modules alone: a test may have let go of it there."""
    used = [getattr(type(found).construct, "__globals__", {}) for _, found in cell.cells_and_names()]
    modules = [
        *sys.modules.values(),
        *(value for names in used for value in names.values() if isinstance(value, ModuleType)),
    ]
    every = [*used, *(vars(module) for module in modules if module is not None)]
    return list(
        {id(names): names for names in every if str(names.get("__name__")).rpartition(".")[2] == "ms_compat"}.values()
    )


def _plainly(function: Callable[..., Tensor], name: str, input: Tensor, *args: Any, **options: Any) -> Tensor:
    """Alpha dropout stays off on both sides."""
    return input if "alpha" in name else function(input, *args, **options)
