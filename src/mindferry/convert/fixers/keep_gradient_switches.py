"""`with torch.no_grad():` in a file whose graphs are recorded as the code runs: it switches the recording off."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.uses import Use
from ..facts import Facts
from ..plan import Change, ReplaceNode, Texts, claim


def is_needed(facts: Facts) -> bool:
    """A backward() of this file goes along such graphs, or one that is given losses from here."""
    from .training import steps

    if not facts.settings.record_graphs:
        return False
    found = facts.derived(steps.find)
    return bool(found.recorded) or (facts.reading.symbols.differentiates_arguments and not found.lifted)


def plan(facts: Facts) -> Iterator[Change]:
    if not facts.derived(is_needed):
        return
    for node in _switches(facts):
        yield claim(node, *([node.func] if isinstance(node, ast.Call) else []))
        now = partial(_text, facts, node)
        yield ReplaceNode(node, now)
        yield facts.record(node, facts.api(_named(node)), facts.source.text(node), now)


def _switches(facts: Facts) -> Iterator[ast.expr]:
    yield from (*facts.calls_for(Use.NO_GRADIENT), *facts.calls_for(Use.GRADIENT_SWITCH))
    for function in facts.source.of(ast.FunctionDef):
        for mark in function.decorator_list:
            if not isinstance(mark, ast.Call) and facts.is_use(Use.NO_GRADIENT, mark):
                yield mark


def _named(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _text(facts: Facts, node: ast.expr, texts: Texts) -> str:
    given = [*node.args, *(each.value for each in node.keywords)] if isinstance(node, ast.Call) else []
    is_off = facts.is_use(Use.NO_GRADIENT, _named(node))
    helper = texts.name("compat.no_grad" if is_off else "compat.switch_recording")
    return f"{helper}({', '.join(texts.of(each) for each in given)})"
