"""Whether a whole training step is known to compile: the networks of the file are plain code, and so is the loss. `--jit auto` asks."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from ....read.walk import walk
from ...refused import Refused
from .draft import Draft
from .steps import Backward

STATEMENTS = (
    ast.Assign,
    ast.AugAssign,
    ast.AnnAssign,
    ast.Return,
    ast.Expr,
    ast.If,
    ast.For,
    ast.Pass,
    ast.FunctionDef,
)
EXPRESSIONS = (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.JoinedStr, ast.Set, ast.SetComp)
HOST = frozenset(
    "item asnumpy tolist numpy append extend pop insert setdefault update".split()
)  # on values of the host
FUNCTIONS = frozenset("range len enumerate zip reversed isinstance tuple list int float bool super".split())
ASKS_AT_RUN_TIME = re.compile(r"\b(any_|backward|random|write_)\w*\(")  # helpers that look at what they are given


def check_compiles(draft: Draft, each: Backward) -> None:
    """Refuses with the reason, which the finding then gives."""
    top = draft.source.tree.body
    networks = [node for node in top if isinstance(node, ast.ClassDef) and _is_network(draft, node)]
    is_made_here = any(draft.api(call.func).endswith(".Sequential") for call in draft.source.of(ast.Call))
    if not networks and not is_made_here:
        raise Refused("its network is not defined in this file, so it was not looked at")
    functions = {node.name: node for node in top if isinstance(node, ast.FunctionDef)}
    imported = {
        alias.asname or alias.name
        for node in top
        if isinstance(node, ast.ImportFrom) and not draft.framework.is_own(node.module or "")
        for alias in node.names
    }
    waiting: dict[str, list[ast.stmt]] = {
        f"{network.name}.{method.name}": method.body
        for network in networks
        for method in network.body
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("__")
    }
    waiting["the step"] = each.lifted
    seen = set()
    while waiting:
        name, body = waiting.popitem()
        seen.add(name)
        if found := next(_obstacles(draft, body), ""):
            raise Refused(f"{name} has {found}, of which it is not known that ms.jit compiles it as it runs")
        called = {
            node.func.id
            for statement in body
            for node in walk(statement)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        if foreign := sorted(called & imported):
            raise Refused(f"{name} calls {foreign[0]}, which is defined in another file")
        waiting |= {each: functions[each].body for each in called & functions.keys() - seen}


def _is_network(draft: Draft, node: ast.ClassDef) -> bool:
    kind = draft.reading.scope.names.get(node.name)
    return kind is not None and draft.reading.symbols.is_module(kind.qual)


def _obstacles(draft: Draft, body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if asked := ASKS_AT_RUN_TIME.search(draft.texts.of(statement)):
            yield f"`{asked.group()[:40]})`"
        for node in walk(statement):
            if isinstance(node, ast.stmt) and not isinstance(node, STATEMENTS):
                yield f"`{type(node).__name__.lower()}`"
            elif isinstance(node, EXPRESSIONS):
                yield f"`{ast.unparse(node)[:40]}`"
            elif isinstance(node, ast.If) and any(_is_asked(part) for part in walk(node.test)):
                yield f"`if {ast.unparse(node.test)[:40]}`"
            elif isinstance(node, ast.Call) and not _is_known(node.func):
                yield f"`{ast.unparse(node.func)[:40]}()`"
            elif isinstance(node, ast.Assign | ast.AugAssign) and _is_kept(node):
                yield f"`{ast.unparse(node)[:40]}`"


def _is_asked(node: ast.AST) -> bool:
    """A call that a condition rests on, other than of a length or a type."""
    return isinstance(node, ast.Call) and not (
        isinstance(node.func, ast.Name) and node.func.id in ("len", "isinstance")
    )


def _is_known(called: ast.expr) -> bool:
    match called:
        case ast.Name(id=name):
            is_own = name[:1].islower() and not hasattr(builtins, name)  # a network or loss; classes are not made here
            return name in FUNCTIONS or is_own
        case ast.Attribute(value=ast.Name(id="np" | "math" | "random" | "os" | "time")):
            return False
        case ast.Attribute(attr=name):
            return name not in HOST
        case ast.Subscript() | ast.Call():
            return True
    return False


def _is_kept(node: ast.Assign | ast.AugAssign) -> bool:
    """Something that outlives the call: an attribute or an entry is set."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(each, ast.Attribute | ast.Subscript) for each in targets)
