"""Where parameters are given gradients again: an optimizer that was made before has to know them too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .guesses import looks_like_network, looks_like_parameter, name_of
from .source import Source

if TYPE_CHECKING:
    from .infer import Reading

Thaw = tuple[str, int, int]  # module, line of the function around (0: none), line


def thawing_places(reading: Reading, module: str) -> Iterator[Thaw]:
    """`p.requires_grad = True`, `net.body.requires_grad_(flag)`; not `x.requires_grad_()` of an input."""
    source = reading.source
    for node in source.members.get("requires_grad", ()):
        statement = source.parents.get(node)
        is_set = isinstance(statement, ast.Assign) and node in statement.targets and not _is_false(statement.value)
        if is_set and _may_be_parameter(reading, node.value):
            yield module, _line_of_function(source, node), node.lineno
    for node in source.members.get("requires_grad_", ()):
        call = source.parents.get(node)
        given = [*call.args, *(each.value for each in call.keywords)] if isinstance(call, ast.Call) else []
        if not any(map(_is_false, given)) and _may_be_parameter(reading, node.value):
            yield module, _line_of_function(source, node), node.lineno


def may_thaw_behind(thaws: set[Thaw], source: Source, module: str, node: ast.expr) -> bool:
    """Whether any of them may run once what stands here has: those above it, in the same lines of the same function, have run."""
    around, loop = _line_of_function(source, node), _line_of_loop(source, node)
    return any(
        (home, function) != (module, around) or line >= node.lineno or (loop and line >= loop)
        for home, function, line in thaws
    )


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def _may_be_parameter(reading: Reading, owner: ast.expr) -> bool:
    """Or a network: what a loop goes through, `net.fc.weight`, and what is, or is called like, a network or a parameter."""
    if reading.symbols.is_module(reading.type(owner).qual):
        return True
    name = name_of(owner)
    if isinstance(owner, ast.Name) and _is_gone_through(reading.source, owner.id):
        return True
    if name in ("weight", "bias"):
        return True
    return reading.type(owner).kind == "unknown" and (looks_like_network(name) or looks_like_parameter(name))


def _is_gone_through(source: Source, name: str) -> bool:
    """`for p in net.parameters()`, `for name, p in …`."""
    for node in source.named.get(name, ()):
        target: ast.expr = node
        parent = source.parents.get(node)
        while isinstance(parent, ast.Tuple):
            target, parent = parent, source.parents.get(parent)
        if isinstance(parent, ast.For | ast.comprehension) and parent.target is target:
            return True
    return False


def _line_of_function(source: Source, node: ast.AST) -> int:
    return next((each.lineno for each in _above(source, node) if isinstance(each, ast.FunctionDef)), 0)


def _line_of_loop(source: Source, node: ast.AST) -> int:
    """Of the outermost one around it, in its function."""
    found = 0
    for each in _above(source, node):
        if isinstance(each, ast.FunctionDef):
            break
        if isinstance(each, ast.For | ast.While):
            found = each.lineno
    return found


def _above(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    parent = source.parents.get(node)
    while parent is not None:
        yield parent
        parent = source.parents.get(parent)
