"""Where a call stands in its file: what a rule can't tell from the call alone."""

import ast

from ....read.infer import Reading
from ..._call import Call


def parent_of(call: Call) -> ast.AST | None:
    """The node that the call is part of."""
    return call.reading.source.parents.get(call.node)


def slices_a(call: Call, api: str) -> bool:
    """Whether the file slices something that is an `api`, such as `self.blocks[1:]`."""
    return api in call.reading.once(_sliced)


def _sliced(reading: Reading) -> set[str]:
    kinds = (reading.type(node.value) for node in reading.source.of(ast.Subscript) if isinstance(node.slice, ast.Slice))
    return {reading.symbols.torch_base(kind.qual) for kind in kinds if kind.kind == "instance"}
