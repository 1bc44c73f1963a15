"""Imports of a library that the project brings along: from now on it stands in the project's own folder."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.source import Source
from ..facts import Facts
from ..plan import Change, ReplaceNode, ReplaceSpan

IMPORTERS = frozenset({"import_module", "__import__"})


def plan(facts: Facts) -> Iterator[Change]:
    symbols = facts.reading.symbols
    if not symbols.ported:
        return
    for node in facts.source.of(ast.ImportFrom):
        if not node.level and node.module and (new := symbols.redirected(node.module)) != node.module:
            after = facts.source.start(node) + len("from")
            at = facts.source.find_token(node.module.encode(), after, facts.source.end(node))
            yield ReplaceSpan(at, at + len(node.module.encode()), new, is_optional=True)
            yield facts.record(node, "library", node.module, new)
    for each in facts.source.of(ast.Import):
        if any(symbols.redirected(alias.name) != alias.name for alias in each.names):
            text = f"import {', '.join(part for alias in each.names for part in symbols.redirected_import(alias))}"
            yield ReplaceNode(each, text)
            yield facts.record(each, "library", facts.source.text(each), text)
    for argument, text in imported_by_text(facts.source).items():
        if (new := symbols.redirected(text)) != text:
            yield ReplaceNode(argument, repr(new))
            yield facts.record(argument, "library", text, new)


def imported_by_text(source: Source) -> dict[ast.expr, str]:
    """`import_module(".bert", "transformers.models")`: the texts in such calls."""
    return {
        argument: argument.value
        for call in source.of(ast.Call)
        if getattr(call.func, "attr", getattr(call.func, "id", "")) in IMPORTERS
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }
