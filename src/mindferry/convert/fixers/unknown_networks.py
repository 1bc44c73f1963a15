"""`thing.eval()` of something that can't be told to be a network: left as it is, with a warning instead of a crash later."""

from __future__ import annotations

import ast

from ... import findings
from ..context import Context

NOT_NETWORKS = ("train", "fit", "run", "learn")  # a trainer's, runner's or learner's own method of that name


def prepare(context: Context) -> None:
    if not context.source.mentions("torch"):
        return
    for node in context.source.of(ast.Expr):
        match node:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=owner, attr="train" | "eval" as name) as method, args=[], keywords=[]
                )
            ):
                if context.reading.type(owner).kind == "unknown" and context.reading.type(method).kind == "unknown":
                    _warn(context, node, owner, name)


def _warn(context: Context, node: ast.Expr, owner: ast.expr, name: str) -> None:
    text = context.source.text(owner)
    is_defined = any(name in info.results for info in context.reading.symbols.classes.values())
    if is_defined or any(word in text.lower() for word in NOT_NETWORKS):
        return
    mode = "" if name == "train" else "False"
    context.find(
        node,
        findings.MF123,
        f"{text}.{name}(): whether {text} is a network can't be told from here, so the call stays",
        f"if it is one, write {text}.set_train({mode})",
    )


def finish(context: Context) -> None:
    pass
