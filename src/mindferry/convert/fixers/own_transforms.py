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

AFTER = ("data_arrays", "format_tensors", "in_place")


def plan(facts: Facts) -> Iterator[Change]:
    for call in facts.source.of(ast.Call):
        if facts.is_use(Use.COMPOSE, call.func) and call.args and isinstance(call.args[0], ast.List):
            for element in _given_tensors(facts, call.args[0]):
                yield facts.found(
                    element,
                    findings.MF130,
                    "this transform is the project's own and computes with MindSpore's operators, which must not run in worker processes",
                    "keep num_workers at 0, or write it with numpy",
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
            return any(facts.api(part.func).startswith("torch.") for part in calls)
    return False


def _given_tensors(facts: Facts, elements: ast.List) -> Iterator[ast.expr]:
    """What stands behind a transform that makes tensors, and is none of torchvision's that know arrays."""
    are_tensors = False
    for element in elements.elts:
        api = facts.api(element.func) if isinstance(element, ast.Call) else facts.api(element)
        is_known = facts.uses.of(api, (Use.VISION, Use.ANY_FUNCTION)) is Use.VISION
        if are_tensors and not is_known and not isinstance(element, ast.Starred):
            yield element
        are_tensors = are_tensors or facts.uses.has(Use.MAKES_TENSOR, api)


def _wrap(facts: Facts, element: ast.expr, texts: Texts) -> Iterator[Edit]:
    before = texts.of(element)
    yield InsertBefore(facts.source.start(element), f"{texts.name('compat.on_tensors')}(")
    yield InsertAfter(facts.source.end(element), ")")
    yield facts.record(element, facts.uses.name(Use.COMPOSE), before, texts.of(element))
