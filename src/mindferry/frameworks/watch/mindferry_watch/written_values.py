"""Arguments as Python text that makes them again: plain values, and the records of them that configure a network."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import enum
import inspect
import os
import sys
import types
from collections.abc import Callable
from typing import Any

DEEPEST = 8
LONGEST = 500  # characters of a plain value
LONGEST_RECORD = 6000
RECORDS = {argparse.Namespace: "argparse.Namespace", types.SimpleNamespace: "types.SimpleNamespace"}
MAPPINGS = (  # classes that are made of one dictionary
    "easydict.EasyDict",
    "addict.addict.Dict",
    "munch.Munch",
    "ml_collections.config_dict.config_dict.ConfigDict",
    "omegaconf.dictconfig.DictConfig",
    "yacs.config.CfgNode",
)
PLAIN = (int, float, str, bytes, bool, type(None))


def literal(value: Any) -> str | None:
    """A plain value, or a container of such."""
    text = repr(value) if _is_plain(value) else ""
    if not text or len(text) > LONGEST:
        return None
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return text


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Of Python's own classes throughout; numpy's numbers may be Python's too."""
    if type(value) in (list, tuple, set, dict) and depth < DEEPEST:
        parts = [*value, *value.values()] if isinstance(value, dict) else value
        return len(parts) <= LONGEST and all(_is_plain(each, depth + 1) for each in parts)
    return type(value) in PLAIN or (isinstance(value, int | float) and not isinstance(value, enum.Enum))


def written(value: Any, place: Callable[[str], str | None], depth: int = 0) -> str | None:
    """`Config(depth=3)` as `model.Config(depth=3)`; None for what nothing can be told of.

    `place` gives the path of a file in the project, None for other files.
    """
    text = literal(value)
    if text is not None or depth > DEEPEST:
        return text
    text = _other(value, lambda part: written(part, place, depth + 1), place)
    return text if text is not None and len(text) <= LONGEST_RECORD else None


def _other(value: Any, write: Callable[[Any], str | None], place: Callable[[str], str | None]) -> str | None:
    kind = type(value)
    if kind in (list, tuple):
        parts = [write(each) for each in value]
        joined = ", ".join(filter(None, parts)) + ("," if kind is tuple and len(parts) == 1 else "")
        return None if None in parts else f"[{joined}]" if kind is list else f"({joined})"
    if kind is dict:
        pairs = [(literal(key), write(each)) for key, each in value.items()]
        return None if any(None in pair for pair in pairs) else f"{{{', '.join(f'{a}: {b}' for a, b in pairs)}}}"
    if kind.__module__ == "torch" and kind.__name__ in ("device", "dtype"):
        return f"torch.device({str(value)!r})" if kind.__name__ == "device" else str(value)
    if isinstance(value, type | types.FunctionType):
        return _name(value, place)
    name = RECORDS.get(kind) or _name(kind, place)
    if isinstance(value, enum.Enum):
        return f"{name}.{value.name}" if name else None
    if isinstance(value, dict):
        full = f"{kind.__module__}.{kind.__qualname__}"
        inside = write({**value})
        return f"{name or full}({inside})" if inside is not None and (name or full in MAPPINGS) else None
    if not name or hasattr(type(value), "parameters"):  # a network is no record
        return None
    return _record(value, name, write)


def _record(value: Any, name: str, write: Callable[[Any], str | None]) -> str | None:
    """By its constructor where that takes exactly what it holds, otherwise `object(Class, attribute=…)`."""
    is_tuple = isinstance(value, tuple) and hasattr(value, "_asdict")
    held = value._asdict() if is_tuple else getattr(value, "__dict__", None)
    if held is None or not all(map(str.isidentifier, held)):
        return None
    parts = {each: write(part) for each, part in held.items()}
    if None in parts.values():
        return None
    words = [f"{each}={part}" for each, part in parts.items()]
    fields = {each.name for each in dataclasses.fields(value) if each.init} if dataclasses.is_dataclass(value) else None
    is_made_so = is_tuple or type(value) in RECORDS or fields == {*held}
    return f"{name}({', '.join(words)})" if is_made_so else f"object({', '.join([name, *words])})"


def _name(kind: Any, place: Callable[[str], str | None]) -> str | None:
    """`package.module.Class` of what stands at the top of one of the project's files."""
    try:
        file = place(os.path.realpath(inspect.getfile(kind)))
    except (TypeError, OSError):
        return None
    if file is None or not kind.__qualname__.isidentifier() or not file.endswith(".py"):
        return None
    known, name = str(kind.__module__), str(kind.__qualname__)
    if getattr(sys.modules.get(known), name, None) is not kind:
        return None
    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return f"{known if known.replace('.', '/') == file.removesuffix('.py') else module}.{name}"
