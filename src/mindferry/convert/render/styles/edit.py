"""Edits of whole statements in generated code, and the imports that they need."""

from __future__ import annotations

import ast


class Text:
    def __init__(self, code: str, tree: ast.Module) -> None:
        self.lines = code.splitlines(keepends=True)
        self.tree = tree
        self.imports: dict[str, None] = {}
        self._spans: list[tuple[int, int, str]] = []
        self.parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}

    def of(self, node: ast.AST) -> str:
        return ast.get_source_segment("".join(self.lines), node) or ""

    def indent(self, node: ast.stmt) -> str:
        return " " * node.col_offset

    def replace(self, first: ast.stmt, last: ast.stmt, text: str) -> None:
        """Lines from the first statement to the last become `text`, indented like the first; '' removes them."""
        body = "".join(f"{self.indent(first)}{line}\n" if line else "\n" for line in text.split("\n")) if text else ""
        self._spans.append((first.lineno - 1, last.end_lineno or last.lineno, body))

    def drop_blank_before(self, node: ast.stmt) -> None:
        line = node.lineno - 2
        if line >= 0 and not self.lines[line].strip():
            self._spans.append((line, line + 1, ""))

    def need(self, statement: str) -> None:
        if statement not in {line.strip() for line in self.lines}:
            self.imports[statement] = None

    def apply(self, compat_import: str) -> str:
        if compat_import:
            self.need(compat_import)
        lines = list(self.lines)
        last = max(
            (node.end_lineno or 0 for node in self.tree.body if isinstance(node, ast.Import | ast.ImportFrom)),
            default=0,
        )
        spans = (
            [*self._spans, (last, last, "".join(f"{each}\n" for each in self.imports))] if self.imports else self._spans
        )
        for start, end, text in sorted(spans, reverse=True):
            lines[start:end] = [text]
        return "".join(lines)
