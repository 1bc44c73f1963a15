"""`install_requires=["torch>=2"]` in a setup.py: installing the converted project must not bring torch back."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.source import Source
from ..facts import Facts
from ..plan import Change, ReplaceNode, ReplaceSpan
from ..requirements import GONE, NEEDED, named


def plan(facts: Facts) -> Iterator[Change]:
    for listed in _lists(facts.source):
        gone = [index for index, each in enumerate(listed) if named(_text(each)) in GONE]
        yield ReplaceNode(listed[gone[0]], repr(NEEDED[0]))
        yield facts.record(listed[gone[0]], facts.framework.name, facts.source.text(listed[gone[0]]), repr(NEEDED[0]))
        for index in gone[1:]:  # together with the comma before it
            yield ReplaceSpan(facts.source.end(listed[index - 1]), facts.source.end(listed[index]), "")


def asks_for_torch(source: Source) -> bool:
    return next(_lists(source), None) is not None


def _lists(source: Source) -> Iterator[list[ast.expr]]:
    """Lists of texts, one of which is a package of torch's."""
    if source.path.rpartition("/")[2] != "setup.py" or b"torch" not in source.data:
        return
    nodes: list[ast.List | ast.Tuple] = [*source.of(ast.List), *source.of(ast.Tuple)]
    for node in nodes:
        texts = [_text(each) for each in node.elts]
        if all(texts) and any(named(each) in GONE for each in texts):
            yield node.elts


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
