"""What an observation decided is marked so; what it says of a file that has changed since is refused."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from .. import findings
from ..artifacts import Finding, Rewrite
from .context import Context

if TYPE_CHECKING:
    from .one_file import Written

OBSERVED = "observed"


def with_refusal(written: Written) -> Written:
    record = written.record
    code = findings.MF907
    message = "this file has changed since it was observed, so the observation of it is not used"
    finding = Finding(code, code.severity, record.path, 1, 1, message, "run `mindferry observe` again")
    return replace(written, record=replace(record, findings=(*record.findings, finding)))


def _decisive(node: ast.Call) -> list[ast.expr]:
    """The parts of a call whose types choose its rule."""
    receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    return [*node.args, node.func, *receiver]


def mark_observed(context: Context) -> list[Rewrite]:
    """The file's rewrites; those that rest on what was seen say so."""
    observed = context.reading.observed
    if not observed:
        return context.rewrites
    calls = [node for node in context.source.of(ast.Call) if observed.intersection(_decisive(node))]
    reads = [node for node in context.source.of(ast.Attribute) if node.value in observed]
    places = set()
    for node in (*calls, *reads):
        line, column = context.source.position(context.source.start(node))
        places.add((line, column + 1))
    return [
        replace(each, receiver=OBSERVED) if (each.line, each.column) in places else each for each in context.rewrites
    ]
