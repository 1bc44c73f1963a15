"""`x[0, :, rows]`: torch takes the number's dimension away before the others count; MindSpore, like numpy, puts that of `rows` first.

`x[0][:, rows]` is the same in torch whatever `rows` is. Where it can't be told that it is a number, a helper asks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import AtNode, Change, Edit, ReplaceNode, ReplaceSpan, Texts

AFTER = ("masked_slices",)


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Subscript):
        if not isinstance(node.slice, ast.Tuple) or not facts.reading.type(node.value).is_tensor:
            continue
        parts = node.slice.elts
        place = _moved_by(facts, parts)
        if place is None:
            continue
        if not isinstance(node.ctx, ast.Load):
            if place == 0 and _is_number(facts, parts[0]) and not _is_given_number(facts, node):
                yield AtNode(node, partial(_as_slice, facts, node, parts[0]))
        elif _is_number(facts, parts[place]):
            comma = facts.source.find_token(b",", facts.source.end(parts[place]), facts.source.start(parts[place + 1]))
            kept = "".join(":, " for each in parts[:place] if not _is_number(facts, each))
            yield ReplaceSpan(comma, _after(facts, comma), f"][{kept}")
            yield facts.record(node, "a number in an index", facts.source.text(node), partial(_text, node))
        elif place == 0:
            yield AtNode(node, partial(_ask, facts, node, parts))


def _moved_by(facts: Facts, parts: list[ast.expr]) -> int | None:
    """Which of the parts is the last that may be a number, with a slice between it and one that may hold several places."""
    found = None
    for place, part in enumerate(parts):
        if _is_separator(part):
            if isinstance(part, ast.Constant) and part.value is ...:
                break  # how many dimensions it stands for can't be told
            continue
        if not _is_number(facts, part) and (place or not _may_be_number(facts, part)):
            break
        following = parts[place + 1 :]
        is_separated = bool(following) and _is_separator(following[0])
        if is_separated and any(_may_hold_places(facts, each) for each in following):
            found = place
    return found


def _is_separator(part: ast.expr) -> bool:
    return isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value in (None, ...))


def _is_number(facts: Facts, part: ast.expr) -> bool:
    match part:
        case ast.Constant(value=value):
            return type(value) is int
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return type(value) is int
    return facts.reading.type(part).kind == "int"


def _may_be_number(facts: Facts, part: ast.expr) -> bool:
    """A tensor without dimensions, or what nothing is known of."""
    kind = facts.reading.type(part).kind
    return isinstance(part, ast.Name | ast.Attribute | ast.Subscript) and kind in ("tensor", "unknown")


def _may_hold_places(facts: Facts, part: ast.expr) -> bool:
    kind = facts.reading.type(part).kind
    return not _is_separator(part) and not _is_number(facts, part) and kind in ("tensor", "list", "ndarray", "unknown")


def _is_given_number(facts: Facts, node: ast.Subscript) -> bool:
    """`x[0, :, rows] = 1`: one number for all places has no order."""
    match facts.parents.get(node):
        case ast.Assign(value=value) | ast.AugAssign(value=value):
            return _is_number(facts, value) or facts.reading.type(value).kind in ("int", "float", "bool")
    return False


def _after(facts: Facts, comma: int) -> int:
    """Past the comma and the blanks behind it."""
    end = comma + 1
    while facts.source.data[end : end + 1] == b" ":
        end += 1
    return end


def _text(node: ast.Subscript, texts: Texts) -> str:
    return texts.of(node)


def _as_slice(facts: Facts, node: ast.Subscript, part: ast.expr, texts: Texts) -> Iterator[Edit]:
    """`x[0:1, :, rows] = values`: the values have the order that torch gives them."""
    match part:
        case ast.Constant(value=int(number)):
            text = f"{number}:{number + 1}"
        case ast.UnaryOp(operand=ast.Constant(value=1)):
            text = "-1:"
        case ast.UnaryOp(operand=ast.Constant(value=int(number))):
            text = f"-{number}:-{number - 1}"
        case _:
            text = f"{texts.name('compat.one_place')}({texts.of(part)})"
    before = facts.source.text(node)
    yield ReplaceNode(part, text)
    yield facts.record(node, "a number in an index", before, partial(_text, node))


def _ask(facts: Facts, node: ast.Subscript, parts: list[ast.expr], texts: Texts) -> Iterator[Edit]:
    written = ", ".join(_part(each, texts) for each in parts)
    text = f"{texts.name('compat.indexed')}({texts.of(node.value)}, ({written}))"
    before = facts.source.text(node)
    yield ReplaceNode(node, text, swallows=True)
    yield facts.record(node, "a number in an index", before, text)


def _part(part: ast.expr, texts: Texts) -> str:
    if not isinstance(part, ast.Slice):
        return texts.of(part)
    bounds = [texts.of(each) if each is not None else "None" for each in (part.lower, part.upper, part.step)]
    return f"slice({', '.join(bounds if part.step is not None else bounds[:2])})".replace(
        "slice(None, None)", "slice(None)"
    )
