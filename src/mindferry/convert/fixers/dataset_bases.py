"""`class Digits(Dataset)`: MindSpore reads any object that can be indexed, so the base goes where the project asks no more of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.uses import Use
from ...read.walk import walk
from ..facts import Facts
from ..plan import Change, ReplaceSpan, claim_all


def plan(facts: Facts) -> Iterator[Change]:
    if not facts.settings.has_plain_datasets:
        return
    for node in facts.source.of(ast.ClassDef):
        if len(node.bases) == 1 and not node.keywords and _is_base(facts, node.bases[0]) and _is_read_by_index(node):
            yield from _without_base(facts, node, node.bases[0])


def _is_base(facts: Facts, base: ast.expr) -> bool:
    return isinstance(base, ast.Name | ast.Attribute) and facts.uses.has(Use.DATASET_BASE, facts.api(base))


def _is_read_by_index(node: ast.ClassDef) -> bool:
    """It has what the base only asks for, and calls nothing of the base's but object's own."""
    methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
    supers = [each for each in walk(node) if isinstance(each, ast.Attribute) and _is_super(each.value)]
    return "__getitem__" in methods and all(each.attr == "__init__" for each in supers)


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _without_base(facts: Facts, node: ast.ClassDef, base: ast.expr) -> Iterator[Change]:
    source = facts.source
    opening = source.data.rindex(b"(", 0, source.start(base))
    closing = source.data.index(b")", source.end(base)) + 1
    if source.data[opening + 1 : source.start(base)].strip() or source.data[source.end(base) : closing - 1].strip(
        b" ,"
    ):
        return  # a comment stands there
    yield claim_all(base)
    yield ReplaceSpan(opening, closing, "")
    before = source.data[source.start(base) : source.end(base)].decode()
    yield facts.record(base, facts.api(base), f"class {node.name}({before})", f"class {node.name}")
