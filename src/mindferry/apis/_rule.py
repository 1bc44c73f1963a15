"""One rule: the rewrite, the parameter names, the doc page and the test of one API of a source framework."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._call import Call

COMPAT = "compat."  # a target in apis/torch/compat/, emitted into the converted project
STRATEGIES = ("equivalent", "wrapper", "custom operator", "upstream request", "not needed")


@dataclass(frozen=True, slots=True)
class Case:
    """`before` must convert to `after`, and both must compute the same.

    `before` is an expression over x, y, z, w (the inputs, in order) or, for a layer, one that builds it.
    An input is "float32[2,3]", "int64[4](0,5)" (values from 0 up to 5), "bool[2,3]", "float32[3](0.1,2)";
    `shapes=((2, 3),)` is short for standard normal float32 inputs.
    """

    before: str
    after: str
    shapes: tuple[tuple[int, ...], ...] = ()
    inputs: tuple[str, ...] = ()
    rtol: float = 1e-4
    atol: float = 1e-5
    gradient: bool = True  # compare gradients of float inputs (and parameters) too
    random: bool = False  # compare shape, dtype and moments only
    runs: bool = True  # False: only the text is compared; `why` says why that is enough
    why: str = ""


class Form(Enum):
    """How an API is met. The same name may have an entry for each."""

    CALL = "call"  # called, or named: a function, a class, a method of something known
    ATTRIBUTE = "attribute"  # read from a value: `x.T`
    UNKNOWN = "unknown"  # a method of a value that nothing is known of


@dataclass(slots=True)
class Rule:
    api: str
    to: str = ""  # dotted MindSpore name, ".method", or "compat.name"
    args: tuple[str, ...] = ()  # torch's parameters in order; a method's without self
    rename: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)  # written out when the call doesn't give them
    drop: tuple[str, ...] = ()  # no meaning in MindSpore
    only: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # dropped when one of these, otherwise `like` or a finding
    positional: int | None = None  # how many leading arguments may stay positional; None: all
    like: str = ""  # something with torch's own signature: for classes as values, *args, and what `to` can't do
    base: str = ""  # what a class derives from, where that is neither `like` nor `to`
    params: Mapping[str, str] = field(default_factory=dict)  # torch's parameter name -> MindSpore's
    cases: tuple[Case, ...] = ()
    differs: str = ""  # what a user should know, one sentence
    missing: str = ""  # why MindSpore can't; then `strategy` and `advice` say what to do
    strategy: str = ""
    advice: str = ""
    platforms: tuple[str, ...] = ("CPU", "Ascend")
    file: str = ""
    line: int = 0
    function: Callable[[Call], None] | None = None
    form: Form = Form.CALL
    is_group: bool = (
        False  # `like` is a tuple of classes, in place of one that they have in common: good for isinstance only
    )
    is_variadic: bool = False  # takes any number of arguments as they come: `*layers` stays as it is
    target: str = "portable"  # what it is converted for: a function may ask which defects of MindSpore it must mind

    @property
    def kind(self) -> str:
        """native, helper, removed or missing."""
        if self.missing:
            return "missing"
        if self.to.startswith(COMPAT):
            return "helper"
        return "native" if self.to or self.function else "removed"

    @property
    def title(self) -> str:
        """The API, and how it is met where that is not a call."""
        return self.api if self.form is Form.CALL else f"{self.api} ({self.form.value})"


_collecting: list[Rule] = []


def rule(
    api: str,
    to: str = "",
    *,
    args: str = "",
    rename: Mapping[str, str] | None = None,
    defaults: Mapping[str, str] | None = None,
    drop: str = "",
    only: Mapping[str, str | tuple[str, ...]] | None = None,
    positional: int | None = None,
    like: str = "",
    base: str = "",
    params: Mapping[str, str] | None = None,
    cases: list[Case] | None = None,
    differs: str = "",
    missing: str = "",
    strategy: str = "",
    advice: str = "",
    platforms: str = "CPU Ascend",
    form: Form = Form.CALL,
    is_group: bool = False,
    is_variadic: bool = False,
) -> Callable[[Callable[[Call], None]], Callable[[Call], None]]:
    """Add an entry. Used alone it is declarative; as a decorator, the function edits the call after the declared part."""
    frame = sys._getframe(1)
    options = {key: (value,) if isinstance(value, str) else tuple(value) for key, value in (only or {}).items()}
    entry = Rule(
        api,
        to,
        tuple(args.split()),
        rename or {},
        defaults or {},
        tuple(drop.split()),
        options,
        positional,
        like,
        base,
        params or {},
        tuple(cases or ()),
        differs,
        missing,
        strategy,
        advice,
        tuple(platforms.split()),
        frame.f_code.co_filename,
        frame.f_lineno,
        form=form,
        is_group=is_group,
        is_variadic=is_variadic,
    )
    _collecting.append(entry)

    def attach(function: Callable[[Call], None]) -> Callable[[Call], None]:
        entry.function = function
        return function

    return attach


def take_collected() -> list[Rule]:
    """The rules that importing a module has added since the last call."""
    taken = _collecting[:]
    _collecting.clear()
    return taken
