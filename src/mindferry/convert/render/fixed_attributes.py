"""Attributes that a helper sets once, to a constant, are that constant, and those that nothing reads are not set."""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...read.walk import walk
from .fold_constants import NOTHING, WIDTH, Offsets, constant, in_strings, parsed
from .helper_use import ProjectUse

# mindferry's own watched runs replay other workers' batches through a loader's settings, and read an optimizer's groups.
WATCHED = {"dataset", "source", "collate_fn", "param_groups", "parameters", "add_param_group", "state", "defaults"}


def is_class(text: str) -> bool:
    return isinstance(parsed(text).body[0], ast.ClassDef)


def with_fixed_attributes(texts: dict[str, str], use: ProjectUse) -> dict[str, str]:
    """`self.x` that is set once, to a constant, is that constant; what is set and never read is not set."""
    found = {name: _attributes_in(text) for name, text in texts.items()}
    loads = _added(each.loads for each in found.values())
    outside = _added(each.stores for each in found.values())
    related = _related(texts)
    for name, text in texts.items():
        node = parsed(text).body[0]
        if not isinstance(node, ast.ClassDef):
            continue
        start = next(
            (each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None
        )
        if start is None:
            continue
        family = _family(name, related)
        stores = outside + _added(found[each].own_stores for each in family)
        for statement in start.body:
            new = _fixed_attribute(text, node, statement, loads, stores, use, len(start.body) == 1)
            if new != text:
                texts[name] = new
                break  # the others in the next round
    return texts


def _added(counts: Iterable[Counter[str]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return total


def _related(texts: Mapping[str, str]) -> dict[str, set[str]]:
    """By class, those that it derives from, and those that derive from it."""
    found: dict[str, set[str]] = {}
    for name, text in texts.items():
        for base in _bases(text) & texts.keys() if is_class(text) else ():
            found.setdefault(name, set()).add(base)
            found.setdefault(base, set()).add(name)
    return found


def _family(name: str, related: Mapping[str, set[str]]) -> set[str]:
    """The class, those that it derives from, and those that derive from it or from these: all may set the same attribute."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += related.get(each, ())
    return found


@functools.lru_cache(maxsize=4096)
def _bases(text: str) -> frozenset[str]:
    node = parsed(text).body[0]
    assert isinstance(node, ast.ClassDef)
    return frozenset(each.id for each in node.bases if isinstance(each, ast.Name))


@dataclass(frozen=True, slots=True)
class Attributes:
    """How often a helper reads and sets each attribute; one that it may reach by a string counts as both."""

    loads: Counter[str]
    own_stores: Counter[str]  # self.x = ...
    stores: Counter[str]  # of anything else


@functools.lru_cache(maxsize=4096)
def _attributes_in(text: str) -> Attributes:
    found = Attributes(Counter(), Counter(), Counter())
    is_by_name = any(word in text for word in ("setattr", "__dict__", "vars(", "insert_"))
    for node in walk(parsed(text)):
        match node:
            case ast.AugAssign(target=ast.Attribute(attr=attribute)):
                found.loads[attribute] += 1
            case ast.Attribute(ctx=ast.Load(), attr=attribute):
                found.loads[attribute] += 1
            case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
                found.own_stores[attribute] += 1
            case ast.Attribute(attr=attribute):
                found.stores[attribute] += 1
            case ast.Constant(value=str(attribute)):
                found.loads[attribute] += 2
                found.stores[attribute] += 2 * is_by_name
            case ast.Call(func=ast.Name(id="register_buffer"), args=[_, ast.Constant(value=str(attribute)), *_]):
                found.stores[attribute] += 1
    return found


def _fixed_attribute(
    text: str,
    owner: ast.ClassDef,
    statement: ast.stmt,
    loads: Mapping[str, int],
    stores: Mapping[str, int],
    use: ProjectUse,
    is_alone: bool,
) -> str:
    pairs = _assigned(statement)
    offsets = Offsets(text)
    for attribute, value in pairs:
        if stores.get(attribute, 0) != 1 or attribute in use.stored or attribute in WATCHED:
            continue
        if constant(value) is not NOTHING and loads.get(attribute, 0):
            shown = in_strings(owner)
            spans = [
                (offsets.start(node), offsets.end(node), offsets.of(value))
                for node in walk(owner)
                if isinstance(node, ast.Attribute)
                and isinstance(node.ctx, ast.Load)
                and node.attr == attribute
                and node not in shown
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
            ]
            if spans:
                return offsets.edited(spans)
    if use.is_library:
        return text
    unread = {
        attribute
        for attribute, value in pairs
        if not loads.get(attribute, 0)
        and attribute not in use.mentioned | WATCHED
        and (isinstance(value, ast.Name) or constant(value) is not NOTHING)
    }
    if not unread:
        return text
    kept = [(attribute, offsets.of(value)) for attribute, value in pairs if attribute not in unread]
    left, right = ", ".join(f"self.{attribute}" for attribute, _ in kept), ", ".join(value for _, value in kept)
    indent = " " * statement.col_offset
    line = f"{indent}{left} = {right}\n" if kept else f"{indent}pass\n" if is_alone else ""
    first, last = offsets.line(statement.lineno), offsets.line((statement.end_lineno or 0) + 1)
    if "#" in offsets.data[first:last].decode():
        return text
    return offsets.edited([(first, last, line)]) if len(line) <= WIDTH else text


def _assigned(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    """`self.a = x` and `self.a, self.b = x, y`, as pairs."""
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=attribute)], value=value):
            return [(attribute, value)]
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            names = [
                each.attr
                for each in targets
                if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == "self"
            ]
            return list(zip(names, values, strict=True)) if len(names) == len(targets) else []
    return []
