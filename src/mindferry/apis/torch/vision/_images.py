"""What the rules of torchvision's transforms have in common."""

from __future__ import annotations

import ast
from typing import Any

from ..._call import Call

INTERPOLATIONS = {0: "NEAREST", 2: "BILINEAR", 3: "BICUBIC"}
MODES = {"constant": "CONSTANT", "edge": "EDGE", "reflect": "REFLECT", "symmetric": "SYMMETRIC"}


def is_given(call: Call, kind: str) -> bool:
    """Whether the transform is certain to get PIL images ("pil", or "square" ones) or what ToTensor made of one ("array")."""
    return call.noted == kind or (kind == "pil" and call.noted == "square")


def constant(call: Call, name: str, absent: Any = None) -> Any:
    """The argument's value, also where it is a constant of the module; `...` if it can't be told."""
    node = call.given.get(name)
    if not isinstance(node, ast.Name):
        return call.literal(name, absent)
    source = call.reading.source
    given = source.assigned.get(node.id, [])
    if len(given) != 1 or source.parents[given[0]] is not source.tree:
        return ...
    try:
        return ast.literal_eval(given[0].value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ...


def set_interpolation(call: Call, default: str) -> bool:
    """Write vision.Inter for a Pillow number; MindSpore's own default is another one. False: can't be told."""
    value = call.literal("interpolation", default)
    if value == default:
        call.set(interpolation=call.name(f"mindspore.dataset.vision.Inter.{default}"))
        return True
    if value in INTERPOLATIONS:
        call.set(interpolation=call.name(f"mindspore.dataset.vision.Inter.{INTERPOLATIONS[value]}"))
        return True
    return value is ... and ".Inter." in f".{call.text('interpolation')}"


def set_padding_mode(call: Call) -> bool:
    mode = call.literal("padding_mode", "constant")
    if mode not in MODES:
        return False
    if call.has("padding_mode"):
        call.set(padding_mode=call.name(f"mindspore.dataset.vision.Border.{MODES[mode]}"))
    return True
