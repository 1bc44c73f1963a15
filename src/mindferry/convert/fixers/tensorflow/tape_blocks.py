"""Which part of a tape's block becomes the function, where a tensor is made and watched in it, or the gradient is asked for in it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....read.source import Source
from ...facts import Facts
from ...plan import Edit, ReplaceSpan
from .block_names import names_of

Parts = tuple[list[ast.stmt], list[ast.stmt], list[ast.stmt]]


def split_block(facts: Facts, block: ast.With, names: list[str], sources: set[str] | None) -> Parts:
    """(what runs before the function, the function, what runs after it); the first and the last are mostly empty.

    What leads to a watched tensor leaves the function only where all gradients are taken by watched tensors: variables
    that were used there would get none.
    """
    body = block.body
    is_one_line = body[0].lineno == block.lineno
    if len(names) != 1 or is_one_line or any(not _can_move(facts, each) for each in body):
        return [], body, []
    first = next((place for place, each in enumerate(body) if _asks(facts, each, names, "gradient")), len(body))
    watched = [place for place, each in enumerate(body[:first]) if _is_watch_of_own(facts, body[:place], each, names)]
    own = names_of(body[: watched[-1]]).stored if watched else set()
    begin = watched[-1] + 1 if watched and sources is not None and sources <= own else 0
    return (body[:begin], body[begin:first], body[first:]) if begin < first else ([], body, [])


def dedented(source: Source, begin: int, end: int, inner: str, outer: str) -> Iterator[Edit]:
    """Lines that leave the block."""
    width = len(inner) - len(outer)
    while begin < end:
        if source.data[begin : begin + len(inner)].decode("utf-8", "replace") == inner:
            yield ReplaceSpan(begin, begin + width, "")
        begin = source.line_end(begin)


def _asks(facts: Facts, statement: ast.stmt, names: list[str], method: str) -> list[ast.Call]:
    return [
        node
        for node in facts.source.walk(statement)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == method
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in names
    ]


def _is_watch_of_own(facts: Facts, before: list[ast.stmt], statement: ast.stmt, names: list[str]) -> bool:
    """`tape.watch(x)` of an x that the block has made just before."""
    if not isinstance(statement, ast.Expr):
        return False
    own = names_of(before).stored
    given = [node for call in _asks(facts, statement, names, "watch") for each in call.args for node in ast.walk(each)]
    return any(isinstance(node, ast.Name) and node.id in own for node in given)


def _can_move(facts: Facts, statement: ast.stmt) -> bool:
    """Whether its lines can be indented otherwise: text over several lines would change."""
    return (
        not any(
            isinstance(node, ast.Constant | ast.JoinedStr) and node.lineno != node.end_lineno
            for node in facts.source.walk(statement)
        )
        and facts.source.indent(statement).isspace()
    )
