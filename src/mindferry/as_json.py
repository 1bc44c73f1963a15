"""Frozen dataclasses as JSON and back."""

from __future__ import annotations

import dataclasses
import enum
import functools
import json
import math
import re
import types
import typing
from collections.abc import Callable
from operator import attrgetter
from typing import Any, cast

ROW = 160  # characters that stay on one line
# what `build` raises for a document that is not of the kind
UNBUILDABLE = (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, IndexError)
_SURROGATE = re.compile("[\ud800-\udfff]")  # of a file name that is no UTF-8: JSON has an escape for it, UTF-8 has not
_AS_THEY_ARE = (str, int, type(None))
_LISTS = (list, tuple)
_NESTED = (dict, list)
_SCALARS = frozenset((str, int, bool, type(None)))  # most of what a record holds
_ROW_ITEMS = 20
_TEXT = json.encoder.encode_basestring
_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def plain(value: Any) -> Any:
    """As JSON has it. That has no NaN and no infinity: both become null, which `load` reads as NaN."""
    if isinstance(value, _AS_THEY_ARE):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, _LISTS):
        return [plain(item) for item in value]
    if dataclasses.is_dataclass(value):
        names, taken = _getter(cast(Any, type(value)))
        held = dict(zip(names, taken(value), strict=True))
        for name, item in held.items():
            if type(item) not in _SCALARS:
                held[name] = plain(item)
        return held
    return value


@functools.cache
def _getter(kind: Any) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    """The names of a dataclass's fields, and what takes all their values at once."""
    names = tuple(each.name for each in dataclasses.fields(kind))
    return names, attrgetter(*names) if len(names) > 1 else lambda value: tuple(getattr(value, name) for name in names)


def laid_out(value: Any, indent: str = "\n") -> str:
    """A row to a line, so that two records can be compared by eye and by `diff`."""
    if type(value) is dict and 0 < len(value) <= _ROW_ITEMS and _SCALARS.issuperset(map(type, value.values())):
        return _row(value, indent)  # most of what a record holds
    if not isinstance(value, _NESTED) or _is_short(value):
        line = _encoded(value)
        if len(line) <= ROW or not isinstance(value, _NESTED):
            return line
    if isinstance(value, dict):
        items = [f"{_encoded(str(key))}: {laid_out(item, indent + ' ')}" for key, item in value.items()]
        return f"{{{indent} {f',{indent} '.join(items)}{indent}}}"
    return f"[{indent} {f',{indent} '.join(laid_out(item, indent + ' ') for item in value)}{indent}]"


def _row(value: dict[str, Any], indent: str) -> str:
    """Texts and numbers by name, on one line if it is not too long: as `_encoded` has them, without an encoder for each."""
    items = [f"{_TEXT(name)}: {_scalar(item)}" for name, item in value.items()]
    line = ", ".join(items)
    if not line.isascii():
        items = [*map(_escaped, items)]
        line = ", ".join(items)
    return f"{{{line}}}" if len(line) <= ROW - 2 else f"{{{indent} {f',{indent} '.join(items)}{indent}}}"


def _scalar(value: Any) -> str:
    kind = type(value)
    return _TEXT(value) if kind is str else str(value) if kind is int else _ENCODE(value)


def _escaped(line: str) -> str:
    return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", line)


def _encoded(value: Any) -> str:
    """On one line."""
    line = _ENCODE(value)
    return line if line.isascii() else _escaped(line)


def _is_short(value: dict[str, Any] | list[Any]) -> bool:
    """Whether a value may fit on a line: most are rows of texts and numbers, which are soon encoded and measured."""
    items = value.values() if isinstance(value, dict) else value
    if len(value) <= _ROW_ITEMS and not any(isinstance(item, _NESTED) for item in items):
        return True
    return _least(value) <= ROW


def _least(value: Any) -> int:
    """A lower bound of the length of a value on one line: a long list need not be encoded to see that it is too long."""
    if isinstance(value, str):
        return len(value) + 2
    if isinstance(value, dict | list):
        total = 6 * len(value) if isinstance(value, dict) else 3 * len(value)
        for item in value.values() if isinstance(value, dict) else value:
            if total > ROW:
                break
            total += max(_least(item) - 1, 0)
        return total
    return 1


@functools.cache
def _fields(kind: Any) -> dict[str, Any]:
    """Names and types; reading them anew for each object would take most of the time of loading."""
    hints = typing.get_type_hints(kind)
    return {each.name: hints[each.name] for each in dataclasses.fields(kind)}


def build(kind: Any, value: Any) -> Any:
    """JSON value -> the annotated type, dataclasses and tuples included."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        made = cast(Any, kind)
        return made(**{name: build(hint, value[name]) for name, hint in _fields(made).items() if name in value})
    if origin is tuple:
        kinds = args[:1] * len(value) if args[-1] is Ellipsis else args
        return tuple(build(each, item) for each, item in zip(kinds, value, strict=True))
    if origin is list:
        return [build(args[0], item) for item in value]
    if origin is dict:
        return {key: build(args[1], item) for key, item in value.items()}
    if origin in (typing.Union, types.UnionType):
        return None if value is None else build(next(a for a in args if a is not type(None)), value)
    if kind is float and value is None:
        return math.nan
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(value)
    if kind is int and int(value).bit_length() > 64:  # no count, size or line: shares of it could not be computed
        raise ValueError("a number of more than 64 bits")
    return kind(value) if kind in (int, float, str, bool) else value
