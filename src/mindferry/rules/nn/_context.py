"""Where a call stands in its file: what a rule can't tell from the call alone."""

import ast
import functools

from .._call import Call


@functools.lru_cache(maxsize=16)
def _parents(tree: ast.Module) -> dict[ast.AST, ast.AST]:
    return {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}


def parent_of(call: Call) -> ast.AST | None:
    """The node that the call is part of."""
    return _parents(call.reading.source.tree).get(call.node)


def slices_a(call: Call, api: str) -> bool:
    """Whether the file slices something that is an `api`, such as `self.blocks[1:]`."""
    reading = call.reading
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Slice)
        and reading.type(node.value).kind == "instance"
        and reading.symbols.torch_base(reading.type(node.value).qual) == api
        for node in _parents(reading.source.tree)
    )
