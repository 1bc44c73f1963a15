"""Base classes that only helpers derive from: what every heir defines itself goes, and so does a base that has nothing left.

A base of one heir that only sets attributes is written into the heir.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Collection

from ...read.walk import walk
from .fold_constants import Offsets, parsed


def without_idle_bases(texts: dict[str, str], kept: Collection[str]) -> dict[str, str]:
    """`kept` are named by the project, which may ask for more of them than helpers do."""
    for name in [each for each in texts if each not in kept]:
        heirs = [each for each, text in texts.items() if each != name and _first_base(text) == name]
        if not heirs or _first(texts[name]) is None or not _only_inherited(name, heirs, texts):
            continue
        shared = set.intersection(*(set(_methods(texts[each])) for each in heirs))
        called = {word for each in heirs for word in _asked_of_base(texts[each])}
        texts[name] = _without(texts[name], shared - called - {"__init__"})
        if _has_nothing(texts[name]) and called <= {"__init__"}:
            for each in heirs:
                alone = re.sub(rf"\Aclass {each}\({name}\):", f"class {each}:", texts[each])
                texts[each] = re.sub(rf"\Aclass {each}\({name}, ", f"class {each}(", alone)
            del texts[name]
        elif len(heirs) == 1 and (joined := _joined(texts[name], texts[heirs[0]])):
            texts[heirs[0]] = joined
            del texts[name]
    return {name: _without_idle_start(text) for name, text in texts.items()}


def _joined(base: str, heir: str) -> str | None:
    """The heir with what the base's __init__ does, where that is all the base has and is given under its own names."""
    node, own = parsed(base).body[0], _methods(heir).get("__init__")
    assert isinstance(node, ast.ClassDef)
    parts = [each for each in node.body if not _is_nothing(each)]
    if len(parts) != 1 or parts[0] is not _methods(base).get("__init__") or own is None or "#" in base:
        return None
    start = parts[0]
    call = own.body[0].value if isinstance(own.body[0], ast.Expr) else None
    if not isinstance(call, ast.Call) or _asked_of_base(heir) != {"__init__"} or heir.count("super()") != 1:
        return None
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "__init__" and start.args.vararg is None):
        return None
    names = [each.arg for each in start.args.args[1:]]
    given = dict(zip(names, call.args, strict=False)) | {each.arg or "": each.value for each in call.keywords}
    is_same = set(given) == set(names) and all(_is_name(value, name) for name, value in given.items())
    if not is_same or not all(isinstance(each, ast.Assign) for each in start.body) or start.args.kwonlyargs:
        return None
    lines, offsets = Offsets(base), Offsets(heir)
    body = lines.data[lines.line(start.body[0].lineno) : lines.line((start.body[-1].end_lineno or 0) + 1)].decode()
    begin, end = offsets.line(own.body[0].lineno), offsets.line((own.body[0].end_lineno or 0) + 1)
    text = offsets.edited([(begin, end, body.rstrip("\n") + "\n")])
    return re.sub(rf"\A(class \w+)\({node.name}\):", r"\1:", text)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _without_idle_start(text: str) -> str:
    """A class without an __init__ that does what the base's would do."""
    node = parsed(text).body[0]
    if not isinstance(node, ast.ClassDef) or not node.bases or len(node.body) < 2:
        return text
    start = _methods(text).get("__init__")
    match start:
        case ast.FunctionDef(
            args=ast.arguments(args=[_], vararg=None, kwarg=None, kwonlyargs=[]),
            body=[
                ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[])), args=[], keywords=[]
                    )
                )
            ],
        ) if "#" not in text and start is not node.body[0]:
            return _without(text, {"__init__"})
    return text


def _first(text: str) -> ast.ClassDef | None:
    """A class without a base, a metaclass or a decorator."""
    match parsed(text).body[0]:
        case ast.ClassDef(bases=[], keywords=[], decorator_list=[]) as node:
            return node
    return None


@functools.lru_cache(maxsize=4096)
def _first_base(text: str) -> str:
    match parsed(text).body[0]:
        case ast.ClassDef(bases=[ast.Name(id=base), *_], keywords=[], decorator_list=[]):
            return base
    return ""


def _only_inherited(name: str, heirs: Collection[str], texts: dict[str, str]) -> bool:
    """Whether the class is named nowhere but as the base of its heirs."""
    return all(_named_in(text).count(name) == (each in heirs) for each, text in texts.items() if name in text)


@functools.lru_cache(maxsize=4096)
def _named_in(text: str) -> tuple[str, ...]:
    """Names that the text reads, and its strings, by which a helper may be looked up."""
    found = [each.id for each in walk(parsed(text)) if isinstance(each, ast.Name)]
    strings = (each.value for each in walk(parsed(text)) if isinstance(each, ast.Constant))
    return (*found, *(each for each in strings if isinstance(each, str)))


def _methods(text: str) -> dict[str, ast.FunctionDef]:
    node = parsed(text).body[0]
    assert isinstance(node, ast.ClassDef)
    plain = (each for each in node.body if isinstance(each, ast.FunctionDef) and not each.decorator_list)
    return {each.name: each for each in plain}


def _asked_of_base(text: str) -> set[str]:
    """What an heir takes from super()."""
    return {
        each.attr
        for each in walk(parsed(text))
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Call) and _is_super(each.value.func)
    }


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "super"


def _without(text: str, gone: set[str]) -> str:
    """Methods go with the blank line before them."""
    node, offsets, spans = parsed(text).body[0], Offsets(text), []
    assert isinstance(node, ast.ClassDef)
    for before, each in zip([None, *node.body], node.body, strict=False):
        if isinstance(each, ast.FunctionDef) and each.name in gone and before is not None:
            spans.append((offsets.line((before.end_lineno or 0) + 1), offsets.line((each.end_lineno or 0) + 1), ""))
    return offsets.edited(spans)


def _has_nothing(text: str) -> bool:
    """A docstring, and an __init__ that is given nothing and does nothing."""
    node = parsed(text).body[0]
    assert isinstance(node, ast.ClassDef)
    return all(_is_nothing(each) for each in node.body)


def _is_nothing(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            return True
        case ast.FunctionDef(name="__init__", args=ast.arguments(args=[_], vararg=None, kwarg=None, kwonlyargs=[])):
            return all(isinstance(each, ast.Pass) for each in node.body)
    return False
