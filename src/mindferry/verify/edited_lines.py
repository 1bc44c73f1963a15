"""Statements of an edited conversion that differ from what `mindferry convert` writes, in more than the way to compute a value."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

from .literals import SIZES, walked
from .reached_code import Piece

SIMPLE = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Expr | ast.Delete
SHAPING = set(
    "reshape view broadcast_to expand tile repeat zeros ones full rand randn arange linspace split narrow".split()
)
FEW = {-2, -1, 0, 1, 2, 3, 4}  # axes, which values show


def edited_lines(theirs: Iterable[Piece], ours: Iterable[Piece]) -> Iterator[tuple[Piece, int, str]]:
    """(where, line, what it does) of each changed statement that holds another number or word, does without a name, or acts."""
    was, now = _functions(theirs), _functions(ours)
    for name, (piece, function) in now.items():
        if name not in was:
            continue
        before, after = _statements(was[name][1]), _statements(function)
        old, fresh = {text for text, _ in before}, {text for text, _ in after}
        gone = [each for text, each in before if text not in fresh]
        lost = Counter(leaf for each in gone for leaf in _names(each, was[name][1]))
        constants = {leaf for _, each in before for leaf in _constants(each)}
        for text, each in after:
            if text in old:
                continue
            new = [leaf for leaf in _constants(each) if leaf not in constants]
            small = list(Counter(_small(each)) - Counter(leaf for one in gone for leaf in _small(one)))
            kept = lost - Counter(_names(each, function))
            sizes = _sizes(each) - max((_sizes(one) for one in gone), default=0)
            if new:
                yield piece, each.lineno, f"it was edited, and holds {', '.join(new)} (`{_short(each)}`)"
            elif small and kept:
                yield (
                    piece,
                    each.lineno,
                    f"it was edited, and holds {small[0]} instead of {next(iter(kept))} (`{_short(each)}`)",
                )
            elif sizes > 0:
                yield piece, each.lineno, f"it was edited, and computes with a size (`{_short(each)}`)"
            elif isinstance(each, ast.Expr):
                yield piece, each.lineno, f"it was added by hand (`{_short(each)}`)"


def _functions(pieces: Iterable[Piece]) -> dict[str, tuple[Piece, ast.FunctionDef]]:
    found: dict[str, tuple[Piece, ast.FunctionDef]] = {}
    for piece in pieces:
        top = piece.node
        if isinstance(top, ast.FunctionDef):
            found[top.name] = piece, top
        elif isinstance(top, ast.ClassDef):
            for each in top.body:
                if isinstance(each, ast.FunctionDef):
                    found[f"{top.name}.{each.name}"] = piece, each
    return found


def _statements(function: ast.FunctionDef) -> list[tuple[str, ast.stmt]]:
    """The simple ones, and what the others ask or go through, as a value of its own."""
    found: list[ast.stmt] = []
    for node in walked(function):
        if isinstance(node, ast.If | ast.While):
            found.append(ast.copy_location(ast.Return(node.test), node.test))
        elif isinstance(node, ast.For):
            found.append(ast.copy_location(ast.Return(node.iter), node.iter))
        elif isinstance(node, SIMPLE) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            found.append(node)
    return [(ast.dump(node), node) for node in found]


def _constants(statement: ast.stmt) -> Iterator[str]:
    """Numbers that are no axes, and words; truth values with what they are given as."""
    named = {id(each.value): each.arg for each in walked(statement) if isinstance(each, ast.keyword)}
    for node in walked(statement):
        if isinstance(node, ast.Constant) and not (type(node.value) is int and node.value in FEW):
            yield f"{named[id(node)]}={node.value!r}" if id(node) in named else repr(node.value)


def _small(statement: ast.stmt) -> Iterator[str]:
    for node in walked(statement):
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value in FEW:
            yield repr(node.value)


def _sizes(statement: ast.stmt) -> int:
    """How often it reads a size, other than to shape something."""
    shaping = [each for each in walked(statement) if isinstance(each, ast.Call) and _called(each) in SHAPING]
    inside = {id(each) for call in shaping for given in (*call.args, *call.keywords) for each in walked(given)}
    return sum(_is_size(each) and id(each) not in inside for each in walked(statement))


def _is_size(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in (*SIZES, "ndim")
    return isinstance(node, ast.Name) and node.id == "len"


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _names(statement: ast.stmt, function: ast.FunctionDef) -> list[str]:
    """Arguments and attributes of the network that it reads."""
    given = {each.arg for each in walked(function.args) if isinstance(each, ast.arg)} - {"self"}
    names = [each.id for each in walked(statement) if isinstance(each, ast.Name) and each.id in given]
    owned = [each for each in walked(statement) if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load)]
    return names + [
        f"self.{each.attr}" for each in owned if isinstance(each.value, ast.Name) and each.value.id == "self"
    ]


def _short(node: ast.stmt) -> str:
    return ast.unparse(node).split("\n")[0].removeprefix("return ")[:80]
