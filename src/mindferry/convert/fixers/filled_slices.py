"""`mask[h[0]:h[1], w[0]:w[1]] = count`: MindSpore fails where such a slice is empty, so a region of computed bounds is filled by a mask."""

from __future__ import annotations

import ast
from functools import partial

from ..context import Context
from .bindings import Names


def prepare(context: Context) -> None:
    names: Names | None = None
    for node in context.source.of(ast.Assign):
        match node:
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name() as owner, slice=ast.Tuple(elts=parts))], value=value
            ) if (
                _is_computed(parts)
                and context.reading.type(owner).is_tensor
                and context.reading.type(value).kind in ("int", "float")
            ):
                names = names or Names(context)
                if names.binding(owner).how == "fresh":  # nobody else sees that the name is bound anew
                    context.turns[node] = partial(_rewrite, context, node, owner, parts)


def _is_computed(parts: list[ast.expr]) -> bool:
    slices = [part for part in parts if isinstance(part, ast.Slice) and part.step is None]
    bounds = [bound for part in slices for bound in (part.lower, part.upper) if bound is not None]
    return len(slices) == len(parts) and any(not isinstance(bound, ast.Constant | ast.UnaryOp) for bound in bounds)


def _rewrite(context: Context, node: ast.Assign, owner: ast.Name, parts: list[ast.expr]) -> None:
    source, edits, before = context.source, context.edits, context.source.text(node)
    bounds = []
    for part in parts:
        assert isinstance(part, ast.Slice)
        bounds.append(
            f"({', '.join(edits.text(each) if each is not None else 'None' for each in (part.lower, part.upper))})"
        )
    opening = f"{owner.id} = {context.imports.spell('compat.fill_slices')}({owner.id}, ({', '.join(bounds)}), "
    edits.replace(source.start(node), source.start(node.value), opening)
    edits.after(source.end(node.value), ")")
    context.rewritten(node, "filled slice", before, edits.text(node))


def finish(context: Context) -> None:
    pass
