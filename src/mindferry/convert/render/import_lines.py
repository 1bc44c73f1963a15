"""Import statements as a formatter sorts them: the standard library first, one statement a module, names in order."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable

from .fold_constants import WIDTH


def sorted_imports(statements: Iterable[str]) -> str:
    """`import a` and `from a import b` merged, sorted and spaced; relative ones last."""
    sections: dict[int, tuple[set[str], dict[str, set[str]]]] = {}
    for statement in statements:
        node = ast.parse(statement).body[0]
        assert isinstance(node, ast.Import | ast.ImportFrom)
        plain, names = sections.setdefault(_section(node), (set(), {}))
        if isinstance(node, ast.Import):
            plain.add(ast.unparse(node))
        else:
            module = "." * node.level + (node.module or "")
            names.setdefault(module, set()).update(ast.unparse(each) for each in node.names)
    return "\n\n".join("\n".join(_lines(*sections[number])) for number in sorted(sections))


def _section(node: ast.Import | ast.ImportFrom) -> int:
    if isinstance(node, ast.ImportFrom) and node.level:
        return 2
    name = node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name
    return 0 if name.partition(".")[0] in sys.stdlib_module_names else 1


def _lines(plain: set[str], names: dict[str, set[str]]) -> list[str]:
    found = sorted(plain, key=lambda line: line.split()[1].lower())
    for module in sorted(names, key=lambda each: (each.lower(), each)):
        members = sorted(names[module], key=_member)
        line = f"from {module} import {', '.join(members)}"
        if len(line) > WIDTH:
            line = f"from {module} import (\n" + "".join(f"    {each},\n" for each in members) + ")"
        found.append(line)
    return found


def _member(name: str) -> tuple[int, str, str]:
    """Constants, classes, functions, as isort orders them."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name.lower(), name
