"""The part of a project's text that making and calling a network may run, found by names alone: nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .literals import walked

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
NAMED = Definition | ast.Assign | ast.AnnAssign
UNASKED = "__main__", "TYPE_CHECKING"  # what a file does only as a script, or for a type checker


@dataclass(frozen=True, slots=True)
class Piece:
    """A statement at the top of a file."""

    file: str
    node: ast.stmt


def reached(texts: Mapping[str, str], roots: Iterable[str]) -> list[Piece]:
    """Definitions and values that `roots` name, and those that they name in turn; of their files also what importing them does."""
    named: dict[str, list[Piece]] = {}
    loose: list[Piece] = []
    for piece in _pieces(texts):
        names = _defined(piece.node)
        for name in names:
            named.setdefault(name, []).append(piece)
        if not names:
            loose.append(piece)
    found, left = dict[int, Piece](), list(roots)
    seen = set(left)
    while left:
        for piece in named.get(left.pop(), ()):
            if id(piece.node) not in found:
                found[id(piece.node)] = piece
                fresh = _mentioned(piece.node) - seen
                seen |= fresh
                left += fresh
    files = _with_imports({piece.file for piece in found.values()}, texts)
    return [*found.values(), *(piece for piece in loose if piece.file in files)]


def _with_imports(files: set[str], texts: Mapping[str, str]) -> set[str]:
    """Also the project's files that these import, in turn, and the packages that they lie in: all of that runs."""
    named: dict[str, set[str]] = {}  # by every name that may import it
    for file in texts:
        parts = file.removesuffix(".py").removesuffix("/__init__").split("/")
        for start in range(len(parts)):
            named.setdefault(".".join(parts[start:]), set()).add(file)
    left = list(files)
    while left:
        fresh = {file for name in _imported(texts[left.pop()]) for file in named.get(name, ())} - files
        files |= fresh
        left += fresh
    return files


def _imported(text: str) -> set[str]:
    found = set[str]()
    for node in walked(tree) if (tree := _tree(text)) is not None else ():
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            home = node.module or ""
            found |= {home, *(f"{home}.{each.name}".lstrip(".") for each in node.names)}
    return found | {name.rpartition(".")[0] for name in found} - {""}


def _pieces(texts: Mapping[str, str]) -> Iterator[Piece]:
    for file, text in texts.items():
        tree = _tree(text)
        yield from (Piece(file, node) for node in tree.body if not _is_unasked(node)) if tree is not None else ()


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _is_unasked(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    return isinstance(node, ast.If) and any(word in ast.unparse(node.test) for word in UNASKED)


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, Definition):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    names = [each for target in targets for each in _unpacked(target)]
    return [each.id for each in names if isinstance(each, ast.Name)] if _are_names(names) else []


def _unpacked(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def _are_names(targets: list[ast.expr]) -> bool:
    return all(isinstance(each, ast.Name) for each in targets)


def _mentioned(node: ast.AST) -> set[str]:
    names = {each.id for each in walked(node) if isinstance(each, ast.Name)}
    return names | {each.attr for each in walked(node) if isinstance(each, ast.Attribute)}
