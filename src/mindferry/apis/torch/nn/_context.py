"""Where a call stands in its file: what a rule can't tell from the call alone."""

import ast

from ..._call import Call


def parent_of(call: Call) -> ast.AST | None:
    """The node that the call is part of."""
    return call.reading.source.parents.get(call.node)


def slices_a(call: Call, api: str) -> bool:
    """Whether the file slices something that is an `api`, such as `self.blocks[1:]`."""
    reading = call.reading
    return any(
        isinstance(node.slice, ast.Slice)
        and reading.type(node.value).kind == "instance"
        and reading.symbols.torch_base(reading.type(node.value).qual) == api
        for node in reading.source.of(ast.Subscript)
    )
