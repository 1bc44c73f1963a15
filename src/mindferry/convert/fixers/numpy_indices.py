"""`x[np.random.permutation(n)]`, `x[:, a:b]`: MindSpore takes neither numpy's arrays nor its numbers as indices of a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore
from .data_arrays import data_zones


def plan(facts: Facts) -> Iterator[Change]:
    yield from _round_bounds(facts)
    yield from _ask(facts)
    found = [node for node in facts.source.of(ast.Subscript) if any(_is_numpy(facts, part) for part in _parts(node))]
    zones = {part for zone in facts.derived(data_zones) for part in zone} if found else set()
    for node in found:
        kind = facts.reading.type(node.value)
        is_certain = kind.is_tensor and not facts.is_within_any(node, zones)
        if is_certain or ((kind.is_tensor or kind.kind == "unknown") and _is_plain(node.value)):
            owner = "" if is_certain else f", {facts.source.text(node.value)}"
            for part in _parts(node):
                if not isinstance(part, ast.Slice) and _is_numpy(facts, part):
                    yield from _wrap(facts, part, owner)


def _ask(facts: Facts) -> Iterator[Change]:
    """`self.alphas[t]`: where numpy is at hand, an argument may be one of its numbers. A network is called with tensors."""
    if not facts.source.mentions("numpy"):
        return
    for node in facts.source.of(ast.Subscript):
        if (
            facts.reading.type(node.value).is_tensor
            and _is_unclear(facts, node.slice)
            and not _is_in_network(facts, node)
        ):
            yield from _wrap(facts, node.slice, "")


def _is_unclear(facts: Facts, index: ast.expr) -> bool:
    """What is in a tuple or a list, such as `places = np.where(mask), 0`, is not known either."""
    kinds = ("unknown", "tuple", "list")
    return isinstance(index, ast.Name | ast.Attribute) and facts.reading.type(index).kind in kinds


def _is_in_network(facts: Facts, node: ast.AST) -> bool:
    owner = facts.enclosing(node, ast.ClassDef)
    return isinstance(owner, ast.ClassDef) and facts.reading.symbols.is_module(facts.reading.owners.get(owner, ""))


def _round_bounds(facts: Facts) -> Iterator[Change]:
    """A number of numpy's that begins or ends a slice becomes Python's, which every receiver takes."""
    for node in facts.source.of(ast.Subscript):
        kind = facts.reading.type(node.value)
        if not kind.is_tensor and kind.kind != "unknown":
            continue
        slices = [part for part in _parts(node) if isinstance(part, ast.Slice)]
        for bound in (each for part in slices for each in (part.lower, part.upper, part.step) if each is not None):
            if _is_numpy(facts, bound):
                before = facts.source.text(bound)
                yield InsertBefore(bound, "int(")
                yield InsertAfter(bound, ")")
                yield facts.record(bound, "bound of numpy's", before, f"int({before})")


def _wrap(facts: Facts, part: ast.expr, owner: str) -> Iterator[Change]:
    yield InsertBefore(part, lambda texts: f"{texts.name('compat.as_index')}(")
    yield InsertAfter(part, f"{owner})")
    yield facts.record(part, "index of numpy's", facts.source.text(part), lambda texts: texts.of(part))


def _ends(part: ast.Slice) -> list[ast.expr]:
    return [each for each in (part.lower, part.upper, part.step) if each is not None]


def _parts(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _is_numpy(facts: Facts, part: ast.expr) -> bool:
    parts = _ends(part) if isinstance(part, ast.Slice) else [part]
    return any(facts.reading.type(each).kind == "ndarray" for each in parts)


def _is_plain(node: ast.expr) -> bool:
    """It may be evaluated twice."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
