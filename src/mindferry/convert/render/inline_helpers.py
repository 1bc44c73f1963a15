"""Helpers of one line that one other helper calls, or that only say a name: the line stands there instead."""

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
        is_short = not line[0] and isinstance(line[1], SIMPLE)  # `np.random` needs no other name
        if not owners or (len(owners) != 1 and not is_short) or name in _names_in(texts[name]):
            continue
        new = {owner: _with_line(texts[owner], name, *line) for owner in owners}
        found = {owner: text for owner, text in new.items() if text is not None}
        if len(found) == len(owners):
            texts.update(found)
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
    """The text with the line in place of the calls; None where a call is not the only one, or it would not mean the same."""
    tree = parsed(text)
    used = [each for each in walk(tree) if type(each) is ast.Name and each.id == name]
    calls = [each for each in walk(tree) if type(each) is ast.Call and each.func in used]
    is_asked = any(type(each) is ast.Constant and each.value == name for each in walk(tree))
    is_once = len(used) == 1 or not arguments
    if is_asked or not is_once or len(calls) != len(used) or any(call in in_strings(tree) for call in calls):
        return None
    bound = {each.id for each in walk(tree) if type(each) is ast.Name and type(each.ctx) is not ast.Load}
    bound |= {each.arg for each in walk(tree) if type(each) is ast.arg}
    if bound & ({each.id for each in walk(value) if type(each) is ast.Name} - set(arguments)):
        return None
    offsets, spans = Offsets(text), []
    for call in calls:
        given = {arguments[place]: each for place, each in enumerate(call.args[: len(arguments)])}
        given |= {each.arg: each.value for each in call.keywords if each.arg}
        if set(given) != set(arguments) or not _keeps_order(value, given):
            return None
        line = _substituted(shown, {key: offsets.of(each) for key, each in given.items()})
        line = line if isinstance(value, ATOMS) or _stands_free(tree, call) else f"({line})"
        spans.append((offsets.start(call), offsets.end(call), line))
    new = offsets.edited(spans)
    old = set(text.splitlines())
    return new if all(len(each) <= WIDTH or each in old for each in new.splitlines()) else None


def _keeps_order(value: ast.expr, given: Mapping[str, ast.expr]) -> bool:
    """Whether what is given is computed once and before the line itself does anything."""
    if all(isinstance(each, SIMPLE) for each in given.values()):
        return True
    asked = [each.id for each in walk(value) if type(each) is ast.Name and each.id in given]
    is_plain_call = isinstance(value, ast.Call) and all(
        isinstance(each, SIMPLE) for each in (value.func, *value.args, *(one.value for one in value.keywords))
    )
    return is_plain_call and len(given) == 1 and len(asked) == 1


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
