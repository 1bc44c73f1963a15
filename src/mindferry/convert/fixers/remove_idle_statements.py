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
    idle: set[ast.stmt] = {node for node in statements if _is_idle(facts, node, texts)}
    for node in (each for each in statements if each in idle):
        if len(facts.block_of(node)) == 1:
            yield ReplaceNode(node, "pass", swallows=True)
        else:
            yield RemoveStatement(node)
            yield from _close_gap(facts, node)
    for copied in statements:
        short = _short_copy(texts, copied.value) if isinstance(copied, ast.Assign) and copied not in idle else ""
        if short and not _is_taken(facts, short.partition("(")[0]):
            yield ReplaceNode(copied.value, short, swallows=True)


def _is_taken(facts: Facts, name: str) -> bool:
    """Whether the file has something of its own that is called `dict` or `list`."""
    is_stored = any(isinstance(each.ctx, ast.Store) for each in facts.source.named.get(name, ()))
    return is_stored or any(each.arg == name for each in facts.source.of(ast.arg))


def _short_copy(texts: Texts, value: ast.expr) -> str:
    """`dict(batch)` for `{k: v for k, v in batch.items()}`, where `v.to(device)` stood; '' for anything else."""
    if not isinstance(value, ast.DictComp | ast.ListComp | ast.Call) or not texts.is_touched(value):
        return ""
    try:
        made = ast.parse(texts.of(value).strip(), mode="eval").body
    except SyntaxError:
        return ""
    match made:
        case ast.DictComp(
            key=ast.Name(id=key),
            value=ast.Name(id=kept),
            generators=[
                ast.comprehension(
                    target=ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)]),
                    iter=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="items"), args=[], keywords=[]),
                    ifs=[],
                    is_async=0,
                )
            ],
        ) if (key, kept) == (first, second) and first != second:
            return f"dict({name})"
        case ast.ListComp(elt=elt, generators=[generator]):
            return f"list({_same_items(elt, generator)})" if _same_items(elt, generator) else ""
        case ast.Call(func=ast.Name(id="tuple" | "list" as kind), args=[ast.GeneratorExp(elt=elt, generators=[each])]):
            return f"{kind}({_same_items(elt, each)})" if _same_items(elt, each) else ""
    return ""


def _same_items(element: ast.expr, generator: ast.comprehension) -> str:
    """What `t for t in batch` goes through."""
    match element, generator:
        case ast.Name(id=kept), ast.comprehension(
            target=ast.Name(id=taken), iter=ast.Name(id=name), ifs=[], is_async=0
        ):
            return name if kept == taken else ""
    return ""


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
