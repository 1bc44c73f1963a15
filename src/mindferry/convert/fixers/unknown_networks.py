"""`thing.eval()` of something that can't be told to be a network: left as it is, with a warning instead of a crash later."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import findings
from ..facts import Facts
from ..plan import Change

NOT_NETWORKS = ("train", "fit", "run", "learn")  # a trainer's, runner's or learner's own method of that name


def plan(facts: Facts) -> Iterator[Change]:
    if not facts.source.mentions("torch"):
        return
    for node in facts.source.of(ast.Expr):
        match node:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=owner, attr="train" | "eval" as name) as method, args=[], keywords=[]
                )
            ):
                if facts.reading.type(owner).kind == "unknown" and facts.reading.type(method).kind == "unknown":
                    yield from _warn(facts, node, owner, name)


def _warn(facts: Facts, node: ast.Expr, owner: ast.expr, name: str) -> Iterator[Change]:
    text = facts.source.text(owner)
    is_defined = any(name in info.results for info in facts.reading.symbols.classes.values())
    if is_defined or any(word in text.lower() for word in NOT_NETWORKS):
        return
    mode = "" if name == "train" else "False"
    yield facts.found(
        node,
        findings.MF123,
        f"{text}.{name}(): whether {text} is a network can't be told from here, so the call stays",
        f"if it is one, write {text}.set_train({mode})",
    )
