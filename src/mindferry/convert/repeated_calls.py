"""Calls of the project's own that a step makes twice with the same input: once seeds are set, a compiled step draws for both at once.

MindSpore 2.10 takes them for one, dropout and noise included: `net(x) - net(x)` is zero, and so is what R-Drop or SimCSE learn from.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable

from ..read.walk import walk_again as walk

DRAWS = re.compile(
    r"[dD]rop|rand|[bB]ernoulli|normal_?\Z|noise|multinomial|gumbel|uniform_?\Z|[rR][rR]e[lL][uU]|sample"
)
MERGED = frozenset({"bernoulli", "dropout2d", "dropout3d", "dropout1d", "alpha_dropout"})  # also of the framework's own
LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)


def first_repeated(roots: Iterable[ast.AST]) -> ast.Call | None:
    """A call that stands there twice, or in a loop that it takes nothing from."""
    seen: set[str] = set()
    for root in roots:
        for node in walk(root):
            if isinstance(node, ast.Call) and _may_draw(node):
                if (text := ast.dump(node)) in seen:
                    return node
                seen.add(text)
            elif isinstance(node, LOOPS) and (found := _taken_again(node)) is not None:
                return found
    return None


def _may_draw(call: ast.Call) -> bool:
    """`net(x)`, `self.drop(x)`: what is called like a layer, or draws."""
    match call.func:
        case ast.Name(id=name):
            return bool(call.args) and not hasattr(builtins, name)
        case ast.Attribute(value=ast.Name(id="self")):
            return bool(call.args)
        case ast.Attribute(attr=name):
            return name in MERGED
    return False


def _taken_again(loop: ast.AST) -> ast.Call | None:
    parts = [*loop.body] if isinstance(loop, ast.For | ast.While) else [loop]
    inside = [node for part in parts for node in walk(part)]
    bound = {node.id for node in walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    calls = (node for node in inside if isinstance(node, ast.Call) and _may_draw(node))
    return next((each for each in calls if not bound & _names(each)), None)


def _names(call: ast.Call) -> set[str]:
    return {node.id for node in walk(call) if isinstance(node, ast.Name)}
