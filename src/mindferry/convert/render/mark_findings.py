"""A `# mindferry:` comment above each statement that was left unconverted."""

from __future__ import annotations

import ast
import bisect

from ... import findings
from ...artifacts import Finding
from ..context import Context


def mark_findings(context: Context) -> None:
    statements: dict[int, list[Finding]] = {}
    for finding in context.findings:
        is_left = finding.code != findings.MF141  # that one was converted, and means something else now
        if finding.severity == "error" and finding.code.startswith("MF1") and is_left:
            statements.setdefault(finding.line, []).append(finding)
    if not statements:
        return
    starts: dict[int, ast.stmt] = {}
    lines = sorted(statements)
    for node in context.source.statements:
        following = bisect.bisect_left(lines, node.lineno)
        is_past = following == len(lines) or lines[following] > (node.end_lineno or node.lineno)
        if is_past and not getattr(node, "decorator_list", None):
            continue
        first, last = _first_line(node), _header_end(node)
        for line in lines[bisect.bisect_left(lines, first) : bisect.bisect_right(lines, last)]:
            starts[line] = node if line not in starts or node.lineno >= starts[line].lineno else starts[line]
    marked: dict[ast.stmt, list[Finding]] = {}
    for line, found in statements.items():
        if line in starts:
            marked.setdefault(starts[line], []).extend(found)
    for node, found in marked.items():
        _mark(context, node, found)


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)]) if decorators else node.lineno


def _header_end(node: ast.stmt) -> int:
    body = getattr(node, "body", None)
    if not isinstance(body, list) or not body:
        return node.end_lineno or node.lineno
    return max(_first_line(body[0]) - 1, node.lineno)


def _mark(context: Context, node: ast.stmt, found: list[Finding]) -> None:
    source = context.source
    first = min([node, *getattr(node, "decorator_list", [])], key=source.start)
    start = source.start(first)
    line_start = source.line_start(start)
    indent = (
        source.data[line_start:start].decode("utf-8").replace("@", "") if first is not node else source.indent(node)
    )
    if indent.strip():  # not the first statement on its line
        return
    if (
        isinstance(node, ast.If)
        and isinstance(context.parents.get(node), ast.If)
        and source.data.startswith(b"elif", start)
    ):
        return
    previous = source.data[source.line_start(max(line_start - 1, 0)) : line_start].strip() if line_start else b""
    if previous.startswith(b"# mindferry:"):
        return
    text = "; ".join(
        dict.fromkeys(f.message + (f" ({f.advice})" if f.advice and f.code != findings.MF100 else "") for f in found)
    )
    reach = (
        source.end(node) + 1 if isinstance(node, ast.Import | ast.ImportFrom) else -1
    )  # it stays with what becomes of it
    context.edits.before(line_start, f"{indent}# mindferry: {' '.join(text.split())}{source.newline()}", reach)
