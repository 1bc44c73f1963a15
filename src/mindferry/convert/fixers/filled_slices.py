"""`mask[h[0]:h[1], w[0]:w[1]] = count`: MindSpore fails where such a slice is empty, so a region of computed bounds is filled by a mask."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ..facts import Facts
from ..plan import AtNode, Change, Edit, InsertAfter, ReplaceSpan, Texts
from .bindings import Names


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Assign):
        match node:
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name() as owner, slice=ast.Tuple(elts=parts))], value=value
            ) if (
                _is_computed(parts)
                and facts.reading.type(owner).is_tensor
                and facts.reading.type(value).kind in ("int", "float")
            ):
                if facts.derived(Names).binding(owner).how == "fresh":  # nobody else sees that the name is bound anew
                    yield AtNode(node, partial(_rewrite, facts, node, owner, parts))


def _is_computed(parts: list[ast.expr]) -> bool:
    slices = [part for part in parts if isinstance(part, ast.Slice) and part.step is None]
    bounds = [bound for part in slices for bound in (part.lower, part.upper) if bound is not None]
    return len(slices) == len(parts) and any(not isinstance(bound, ast.Constant | ast.UnaryOp) for bound in bounds)


def _rewrite(facts: Facts, node: ast.Assign, owner: ast.Name, parts: list[ast.expr], texts: Texts) -> Iterator[Edit]:
    source, before = facts.source, facts.source.text(node)
    bounds = []
    for part in parts:
        assert isinstance(part, ast.Slice)
        bounds.append(
            f"({', '.join(texts.of(each) if each is not None else 'None' for each in (part.lower, part.upper))})"
        )
    opening = f"{owner.id} = {texts.name('compat.fill_slices')}({owner.id}, ({', '.join(bounds)}), "
    yield ReplaceSpan(source.start(node), source.value_start(node), opening)
    yield InsertAfter(node, ")")
    yield facts.record(node, "filled slice", before, texts.of(node))
