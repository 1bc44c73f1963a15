"""`image, label = dataset[0]`: converted datasets give arrays, for their workers; elsewhere torch's code goes on with tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.framework import Role
from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore
from .data_arrays import data_zones

OF_OTHERS = frozenset(("TensorDataset", "Subset", "ConcatDataset", "StackDataset"))
PLACED = frozenset(("enumerate", "zip", "tqdm", "islice"))


def plan(facts: Facts) -> Iterator[Change]:
    items: list[ast.expr] = [node for node in facts.source.of(ast.Subscript) if _is_item(facts, node)]
    items += [node for node in facts.source.of(ast.Attribute) if _is_held_tensor(facts, node)]
    walks = [each for each in _iterated(facts) if _is_dataset(facts, each)]
    zones = {part for zone in facts.derived(data_zones) for part in zone} if items or walks else set()
    walked = frozenset(walks)
    for node in (*items, *walks):
        if facts.is_within_any(node, zones):
            continue
        opening, is_walk = ("map({0}, ", True) if node in walked else ("{0}(", False)
        yield InsertBefore(node, lambda texts, opening=opening: opening.format(texts.name("compat.to_tensors")))  # type: ignore[misc]
        yield InsertAfter(node, ")")
        yield facts.record(
            node, "dataset", facts.source.text(node), "map(to_tensors, …)" if is_walk else "to_tensors(…)"
        )


def _is_item(facts: Facts, node: ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Slice) and _is_dataset(facts, node.value)


def _is_held_tensor(facts: Facts, node: ast.Attribute) -> bool:
    """`dataset.data`, where the class made a tensor of it."""
    is_read = isinstance(node.ctx, ast.Load) and facts.reading.type(node).is_tensor
    return (
        is_read
        and facts.reading.type(node.value).qual in facts.reading.symbols.classes
        and _is_dataset(facts, node.value)
    )


def _iterated(facts: Facts) -> Iterator[ast.expr]:
    """What a loop goes through, also by way of enumerate and the like."""
    loops = [loop.iter for loop in facts.source.of(ast.For)] + [
        each.iter for each in facts.source.of(ast.comprehension)
    ]
    for found in loops:
        match found:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=given) if name in PLACED:
                yield from given
            case _:
                yield found


def _is_dataset(facts: Facts, node: ast.expr) -> bool:
    """One that computes with torch's tensors or has transforms: what gives arrays in torch too stays as it is."""
    kind, symbols = facts.reading.type(node), facts.reading.symbols
    is_made_of_others = kind.qual.rpartition(".")[2] in OF_OTHERS and symbols.role(kind.qual) is Role.DATA
    if kind.kind != "instance" or not (is_made_of_others or symbols.role(kind.qual) is Role.DATASET):
        return False
    if kind.qual not in symbols.classes:
        return True
    makers = facts.derived(_classes_with_tensors)
    return any(qual in makers for qual in symbols.bases(kind.qual))


def _classes_with_tensors(facts: Facts) -> set[str]:
    """The classes of the file that make tensors, or transform what they are given."""
    classes = [(each, qual) for each, qual in facts.reading.owners.items() if isinstance(each, ast.ClassDef)]
    return {qual for each, qual in classes if any(_makes_tensors(facts, part) for part in facts.source.walk(each))}


def _makes_tensors(facts: Facts, part: ast.AST) -> bool:
    if not isinstance(part, ast.Call):
        return False
    is_transform = isinstance(part.func, ast.Attribute | ast.Name) and "transform" in facts.source.text(part.func)
    return is_transform or facts.framework.has(facts.api(part.func))
