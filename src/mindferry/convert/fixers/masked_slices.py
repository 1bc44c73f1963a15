"""`w[mask, :]`, `w[mask, 2:]`: MindSpore counts a mask of two dimensions as one where slices follow, and takes them of the wrong one.

`w[mask]` and `w[mask][:, 2:]` are the same in torch, whatever the mask's dimensions. Writing to such a place is right as it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import Change, ReplaceSpan, Texts
from .operators import is_boolean


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Subscript):
        if not isinstance(node.slice, ast.Tuple) or not isinstance(node.ctx, ast.Load):
            continue
        kind, parts = facts.reading.type(node.value), node.slice.elts
        kept = _without_whole_ends(parts)
        if not kept or not (kind.is_tensor or (kind.kind == "unknown" and _is_mask(facts, kept[0]))):
            continue
        before = facts.source.text(node)
        if len(kept) < len(parts) and any(_may_be_mask(facts, each) for each in kept):
            yield ReplaceSpan(_comma(facts, parts, len(kept)), facts.source.end(parts[-1]), "")
        if len(kept) > 1 and _is_mask(facts, kept[0]) and _are_slices(facts, kept[1:]):
            comma = _comma(facts, parts, 1)
            yield ReplaceSpan(comma, comma + 1, "][:,")
        elif len(kept) == len(parts) or not any(_may_be_mask(facts, each) for each in kept):
            continue
        yield facts.record(node, "index by a mask", before, partial(_text, node))


def _text(node: ast.Subscript, texts: Texts) -> str:
    return texts.of(node)


def _comma(facts: Facts, parts: list[ast.expr], place: int) -> int:
    """Where the comma before this part stands."""
    source = facts.source
    return source.find_token(b",", source.end(parts[place - 1]), source.start(parts[place]))


def _without_whole_ends(parts: list[ast.expr]) -> list[ast.expr]:
    """`mask` of `mask, :, ...`: what takes all of the last dimensions may go."""
    end = len(parts)
    while end and _is_whole(parts[end - 1]):
        end -= 1
    kept = parts[:end]
    is_counted_from_behind = any(isinstance(each, ast.Constant) and each.value is ... for each in kept)
    return parts if is_counted_from_behind else kept  # `..., rows, :`


def _is_whole(part: ast.expr) -> bool:
    if isinstance(part, ast.Slice):
        return part.lower is None and part.upper is None and part.step is None
    return isinstance(part, ast.Constant) and part.value is ...


def _are_slices(facts: Facts, parts: list[ast.expr]) -> bool:
    """`mask, 2:`, `mask, :, 0`; not `mask, :, rows`, whose places go together with those of the mask."""
    is_one = [isinstance(each, ast.Constant) or facts.reading.type(each).kind == "int" for each in parts]
    is_slice = [_is_no_place(each) for each in parts]
    return any(is_slice) and all(one or whole for one, whole in zip(is_one, is_slice, strict=True))


def _is_no_place(part: ast.expr) -> bool:
    return isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value in (None, ...))


def _may_be_mask(facts: Facts, part: ast.expr) -> bool:
    return facts.reading.type(part).is_tensor or _is_mask(facts, part)


def _is_mask(facts: Facts, part: ast.expr) -> bool:
    """The code itself says so, or its name does."""
    match part:
        case ast.UnaryOp(op=ast.Invert(), operand=inner):
            return _is_mask(facts, inner)
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr(), left=left, right=right):
            return _is_mask(facts, left) or _is_mask(facts, right)
    name = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
    kind = facts.reading.type(part).kind
    is_named = kind in ("tensor", "unknown") and (name == "mask" or name.endswith("_mask"))
    return is_named or is_boolean(facts, part) or _is_written_out(facts, part)


def _is_written_out(facts: Facts, part: ast.expr) -> bool:
    """`keep = torch.tensor([[True, False], [True, True]])`, and nothing else is bound to the name in this file."""
    owners = [facts.parents.get(store) for store in facts.stores(part.id)] if isinstance(part, ast.Name) else []
    values = [each.value for each in owners if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call)]
    made = [value.args[0] for value in values if value.args and isinstance(value.args[0], ast.List)]
    leaves = [each.value for table in made for each in ast.walk(table) if isinstance(each, ast.Constant)]
    return bool(leaves) and len(made) == len(owners) and all(isinstance(each, bool) for each in leaves)
