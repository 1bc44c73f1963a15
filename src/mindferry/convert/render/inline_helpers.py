"""Helpers of one line that one other helper calls: the line stands there instead."""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Mapping

from ...read.walk import walk
from .fold_constants import WIDTH, Offsets, in_strings, parsed

SIMPLE = (ast.Name, ast.Constant, ast.Attribute)
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.Dict)
SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr, ast.Await, ast.Starred)
SHORT = 72  # columns; a longer line is worth its name


def with_inlined(texts: dict[str, str], kept: Collection[str]) -> dict[str, str]:
    """Without the helpers whose only call became their line. `kept` are called from elsewhere, or wrapped."""
    for name in [each for each in texts if each not in kept]:
        if (line := _line_of(texts[name])) is None:
            continue
        owners = [owner for owner in texts if owner != name and name in _names_in(texts[owner])]
        if len(owners) != 1 or name in _names_in(texts[name]):
            continue
        text = _with_line(texts[owners[0]], name, *line)
        if text is not None:
            texts[owners[0]] = text
            del texts[name]
    return texts


@functools.lru_cache(maxsize=4096)
def _line_of(text: str) -> tuple[tuple[str, ...], ast.expr, str] | None:
    """(arguments, value, its text) of a function that only returns a value."""
    match parsed(text).body[0]:
        case ast.FunctionDef(decorator_list=[], args=given) as node if not (
            given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or given.defaults
        ):
            body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
            match body:
                case [ast.Return(value=ast.expr() as value)] if value.lineno == value.end_lineno:
                    shown = Offsets(text).of(value)
                    is_plain = not any(isinstance(each, (*SCOPES, ast.JoinedStr)) for each in walk(value))
                    if is_plain and len(shown) <= SHORT and "#" not in text:
                        return tuple(each.arg for each in given.args), value, shown
    return None


@functools.lru_cache(maxsize=4096)
def _names_in(text: str) -> frozenset[str]:
    """Names that the text reads, and its strings: what a helper does by name is not touched."""
    found = {each.id for each in walk(parsed(text)) if type(each) is ast.Name}
    found |= {each.value for each in walk(parsed(text)) if type(each) is ast.Constant and isinstance(each.value, str)}
    return frozenset(found)


def _with_line(text: str, name: str, arguments: tuple[str, ...], value: ast.expr, shown: str) -> str | None:
    """The text with the line in place of the one call; None where it is not called once, or would not mean the same."""
    tree = parsed(text)
    used = [each for each in walk(tree) if type(each) is ast.Name and each.id == name]
    calls = [each for each in walk(tree) if type(each) is ast.Call and each.func in used]
    is_asked = any(type(each) is ast.Constant and each.value == name for each in walk(tree))
    if is_asked or len(used) != 1 or len(calls) != 1 or calls[0] in in_strings(tree):
        return None
    call, offsets = calls[0], Offsets(text)
    given = {arguments[place]: each for place, each in enumerate(call.args[: len(arguments)])}
    given |= {each.arg: each.value for each in call.keywords if each.arg}
    if set(given) != set(arguments) or not all(isinstance(each, SIMPLE) for each in given.values()):
        return None
    bound = {each.id for each in walk(tree) if type(each) is ast.Name and type(each.ctx) is not ast.Load}
    bound |= {each.arg for each in walk(tree) if type(each) is ast.arg}
    if bound & ({each.id for each in walk(value) if type(each) is ast.Name} - set(arguments)):
        return None
    line = _substituted(shown, {key: offsets.of(each) for key, each in given.items()})
    line = line if isinstance(value, ATOMS) or _stands_free(tree, call) else f"({line})"
    new = offsets.edited([(offsets.start(call), offsets.end(call), line)])
    return new if all(len(each) <= WIDTH for each in new.splitlines()) else None


def _stands_free(tree: ast.Module, call: ast.Call) -> bool:
    """Whether a value needs no parentheses in the call's place."""
    for each in walk(tree):
        match each:
            case ast.Return(value=value) | ast.Assign(value=value) | ast.Expr(value=value) if value is call:
                return True
            case ast.Call(args=args, keywords=named) if call in args or any(one.value is call for one in named):
                return True
    return False


def _substituted(shown: str, given: Mapping[str, str]) -> str:
    """The line with what the call gives."""
    offsets = Offsets(shown)
    again = ast.parse(shown, mode="eval")
    spans = [
        (offsets.start(each), offsets.end(each), given[each.id])
        for each in walk(again)
        if type(each) is ast.Name and each.id in given
    ]
    return offsets.edited(spans)
