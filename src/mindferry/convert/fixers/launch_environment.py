"""What torchrun tells its processes by environment and by --local_rank: msrun has other names, and a scheduler that runs the script too.

The scheduler has RANK_ID and RANK_SIZE, but no DEVICE_ID, before it joins; so RANK_ID answers whether a script was launched.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import findings
from ..facts import Facts
from ..plan import Change, ReplaceNode

NAMES = {
    "RANK": "RANK_ID",
    "WORLD_SIZE": "RANK_SIZE",
    "LOCAL_RANK": "DEVICE_ID",
    "MASTER_ADDR": "MS_SCHED_HOST",
    "MASTER_PORT": "MS_SCHED_PORT",
}
LAUNCHED = "RANK_ID"
FLAGS = {"--local_rank", "--local-rank"}


def plan(facts: Facts) -> Iterator[Change]:
    if not facts.source.mentions("distributed") and not facts.source.mentions("multiprocessing"):
        return
    for node in facts.source.nodes:
        if isinstance(node, ast.Constant) and node.value in NAMES:
            yield from _rename(facts, node)
        elif isinstance(node, ast.Constant) and node.value in FLAGS and _is_option(facts, node):
            yield facts.found(
                node,
                findings.MF250,
                "msrun gives no --local_rank: the default stays, and each process may take itself for the only one",
                "read the rank from mindspore.communication.get_rank() after init()",
            )


def _is_option(facts: Facts, node: ast.Constant) -> bool:
    parent = facts.parents.get(node)
    return (
        isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "add_argument"
    )


def _rename(facts: Facts, node: ast.Constant) -> Iterator[Change]:
    parent = facts.parents[node]
    name = NAMES[node.value]  # type: ignore[index]
    is_local = node.value == "LOCAL_RANK"
    text = ""
    match parent:
        case ast.Compare(ops=[ast.In() | ast.NotIn()], left=left, comparators=[mapping]) if (
            left is node and _is_environment(mapping)
        ):
            place: ast.AST = node
            text = _quoted(facts, node, LAUNCHED if is_local else name)
        case ast.Subscript(value=mapping, ctx=ast.Load()) if _is_environment(mapping):
            place = parent
            fallback = f".get({_quoted(facts, node, name)}, '0')"
            text = facts.source.text(mapping) + (fallback if is_local else f"[{_quoted(facts, node, name)}]")
        case ast.Call(func=function, args=[first, *rest]) if (
            first is node and not parent.keywords and _reads_environment(function)
        ):
            place = parent
            default = f", {facts.source.text(rest[0])}" if rest else ""
            called = facts.source.text(function)
            inner = f"{called}({_quoted(facts, node, LAUNCHED)}{default})"
            text = (
                f"{called}({_quoted(facts, node, name)}, {inner})"
                if is_local
                else f"{called}({_quoted(facts, node, name)}{default})"
            )
    if text:
        before = facts.source.text(place)
        yield ReplaceNode(place, text)
        yield facts.record(place, "environment", before, text)


def _quoted(facts: Facts, node: ast.Constant, name: str) -> str:
    quote = facts.source.text(node)[-1]
    return f"{quote}{name}{quote}"


def _is_environment(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="os"), attr="environ") | ast.Name(id="environ"):
            return True
    return False


def _reads_environment(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(value=mapping, attr="get") if _is_environment(mapping):
            return True
        case ast.Attribute(value=ast.Name(id="os"), attr="getenv") | ast.Name(id="getenv"):
            return True
    return False
