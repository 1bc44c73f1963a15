"""`x[np.random.permutation(n)]`, `x[:, a:b]`: MindSpore takes neither numpy's arrays nor its numbers as indices of a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.types import Type
from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore
from .data_arrays import data_zones

NUMBER = Type("foreign", "numpy.generic")  # or an array


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
        kind = facts.reading.type(node.value)
        if kind.kind not in ("tensor", "ndarray") or _is_in_network(facts, node):
            continue
        if kind.is_tensor and (_is_unclear(facts, node.slice) or _is_promised_number(facts, node.slice)):
            yield from _wrap(facts, node.slice, "")
        elif (_is_unclear(facts, node.slice) or _is_of_numpy(facts, node.slice)) and _is_given_tensors(
            facts, node.value
        ):
            yield from _wrap(facts, node.slice, f", {facts.source.text(node.value)}")


def _is_promised_number(facts: Facts, node: ast.expr) -> bool:
    """`def step(self, t: int)`, where some call of the project does not tell that it gives one of Python's numbers."""
    given = _given(facts, node) if facts.reading.type(node).kind == "int" else []
    return any(kind.kind != "int" for kind in given)


def _is_given_tensors(facts: Facts, node: ast.expr) -> bool:
    """`def at(sigmas: np.ndarray)`, which some call of the project gives a tensor."""
    return any(kind.is_tensor for kind in _given(facts, node))


def _given(facts: Facts, node: ast.expr) -> list[Type]:
    """What the project's calls give for an argument with an annotation."""
    function = facts.enclosing(node, ast.FunctionDef)
    if not isinstance(node, ast.Name) or not isinstance(function, ast.FunctionDef):
        return []
    arguments = [*function.args.posonlyargs, *function.args.args]
    index = next((at for at, each in enumerate(arguments) if each.arg == node.id and each.annotation is not None), None)
    given = facts.reading.symbols.arguments.get(facts.reading.owners.get(function, ""), {})
    return [] if index is None else [kind for place in (index, node.id) for kind in given.get(place, ())]


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
    return any(_is_of_numpy(facts, each) for each in parts)


def _is_of_numpy(facts: Facts, node: ast.expr) -> bool:
    """An array, or what one of numpy's functions makes of an array: a number, or another array."""
    kind = facts.reading.type(node)
    return kind.kind == "ndarray" or kind == NUMBER


def _is_plain(node: ast.expr) -> bool:
    """It may be evaluated twice."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
