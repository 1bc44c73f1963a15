"""Definitions of a library's module that something of ours stands in for: its text, with those in their places."""

from __future__ import annotations

import ast
import functools
from importlib.resources import files

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef
WHOLE = "Instead of the whole module"  # how the first line of a stand-in begins that replaces all of it


def with_stand_ins(module_name: str, text: str) -> str:
    """Definitions of ours take the places of theirs; those of names that they import, the place of the import."""
    ours = stand_in(module_name)
    if not ours:
        return text
    tree, their_tree = ast.parse(ours), ast.parse(text)
    if (ast.get_docstring(tree) or "").startswith(WHOLE):
        return ours
    theirs = {each.name: each for each in their_tree.body if isinstance(each, Definition)}
    imported = _imported(their_tree)
    edits: list[tuple[int, int, str]] = []
    added, imports = [], []
    replaced: dict[ast.ImportFrom, list[Definition]] = {}
    for each in tree.body:
        if isinstance(each, ast.Assign):
            added.append(_source(ours, each))
        elif isinstance(each, ast.Import | ast.ImportFrom):
            imports.append(_source(ours, each))
        elif isinstance(each, Definition):
            there = theirs.get(each.name)
            if there is None and each.name in imported:
                replaced.setdefault(imported[each.name], []).append(each)
            elif there is None and isinstance(each, Function):
                added.append(_source(ours, each))
            elif isinstance(each, ast.ClassDef) and isinstance(there, ast.ClassDef):
                edits += _methods(ours, each, there)
            elif there is not None:  # None: another version of the library, without this class
                edits.append((first_line(there), there.end_lineno or there.lineno, _source(ours, each)))
    for statement, definitions in replaced.items():
        edits.append((statement.lineno, statement.end_lineno or 0, _instead_of_import(ours, statement, definitions)))
    lines = text.split("\n")
    for first, last, new in sorted(edits, reverse=True):
        lines[first - 1 : last] = new.split("\n")
    at = _after_header(their_tree) if imports else 0
    lines[at:at] = imports
    return "\n".join([*lines, *(f"\n\n{each}" for each in added), ""])


def _imported(tree: ast.Module) -> dict[str, ast.ImportFrom]:
    """The imports outside of functions and conditions, by the names that they bind."""
    return {
        alias.asname or alias.name: each
        for each in tree.body
        if isinstance(each, ast.ImportFrom)
        for alias in each.names
    }


def _instead_of_import(ours: str, statement: ast.ImportFrom, definitions: list[Definition]) -> str:
    names = {each.name for each in definitions}
    kept = [each for each in statement.names if (each.asname or each.name) not in names]
    lines = [f"\n\n{_source(ours, each)}\n\n" for each in definitions]
    if kept:
        lines.insert(0, ast.unparse(ast.ImportFrom(statement.module, kept, statement.level)))
    return "\n".join(lines)


def _methods(ours: str, mine: ast.ClassDef, there: ast.ClassDef) -> list[tuple[int, int, str]]:
    named = {each.name: each for each in there.body if isinstance(each, Definition)}
    return [
        (first_line(named[each.name]), named[each.name].end_lineno or 0, _source(ours, each))
        for each in mine.body
        if isinstance(each, Definition) and each.name in named
    ]


def _source(text: str, node: ast.stmt) -> str:
    return "\n".join(text.split("\n")[first_line(node) - 1 : node.end_lineno])


def first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


def _after_header(tree: ast.Module) -> int:
    """The line after the docstring and the imports from __future__."""
    at = 0
    for node in tree.body:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_text and not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            break
        at = node.end_lineno or node.lineno
    return at


@functools.cache
def stand_in(module_name: str) -> str:
    """The text of what stands in for a module, or ''; for a package only if it replaces all of it."""
    *folders, last = module_name.split(".")
    ours = files("mindferry.library").joinpath("stand_ins")
    place = ours.joinpath(*folders, f"{last}.py")
    if folders and place.is_file():
        return place.read_text("utf-8")
    package = ours.joinpath(*folders, last, "__init__.py")
    text = package.read_text("utf-8") if package.is_file() else ""
    return text if text.startswith(f'"""{WHOLE}') else ""
