"""Every text that a finding, a place or a diagnosis may give as advice, read from mindferry's own source.

An advice is an argument: the fourth of `facts.found(…)` and `context.find(…)`, the second of `call.leave(…)`, the seventh of
`Finding(…)`, `advice=` of anything. What is handed on from somewhere else (`entry.advice`) is a text of that place.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import mindferry
from mindferry.apis import table

PACKAGE = Path(mindferry.__file__).parent
METHODS = {"found": 3, "find": 3, "leave": 1, "ask": 1}
OWNERS = {"facts", "context", "self"}  # others have methods of these names, too
FUNCTIONS = {"Finding": 6, "Place": 4, "Diagnosis": 4, "_refuse": 4, "_place": 3}
MAY_ADVISE = re.compile(r"advice|\b(?:found|find|leave|ask|Finding|Place|Diagnosis)\(")
HOLE = "…"  # what an f-string puts in


@dataclass(frozen=True, slots=True)
class Advice:
    place: str
    texts: tuple[str, ...]
    expression: str  # as it is written, where no text can be read off it


@functools.cache
def advices() -> tuple[Advice, ...]:
    for source in ("torch", "tensorflow"):
        table(source)  # before single modules of theirs are imported: a table takes what they add at their first import
    return tuple(_advices())


def _advices() -> Iterator[Advice]:
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        if "compat" in path.parts or not MAY_ADVISE.search(text):
            continue  # helpers are emitted into projects; findings are not made there
        tree = ast.parse(text)
        for scope, call in _calls(tree):
            given = _given(call)
            if given is not None:
                texts = tuple(_texts(given, scope)) or _constant(given, path)
                yield Advice(f"{path.relative_to(PACKAGE)}:{given.lineno}", texts, "" if texts else ast.unparse(given))


def _constant(given: ast.expr, path: Path) -> tuple[str, ...]:
    """The text that a module's own or imported constant holds."""
    module = importlib.import_module(".".join(("mindferry", *path.relative_to(PACKAGE).with_suffix("").parts)))
    try:
        value = eval(ast.unparse(given), dict(vars(module)))
    except (NameError, AttributeError):
        return ()
    return (value,) if isinstance(value, str) else ()


def _calls(tree: ast.Module) -> Iterator[tuple[dict[str, list[ast.expr]], ast.Call]]:
    """Each call, with what the names around it are bound to."""
    nodes = {function: list(ast.walk(function)) for function in ast.walk(tree) if isinstance(function, ast.FunctionDef)}
    inner = {id(node) for found in nodes.values() for node in found}
    shared = _bindings(each for each in ast.walk(tree) if id(each) not in inner)
    for found in nodes.values():
        calls = [node for node in found if isinstance(node, ast.Call) and _given(node) is not None]
        scope = {**shared, **_bindings(found)} if calls else {}
        yield from ((scope, node) for node in calls)
    yield from ((shared, node) for node in ast.walk(tree) if isinstance(node, ast.Call) and id(node) not in inner)


def _bindings(nodes: Iterable[ast.AST]) -> dict[str, list[ast.expr]]:
    bound: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                _bind(target, node.value, bound)
        elif (isinstance(node, ast.AnnAssign) and node.value is not None) or isinstance(node, ast.NamedExpr):
            _bind(node.target, node.value, bound)
    return bound


def _bind(target: ast.expr, value: ast.expr, bound: dict[str, list[ast.expr]]) -> None:
    if isinstance(target, ast.Name):
        bound.setdefault(target.id, []).append(value)
    elif isinstance(target, ast.Tuple):
        parts = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
        for part in parts:
            if isinstance(part, ast.Tuple) and len(part.elts) == len(target.elts):
                for each, inner in zip(target.elts, part.elts, strict=True):
                    _bind(each, inner, bound)


def _given(call: ast.Call) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == "advice":
            return keyword.value
    match call.func:
        case ast.Attribute(ast.Name(owner), ("found" | "find") as name) if owner in OWNERS:
            is_finding = len(call.args) > 1 and ast.unparse(call.args[1]).startswith("findings.")
            position = METHODS[name] if is_finding else None
        case ast.Attribute(ast.Name("call"), ("leave" | "ask") as name):
            position = METHODS[name]
        case ast.Name(name):
            position = FUNCTIONS.get(name)
        case _:
            position = None
    return call.args[position] if position is not None and len(call.args) > position else None


def _texts(node: ast.expr, scope: dict[str, list[ast.expr]], depth: int = 0) -> list[str]:
    """The texts that an expression may be; none if it can't be told."""
    match node:
        case ast.Constant(str(text)):
            return [text]
        case ast.JoinedStr(values):
            return ["".join(HOLE if isinstance(each, ast.FormattedValue) else str(each.value) for each in values)]
        case ast.IfExp(body=one, orelse=other):
            return _texts(one, scope, depth) + _texts(other, scope, depth)
        case ast.BoolOp(values=parts):
            return [text for part in parts for text in _texts(part, scope, depth)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            ends = _texts(right, scope, depth) or [HOLE]
            return [start + end for start in _texts(left, scope, depth) for end in ends]
        case ast.Dict(values=values):
            return [text for each in values for text in _texts(each, scope, depth)]
        case ast.Name(name) if name in scope and depth < 5:
            return [text for value in scope[name] for text in _texts(value, scope, depth + 1)]
    return []
