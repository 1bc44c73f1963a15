"""`hessian(lambda x: f(x) ** 2)(x)`: the derivative may be compiled, and MindSpore compiles a lambda only where it has its lines for itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.uses import Use
from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore


def plan(facts: Facts) -> Iterator[Change]:
    for call in facts.calls_for(Use.FUNCTION_DERIVATIVE):
        for given in call.args:
            if isinstance(given, ast.Lambda) and not _has_its_line(facts, given):
                margin = " " * facts.statement_of(call).col_offset
                yield InsertBefore(given, f"\n{margin}    ")
                yield InsertAfter(given, f"\n{margin}")


def _has_its_line(facts: Facts, given: ast.Lambda) -> bool:
    """Or stands where no line can begin: in an f-string."""
    start = facts.source.start(given)
    before = facts.source.data[facts.source.data.rfind(b"\n", 0, start) + 1 : start]
    return not before.strip() or facts.enclosing(given, ast.JoinedStr) is not None
