"""`image, label = dataset[0]`: converted datasets give arrays, for their workers; elsewhere torch's code goes on with tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...read.framework import Role
from ...read.guesses import looks_like_collate
from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore
from .data_arrays import data_zones

OF_OTHERS = frozenset(("TensorDataset", "Subset", "ConcatDataset", "StackDataset"))
PLACED = frozenset(("enumerate", "zip", "tqdm", "islice"))


def plan(facts: Facts) -> Iterator[Change]:
    items: list[ast.expr] = [node for node in facts.source.of(ast.Subscript) if _is_item(facts, node)]
    items += [node for node in facts.source.of(ast.Attribute) if _is_its_tensor(facts, node, node)]
    items += [
        node
        for node in facts.source.of(ast.Call)
        if isinstance(node.func, ast.Attribute)
        and not looks_like_collate(node.func.attr)  # hand_made_batches
        and _is_its_tensor(facts, node, node.func)
    ]
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
    is_part = isinstance(node.slice, ast.Slice) and not _gives_tensors_for_slices(facts, node.value)
    return isinstance(node.ctx, ast.Load) and not is_part and _is_dataset(facts, node.value)


def _gives_tensors_for_slices(facts: Facts, node: ast.expr) -> bool:
    """A TensorDataset; what a class of the project's makes of a slice is its own affair."""
    return facts.reading.symbols.torch_base(facts.reading.type(node).qual).endswith(".TensorDataset")


def _is_its_tensor(facts: Facts, node: ast.expr, member: ast.Attribute) -> bool:
    """`dataset.data`, where the class made a tensor of it, and `dataset.weights()`."""
    is_read = isinstance(member.ctx, ast.Load) and facts.reading.type(node).is_tensor
    return (
        is_read
        and facts.reading.type(member.value).qual in facts.reading.symbols.classes
        and _is_dataset(facts, member.value)
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
    return any(qual in symbols.computing for qual in symbols.bases(kind.qual))
