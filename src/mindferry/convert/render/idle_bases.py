"""Base classes that only helpers derive from: what every heir defines itself goes, and so does a base that has nothing left."""

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
    return texts


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
