"""What the converted files of a project use of the helpers: every call with its arguments, and every attribute that is named."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...read.walk import walk
from .folded import NOTHING, constant

UNKNOWN = "?"
ASKED = (
    ast.Attribute,
    ast.Constant,
    ast.Call,
    ast.keyword,
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
)


@dataclass(frozen=True, slots=True)
class CallShape:
    """What one call gives: the text of literals, UNKNOWN for anything else."""

    positions: tuple[str, ...]
    keywords: Mapping[str, str]
    is_open: bool  # *args or **kwargs
    owner: str  # the helper in which it stands; '' for the project


@dataclass(slots=True)
class ProjectUse:
    """What the converted files use of the helpers, and every attribute and short string that they mention."""

    calls: dict[str, list[CallShape]] = field(default_factory=dict)
    values: set[str] = field(default_factory=set)
    mentioned: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    is_library: bool = False


def use_of(texts: Iterable[str], module: str, is_library: bool) -> ProjectUse:
    """`module` is what the helpers are called; a text that can't be parsed mentions all of its words."""
    use = ProjectUse(is_library=is_library)
    for text in texts:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            words = set(re.findall(r"\w+", text))
            use.mentioned |= words
            use.stored |= words
            use.values |= words
            continue
        found = _by_kind(tree)
        _add_names(found, use)
        _add_project_calls(found, _bound_to(found, module), use)
    return use


Nodes = dict[type, list[Any]]


def _by_kind(tree: ast.Module) -> Nodes:
    """The nodes that are asked for, each after its parent: a project's files are walked once, not once for each question."""
    found: Nodes = {kind: [] for kind in ASKED}
    for node in walk(tree):
        kind = type(node)
        if kind in ASKED:
            found[kind].append(node)
    return found


def _bound_to(nodes: Nodes, module: str) -> set[str]:
    found = {module}
    for node in (*nodes[ast.Import], *nodes[ast.ImportFrom]):
        found |= {alias.asname for alias in node.names if alias.asname and alias.name.endswith(module)}
    return found


def _add_project_calls(nodes: Nodes, bound: set[str], use: ProjectUse) -> None:
    called = set()
    for node in nodes[ast.Call]:
        if helper := _helper(node.func, bound):
            called.add(node.func)
            use.calls.setdefault(helper, []).append(shape_of(node, ""))
    for node in nodes[ast.ImportFrom]:
        if (node.module or "").endswith(tuple(bound)):
            use.values |= {alias.name for alias in node.names}
    for node in nodes[ast.Attribute]:
        if node not in called and (helper := _helper(node, bound)):
            use.values.add(helper)


def _helper(node: ast.AST, bound: set[str]) -> str:
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in bound:
            return attribute
    return ""


def shape_of(call: ast.Call, owner: str) -> CallShape:
    return CallShape(
        tuple(literal_of(each) for each in call.args),
        {each.arg: literal_of(each.value) for each in call.keywords if each.arg},
        any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords),
        owner,
    )


def literal_of(node: ast.AST | None) -> str:
    return UNKNOWN if node is None or constant(node) is NOTHING else ast.unparse(node).replace("'", '"')


def _add_names(nodes: Nodes, use: ProjectUse) -> None:
    for node in nodes[ast.Attribute]:
        (use.mentioned if type(node.ctx) is ast.Load else use.stored).add(node.attr)
    texts = {node.value for node in nodes[ast.Constant] if isinstance(node.value, str)}
    words = {text for text in texts if text.isidentifier()}
    use.mentioned |= words
    use.stored |= words | {node.arg for node in nodes[ast.keyword] if node.arg}
    for node in (*nodes[ast.FunctionDef], *nodes[ast.AsyncFunctionDef]):
        use.mentioned.add(node.name)  # a class of the project's may override it
