"""What the converted files of a project use of the helpers: every call with its arguments, and every attribute that is named."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .folded import NOTHING, constant

UNKNOWN = "?"


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
        _add_names(tree, use.mentioned, use.stored)
        _add_project_calls(tree, _bound_to(tree, module), use)
    return use


def _bound_to(tree: ast.Module, module: str) -> set[str]:
    found = {module}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname for alias in node.names if alias.asname and alias.name.endswith(module)}
    return found


def _add_project_calls(tree: ast.Module, bound: set[str], use: ProjectUse) -> None:
    called = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _helper(node.func, bound):
            called.add(node.func)
            use.calls.setdefault(_helper(node.func, bound), []).append(shape_of(node, ""))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").endswith(tuple(bound)):
            use.values |= {alias.name for alias in node.names}
    use.values |= {_helper(node, bound) for node in ast.walk(tree) if node not in called and _helper(node, bound)}


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


def _add_names(tree: ast.AST, mentioned: set[str], stored: set[str]) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            (mentioned if isinstance(node.ctx, ast.Load) else stored).add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            mentioned.add(node.value)
            stored.add(node.value)
        elif isinstance(node, ast.keyword) and node.arg:
            stored.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            mentioned.add(node.name)  # a class of the project's may override it
