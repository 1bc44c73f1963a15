"""Options of an optimizer that a project never names are constants: `group["amsgrad"]` is False, and what it decides is folded."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from ...read.walk import walk
from .fold_constants import NOTHING, WIDTH, Offsets, Span, constant, in_strings, laid_out, parsed
from .helper_use import ProjectUse

BASE = "GradientOptimizer"
GROUP = "group"


def with_fixed_options(texts: dict[str, str], use: ProjectUse) -> dict[str, str]:
    """A group's entry that every optimizer in use sets to the same constant, and that nobody else names, is that constant."""
    if BASE not in texts or use.is_library:
        return texts
    values: dict[str, set[str]] = {}
    named: dict[str, int] = {}
    for text in texts.values():
        for option, value in _given(text):
            shown = Offsets(text).of(value) if constant(value) is not NOTHING else ""
            values.setdefault(option, set()).add(shown)
        for option in _named_otherwise(text):
            named[option] = named.get(option, 0) + 1
    fixed = {
        option: next(iter(found))
        for option, found in values.items()
        if len(found) == 1 and "" not in found and option not in named and option not in use.mentioned | use.stored
    }
    return {name: _without(text, fixed) for name, text in texts.items()} if fixed else texts


def _given(text: str) -> list[tuple[str, ast.expr]]:
    """What the class hands to the base of the optimizers as options."""
    node = parsed(text).body[0]
    if not isinstance(node, ast.ClassDef) or not any(
        isinstance(each, ast.Name) and each.id == BASE for each in node.bases
    ):
        return []
    return [
        (keyword.arg, keyword.value)
        for call in walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "__init__"
        for keyword in call.keywords
        if keyword.arg
    ]


def _named_otherwise(text: str) -> set[str]:
    """Options that are written, or named other than by `group["…"]`."""
    tree = parsed(text)
    read = {node.slice for node in walk(tree) if isinstance(node, ast.Subscript) and _is_option(node)}
    read -= in_strings(tree)
    return {
        node.value
        for node in walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in read
    }


def _is_option(node: ast.AST) -> bool:
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(), ctx=ast.Load()):
            return name == GROUP
    return False


def _without(text: str, fixed: Mapping[str, str]) -> str:
    tree, offsets = parsed(text), Offsets(text)
    spans: list[Span] = [
        (offsets.start(node), offsets.end(node), fixed[str(node.slice.value)])
        for node in walk(tree)
        if isinstance(node, ast.Subscript)
        and _is_option(node)
        and isinstance(node.slice, ast.Constant)
        and node.slice.value in fixed
    ]
    gone = {id(value) for option, value in _given(text) if option in fixed}
    for call in (node for node in walk(tree) if isinstance(node, ast.Call)):
        kept = [each for each in (*call.args, *call.keywords) if id(getattr(each, "value", None)) not in gone]
        if len(kept) < len(call.args) + len(call.keywords):
            items = [offsets.of(each) for each in kept]
            column = len(re.match(rb" *", offsets.data[offsets.line(call.lineno) :])[0])  # type: ignore[index]
            new = laid_out("(", items, ")", column, WIDTH - len(offsets.of(call.func)))
            spans.append((offsets.end(call.func), offsets.end(call), new))
    return offsets.edited(spans)
