"""Transforms of the project's own behind ToTensor get tensors, as they do in torch: the converted pipeline hands arrays on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ... import findings
from ...read.framework import Role
from ...read.uses import Use
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, InsertAfter, InsertBefore, Texts
from .data_loaders import value_of

AFTER = ("data_arrays", "format_tensors", "in_place")


def plan(facts: Facts) -> Iterator[Change]:
    seen: set[ast.expr] = set()
    for call in facts.source.of(ast.Call):
        if facts.is_use(Use.COMPOSE, call.func) and call.args and not _is_inner(facts, call):
            for element in _given_tensors(facts, _parts(facts, call.args[0])):
                if element in seen:
                    continue
                seen.add(element)
                yield facts.found(
                    element,
                    findings.MF130,
                    "this transform is the project's own and computes with MindSpore's operators, so its dataset is read in "
                    "this process, whatever num_workers says: they must not run in worker processes",
                    "keep num_workers at 0, or write it with numpy",
                    "note",
                )
                yield AtEnd(partial(_wrap, facts, element))
        for given in _given_to_dataset(facts, call):
            yield AtEnd(partial(_wrap, facts, given))


def _given_to_dataset(facts: Facts, call: ast.Call) -> Iterator[ast.expr]:
    """`Numbers(transform=Noise(0.5))`: an object of a class of this file whose `__call__` computes with torch."""
    kind = facts.reading.type(call.func)
    if kind.kind not in ("ref", "value") or facts.reading.symbols.role(kind.qual) is not Role.DATASET:
        return
    for value in (*call.args, *(each.value for each in call.keywords)):
        made = facts.reading.type(value.func).qual if isinstance(value, ast.Call) else ""
        if made and _computes_when_called(facts, made):
            yield value


def _computes_when_called(facts: Facts, qual: str) -> bool:
    for node, owner in facts.reading.owners.items():
        if isinstance(node, ast.ClassDef) and owner == qual:
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__call__"]
            calls = [part for each in methods for part in ast.walk(each) if isinstance(part, ast.Call)]
            return any(facts.api(part.func).startswith(f"{facts.framework.name}.") for part in calls)
    return False


def _is_inner(facts: Facts, call: ast.Call) -> bool:
    """Part of another Compose([...]), with which it is looked at."""
    outer = facts.enclosing(call, ast.Call)
    return isinstance(outer, ast.Call) and facts.is_use(Use.COMPOSE, outer.func)


def _parts(facts: Facts, steps: ast.expr) -> Iterator[ast.expr]:
    """The transforms of a list, in order: as it is written, and what is added to a list that has a name."""
    match steps:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            for each in elements:
                is_inner = isinstance(each, ast.Call) and facts.is_use(Use.COMPOSE, each.func) and bool(each.args)
                yield from _parts(facts, each.args[0]) if is_inner else [each]  # type: ignore[attr-defined]
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            yield from _parts(facts, left)
            yield from _parts(facts, right)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _parts(facts, body)
            yield from _parts(facts, orelse)
        case ast.Name():
            for added in _additions(facts, steps):
                yield from _parts(facts, added)


def _additions(facts: Facts, name: ast.Name) -> Iterator[ast.expr]:
    """`steps = [...]`, `steps.append(t)`, `steps += [t]` above it, in its function or module."""
    scope = facts.enclosing(name, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree
    for node in facts.source.nodes:
        if not facts.is_within(node, scope):
            continue
        match node:
            case ast.Assign(targets=[ast.Name(id=stored)], value=value) if stored == name.id:
                yield value if not _names(value, name.id) else ast.List(elts=[], ctx=ast.Load())
            case ast.AugAssign(target=ast.Name(id=stored), value=value) if stored == name.id:
                yield value
            case ast.Call(func=ast.Attribute(attr="append", value=ast.Name(id=stored)), args=[added]) if (
                stored == name.id
            ):
                yield ast.List(elts=[added], ctx=ast.Load())
            case ast.Call(func=ast.Attribute(attr="extend", value=ast.Name(id=stored)), args=[added]) if (
                stored == name.id
            ):
                yield added


def _names(value: ast.expr, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(value))


def _given_tensors(facts: Facts, elements: Iterator[ast.expr]) -> Iterator[ast.expr]:
    """What stands behind a transform that makes tensors, and is none of torchvision's that know arrays."""
    are_tensors = False
    for element in elements:
        made = value_of(facts, element) if isinstance(element, ast.Name) else element
        api = facts.api(made.func) if isinstance(made, ast.Call) else facts.api(element)
        is_known = facts.uses.of(api, (Use.VISION, Use.ANY_FUNCTION)) is Use.VISION
        if are_tensors and not is_known and not isinstance(element, ast.Starred):
            yield element
        are_tensors = are_tensors or facts.uses.has(Use.MAKES_TENSOR, api)


def _wrap(facts: Facts, element: ast.expr, texts: Texts) -> Iterator[Edit]:
    before = texts.of(element)
    yield InsertBefore(element, f"{texts.name('compat.on_tensors')}(")
    yield InsertAfter(element, ")")
    yield facts.record(element, facts.uses.name(Use.COMPOSE), before, texts.of(element))
