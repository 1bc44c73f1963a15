"""What a project does with containers of layers that a plain list of cells does not take: slices, `insert`, `pop`, sums."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from .types import MODULE, UNKNOWN

if TYPE_CHECKING:
    from .infer import Reading
    from .source import Source

OF_LISTS = frozenset({"append", "extend", "insert", "pop"})  # `append` where its result is used
SLICED, ADDED = "[:]", "+"


class ContainerUse(NamedTuple):
    kind: str  # the class of the framework's
    use: str  # what is done with it
    module: str  # where
    attribute: str  # of `model.features[:4]`, its name
    owner: str  # and the class of the model, where that is known


def container_uses(reading: Reading, module: str) -> Iterator[ContainerUse]:
    held: dict[str, set[str]] = {}
    for node, use in _uses(reading.source):
        name, owner = "", UNKNOWN
        if isinstance(node, ast.Attribute):
            name, owner = node.attr, reading.type(node.value)
        home = owner.qual if owner.kind == "instance" and owner != MODULE else ""
        yield from (ContainerUse(kind, use, module, name, home) for kind in _classes(reading, node, held))


def _uses(source: Source) -> Iterator[tuple[ast.expr, str]]:
    for sliced in source.of(ast.Subscript):
        if isinstance(sliced.slice, ast.Slice):
            yield sliced.value, SLICED
    for call in source.of(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in OF_LISTS:
            is_dropped = isinstance(source.parents.get(call), ast.Expr)
            if not (call.func.attr == "append" and is_dropped):
                yield call.func.value, call.func.attr
    sums = [(each.left, each.op) for each in source.of(ast.BinOp)]
    sums += [(each.target, each.op) for each in source.of(ast.AugAssign)]
    yield from ((operand, ADDED) for operand, operator in sums if isinstance(operator, ast.Add))


def _classes(reading: Reading, node: ast.expr, held: dict[str, set[str]]) -> Iterable[str]:
    """Of the value, or of what the project's classes have under that name: `model.features[:4]` of an argument."""
    kind, symbols = reading.type(node), reading.symbols
    is_some_network = kind == MODULE
    if kind.kind == "instance" and not is_some_network:
        return [symbols.torch_base(kind.qual)]
    if isinstance(node, ast.Attribute) and (is_some_network or kind.kind == "unknown"):
        if node.attr not in held:
            known = (each.attributes.get(node.attr, UNKNOWN) for each in symbols.classes.values())
            held[node.attr] = {symbols.torch_base(each.qual) for each in known if each.kind == "instance"}
        return held[node.attr]
    if is_some_network and isinstance(reading.source.parents.get(node), ast.Attribute):
        return symbols.framework.lists_of_networks  # `fill(nn.Sequential(…)).insert(…)`: no other network has it
    return ()
