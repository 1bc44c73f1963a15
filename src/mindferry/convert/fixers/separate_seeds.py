"""`np.random.seed(0)` where nothing seeds torch: MindSpore's layers and loaders would draw from the script's numbers, torch's never do."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..facts import Facts
from ..plan import Change, InsertAfter, Texts

SEEDING = re.compile(r"(?:np|numpy)\.random\.seed|random\.seed")
# What seeds torch as well sets its numbers apart.
SEEDS_ALL = re.compile(rb"manual_seed|seed_everything|import[^\n]*\bset_seed")


def plan(facts: Facts) -> Iterator[Change]:
    source = facts.source
    if not facts.reading.symbols.draws_host_numbers or SEEDS_ALL.search(source.data):
        return
    if not any(facts.framework.has(facts.api(each.func)) for each in source.of(ast.Call)):
        return  # the file imports torch, no more
    for call in source.calls_named("seed"):
        statement = facts.parents.get(call)
        if not isinstance(statement, ast.Expr) or not SEEDING.fullmatch(source.text(call.func)):
            continue
        is_alone = not source.data[source.line_start(source.start(call)) : source.start(call)].strip()
        is_last = source.data[source.end(call) :].split(b"\n", 1)[0].strip() in (b"", b"\r")
        joint = f"{source.newline()}{source.indent(statement)}" if is_alone and is_last else "; "
        yield InsertAfter(statement, lambda texts, joint=joint: joint + _now(texts))  # type: ignore[misc]
        yield facts.record(statement, "seed", source.text(statement), _now)
        return


def _now(texts: Texts) -> str:
    return f"{texts.name('compat.seed_apart')}()"
