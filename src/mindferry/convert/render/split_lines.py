"""Training code with several statements on a line, or a backward() behind a colon, goes one statement a line first: lifting moves whole lines."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...read.source import Source

_SAME_LINE = re.compile(rb"(?:[ \t\f]|\\\r?\n)*")
_LINE_END = re.compile(rb"\r\n|\r|\n")


def apart(source: Source, is_notebook: bool) -> tuple[Source, list[int]]:
    """(the source so written, the line that each of its lines came from); a notebook's `plot();` keeps what silences it."""
    if not (source.mentions("backward") or source.mentions("autograd")):
        return source, []
    cuts = sorted(cut for block in _blocks(source) for cut in _cuts(source, block) if cut[2] or not is_notebook)
    if not cuts:
        return source, []
    pieces: list[bytes] = []
    lines, position = [1], 0
    for start, end, text in cuts:
        pieces += [source.data[position:start], text]
        lines += _lines(source, position, start)
        lines += [source.position(end)[0]] * len(_LINE_END.findall(text))
        position = end
    lines += _lines(source, position, len(source.data))
    return Source(b"".join([*pieces, source.data[position:]]).decode("utf-8"), source.path), lines


def _lines(source: Source, start: int, end: int) -> list[int]:
    return [source.position(match.end())[0] for match in _LINE_END.finditer(source.data, start, end)]


def _blocks(source: Source) -> Iterator[list[ast.stmt]]:
    """The blocks of each function, or of the module outside of functions, that takes gradients."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    scopes = {
        _scope(source, node)
        for node in source.of(ast.Attribute)
        if node.attr in ("backward", "manual_backward", "grad")
    }
    for node in source.nodes:
        if node in scopes or (_scope(source, node) in scopes and not isinstance(node, kinds)):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    yield block


def _scope(source: Source, node: ast.AST) -> ast.AST:
    current = source.parents.get(node, node)
    while not isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
        current = source.parents[current]
    return current


def _cuts(source: Source, block: list[ast.stmt]) -> list[tuple[int, int, bytes]]:
    """Each semicolon becomes a line break, or goes where nothing follows it."""
    first, cuts = block[0], []
    indent = source.data[source.line_start(source.start(first)) : source.start(first)]
    is_inline = bool(indent.strip())
    if is_inline:
        indent = _deeper(source, first)
    line_break = source.newline().encode() + indent
    for index, statement in enumerate(block):
        semicolon = _skip(source, source.end(statement))
        if source.data[semicolon : semicolon + 1] != b";":
            continue
        following = block[index + 1] if index + 1 < len(block) else None
        has_more = following is not None and _skip(source, semicolon + 1) == source.start(following)
        cuts.append(
            (source.end(statement), source.start(following), line_break)
            if has_more and following
            else (semicolon, semicolon + 1, b"")
        )
    if is_inline and (any(text for _, _, text in cuts) or any(map(_takes_gradients, block))):
        colon = source.data.rindex(b":", 0, source.start(first))
        cuts.append((colon + 1, source.start(first), line_break))
    return cuts


def _takes_gradients(statement: ast.stmt) -> bool:
    """`loss.backward()`: where it is lifted, its block needs a line to keep."""
    return isinstance(statement, ast.Expr) and any(
        isinstance(each, ast.Attribute) and each.attr in ("backward", "manual_backward") for each in ast.walk(statement)
    )


def _deeper(source: Source, statement: ast.stmt) -> bytes:
    """The indentation of a block that stood on its header's line."""
    header = source.parents[statement]
    start = source.line_start(source.start(header if hasattr(header, "lineno") else statement))
    indent = source.data[start : source.skip_blanks(start)]
    return indent + (b"\t" if indent.endswith(b"\t") else b"    ")


def _skip(source: Source, offset: int) -> int:
    match = _SAME_LINE.match(source.data, offset)
    return match.end() if match else offset
