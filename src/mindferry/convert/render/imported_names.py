"""What an import statement binds, where that comes from, and the statement for some of its names."""

from __future__ import annotations

import ast

from ...read.infer import Reading


def bound_name(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def origin_of(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    """The dotted name of what the import binds."""
    if isinstance(node, ast.ImportFrom):
        return f"{node.module or ''}.{alias.name}".lstrip(".")
    return alias.name if alias.asname else alias.name.partition(".")[0]


def import_line(reading: Reading, node: ast.Import | ast.ImportFrom, names: list[ast.alias]) -> str:
    """The statement with these names alone, from where their modules stand from now on."""
    if isinstance(node, ast.Import):
        return f"import {', '.join(part for alias in names for part in reading.symbols.redirected_import(alias))}"
    listed = ", ".join(alias.name + (f" as {alias.asname}" if alias.asname else "") for alias in names)
    module = "." * node.level + (node.module or "")
    return f"from {reading.symbols.redirected(module)} import {listed}"
