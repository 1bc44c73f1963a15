"""Whether a whole training step is known to compile: the networks of the file are plain code, and so is the loss. `--jit auto` asks."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from ...refused import Refused
from .steps import Step

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
CONTAINERS = frozenset({"SequentialCell", "Sequential"})
FUNCTIONS = frozenset("range len enumerate zip reversed isinstance tuple list int float bool super".split())


def check_compiles(step: Step, tree: ast.Module) -> None:
    """Refuses with the reason, which the finding then gives."""
    cells = [node for node in tree.body if isinstance(node, ast.ClassDef) and _is_cell(node)]
    is_made_here = any(isinstance(node, ast.Call) and _last(node.func) in CONTAINERS for node in ast.walk(tree))
    if not cells and not is_made_here:
        raise Refused("its network is not defined in this file, so it was not looked at")
    functions: dict[str, ast.FunctionDef] = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    methods = {
        f"{cell.name}.{method.name}": method
        for cell in cells
        for method in cell.body
        if isinstance(method, ast.FunctionDef) and not method.name.startswith("__")
    }
    imported = {
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    waiting, seen = {**methods, step.forward.name: step.forward}, set()
    while waiting:
        name, function = waiting.popitem()
        seen.add(name)
        _check(function, name)
        called = {
            node.func.id
            for node in ast.walk(function)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        if foreign := sorted(called & imported):
            raise Refused(f"{name} calls {foreign[0]}, which is defined in another file")
        waiting |= {each: functions[each] for each in called & set(functions) - seen}


def _last(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else ""


def _is_cell(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith(("nn.Cell", "Cell")) for base in node.bases)


def _check(function: ast.FunctionDef, name: str) -> None:
    found = next(_obstacles(function), "")
    if found:
        raise Refused(f"{name} has {found}, of which it is not known that ms.jit compiles it as it runs")


def _obstacles(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and not isinstance(node, STATEMENTS):
            yield f"`{type(node).__name__.lower()}`"
        elif isinstance(node, EXPRESSIONS):
            yield f"`{ast.unparse(node)[:40]}`"
        elif isinstance(node, ast.If) and any(_is_asked(part) for part in ast.walk(node.test)):
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
        case ast.Attribute(value=ast.Name(id="ms_compat"), attr=name):
            return not name.startswith(("any_", "backward", "random", "write_"))
        case ast.Attribute(attr=name):
            return name not in HOST
        case ast.Subscript() | ast.Call():
            return True
    return False


def _is_kept(node: ast.Assign | ast.AugAssign) -> bool:
    """Something that outlives the call: an attribute or an entry is set."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(each, ast.Attribute | ast.Subscript) for each in targets)
