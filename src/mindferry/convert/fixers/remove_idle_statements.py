"""What a rewrite leaves without effect goes: `x = x` after `.to(device)`, a bare `model` after `.cuda()`, a bare None."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import AtEnd, Change, Edit, RemoveStatement, ReplaceNode, ReplaceSpan, Texts

AFTER = ("unused_devices",)


def plan(facts: Facts) -> Iterator[Change]:
    yield AtEnd(partial(_write, facts))


def _write(facts: Facts, texts: Texts) -> Iterator[Edit]:
    statements: list[ast.Assign | ast.Expr] = [*facts.source.of(ast.Assign), *facts.source.of(ast.Expr)]
    for node in statements:
        if _is_idle(facts, node, texts):
            if len(facts.block_of(node)) == 1:
                yield ReplaceNode(node, "pass", swallows=True)
            else:
                yield RemoveStatement(node)
                yield from _close_gap(facts, node)


def _is_idle(facts: Facts, node: ast.Assign | ast.Expr, texts: Texts) -> bool:
    if not texts.is_touched(node.value) or (after := texts.of(node.value)) == facts.source.text(node.value):
        return False
    if isinstance(node, ast.Assign):
        return len(node.targets) == 1 and _is_same(after, texts.of(node.targets[0]))
    if facts.is_notebook or _ends_as_call(after):  # in a notebook a bare value is shown
        return False
    try:
        value = ast.parse(after, mode="eval").body
    except SyntaxError:
        return False
    while isinstance(value, ast.Attribute):
        value = value.value
    return isinstance(value, ast.Name | ast.Constant)


def _ends_as_call(text: str) -> bool:
    """Whether a look at its ends tells that it is no bare name, attribute or constant: most statements call something."""
    return text[:1].isidentifier() and text.endswith(")") and "#" not in text


def _close_gap(facts: Facts, node: ast.stmt) -> Iterator[Edit]:
    """Blank lines after a first statement would otherwise open the block."""
    source = facts.source
    start = source.line_end(source.end(node))
    end = start
    while end < len(source.data) and not source.data[end : source.line_end(end)].strip():
        end = source.line_end(end)
    if facts.block_of(node)[0] is node and end > start:
        yield ReplaceSpan(start, end, "")


def _is_same(one: str, other: str) -> bool:
    """Whether both name the same things, whatever stands in parentheses."""
    if _squeeze(one) != _squeeze(other):
        return False
    try:
        return ast.dump(ast.parse(f"({one})", mode="eval")) == ast.dump(ast.parse(f"({other})", mode="eval"))
    except SyntaxError:
        return False


def _squeeze(text: str) -> str:
    return "".join(text.split()).replace("(", "").replace(")", "")
