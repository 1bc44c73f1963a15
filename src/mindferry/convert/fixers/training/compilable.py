"""Whether a whole training step is known to compile: the networks of the file are plain code, and so is the loss. `--jit auto` asks."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator

from ....read.walk import walk_again as walk
from ...facts import Facts
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
RECURRENT = frozenset(("LSTM", "GRU", "RNN"))
CONSTANT_MATH = frozenset("sqrt log exp pow ceil floor".split())  # of shapes and settings, which are numbers
FUNCTIONS = frozenset("range len enumerate zip reversed isinstance tuple list int float bool super".split())
ASKS_AT_RUN_TIME = re.compile(r"\b(any_|backward|random|write_)\w*\(")  # helpers that look at what they are given


def check_compiles(draft: Draft, each: Backward) -> None:
    """Refuses with the reason, which the finding then gives."""
    top = draft.source.tree.body
    networks = [node for node in top if isinstance(node, ast.ClassDef) and _is_network(draft, node)]
    if not networks and not draft.derived(_makes_sequences):
        raise Refused("its network is not defined in this file, so it was not looked at")
    functions = {node.name: node for node in top if isinstance(node, ast.FunctionDef)}
    imported = {
        alias.asname or alias.name
        for node in top
        if isinstance(node, ast.ImportFrom) and not draft.framework.is_own(node.module or "")
        for alias in node.names
    }
    _check_speed(draft)
    waiting = _methods_that_run(networks, each.lifted)
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


def _methods_that_run(networks: list[ast.ClassDef], lifted: list[ast.stmt]) -> dict[str, list[ast.stmt]]:
    """forward() and what it reaches; a method that only __init__ calls is not compiled."""
    methods = [
        (network.name, method) for network in networks for method in network.body if isinstance(method, ast.FunctionDef)
    ]
    found: dict[str, list[ast.stmt]] = {}
    waiting = {"forward"} | {node.attr for each in lifted for node in walk(each) if isinstance(node, ast.Attribute)}
    seen: set[str] = set()
    while waiting:
        reached = [(owner, method) for owner, method in methods if method.name in waiting]
        seen |= waiting
        waiting = {node.attr for _, each in reached for node in walk(each) if isinstance(node, ast.Attribute)} - seen
        found |= {f"{owner}.{method.name}": method.body for owner, method in reached if method.name != "__init__"}
    return found


def _check_speed(draft: Draft) -> None:
    """Recurrent layers have a kernel of their own in PyNative mode, and are a graph of all their steps in a compiled one."""
    if name := draft.derived(_recurrent_layer):
        raise Refused(f"its {name} runs as one kernel now, and step by step once it is compiled, which takes longer")


def _recurrent_layer(facts: Facts) -> str:
    """The first that the file makes, or ''."""
    for call in facts.source.of(ast.Call):
        name = facts.api(call.func).rpartition(".")[2]
        if name in RECURRENT and facts.api(call.func).endswith(f"nn.{name}"):
            return name
    return ""


def _makes_sequences(facts: Facts) -> bool:
    return any(facts.api(call.func).endswith(".Sequential") for call in facts.source.of(ast.Call))


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
        case ast.Attribute(value=ast.Name(id="math"), attr=name):
            return name in CONSTANT_MATH
        case ast.Attribute(value=ast.Name(id="np" | "random" | "os" | "time")):
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
