"""Modules that a package gives under an older name, by a table of names that its own `__init__.py` puts to work as it is imported."""

from __future__ import annotations

import ast
import re

OLD_NAMES = re.compile(r"deprecat|legacy|alias|backward|moved", re.IGNORECASE)
RELATIVE = re.compile(r"^([ \t]*from )(\.+)([\w.]*)", re.MULTILINE)


def tables_named(package: str, text: str) -> list[str]:
    """The modules that a package's `__init__.py` imports and that may hold such a table; the package itself comes first."""
    try:
        statements = ast.parse(text).body
    except SyntaxError:
        return []
    found = [each for each in statements if isinstance(each, ast.ImportFrom)]
    homes = [f"{package}.{each.module}" if each.level == 1 else str(each.module) for each in found]
    return [package, *dict.fromkeys(home for home in homes if OLD_NAMES.search(home))]


def moved_in(package: str, text: str) -> dict[str, str]:
    """Old name -> new name, of every dictionary in a text that has nothing else in it."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    moved: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict) and node.keys:
            pairs = [
                (_name(package, key), _name(package, value)) for key, value in zip(node.keys, node.values, strict=True)
            ]
            if all(old and new for old, new in pairs):
                moved.update(pairs)
    return moved


def with_whole_names(module: str, is_package: bool, text: str) -> str:
    """Relative imports as they are meant where the module lies: under an older name they would mean another place."""
    parts = [*module.split("."), ""] if is_package else module.split(".")

    def whole(found: re.Match[str]) -> str:
        home = parts[: len(parts) - len(found[2])]
        return found[1] + ".".join([*home, found[3]] if found[3] else home)

    return RELATIVE.sub(whole, text)


def _name(package: str, node: ast.expr | None) -> str:
    """The dotted name in the package that a text is, or ''."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(f"{package}."):
        return node.value
    return ""
