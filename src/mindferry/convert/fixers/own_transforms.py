"""Transforms of the project's own behind ToTensor get tensors, as they do in torch: the converted pipeline hands arrays on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ... import findings
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
    yield InsertBefore(element, f"{texts.name('compat.on_tensors')}(")
    yield InsertAfter(element, ")")
    yield facts.record(element, facts.uses.name(Use.COMPOSE), before, texts.of(element))
