"""Comments inside a statement that was written anew move above it: none is lost."""

from __future__ import annotations

import ast
import bisect
import io
import re
import tokenize
from collections import Counter

from ...read.edits import Edits

_HASH = re.compile(b"#")
_TO_LINE_END = re.compile(r"#[^\r\n]*")  # a comment, or a string from there on
IMPORTS = (ast.Import, ast.ImportFrom)


def keep_comments(edits: Edits) -> None:
    source = edits.source
    if b"#" not in source.data:
        return
    hashes = [source.position(match.start())[0] for match in _HASH.finditer(source.data)]
    for node in source.statements:
        following = bisect.bisect_left(hashes, node.lineno)
        has_none = following == len(hashes) or hashes[following] > (node.end_lineno or node.lineno)
        if isinstance(node, IMPORTS) or (has_none and not getattr(node, "decorator_list", None)):
            continue
        body = getattr(node, "body", None)
        start = source.start(node)
        if decorators := getattr(node, "decorator_list", None):
            start = min(start, *(source.start(each) for each in decorators))
        end = source.start(_first(body[0])) if body else source.end(node)
        if source.data.find(b"#", start, end) < 0:
            continue
        end = end if not body else source.line_start(end)  # comments between header and body are not within the header
        before = source.data[start:end].decode("utf-8")
        after = "" if node in edits.removed else edits.span(start, end)
        line_start = source.line_start(start)
        if before == after or source.data[line_start:start].strip(b" \t\f@"):
            continue
        if sorted(_TO_LINE_END.findall(before)) == sorted(_TO_LINE_END.findall(after)):
            continue
        left = _comments(after)
        lost = Counter(_comments(before)) - Counter(left)
        indent = source.data[line_start : source.skip_blanks(line_start)].decode("utf-8")
        edits.before(
            line_start,
            "".join(
                f"{indent}{comment}{source.newline()}" for comment in lost.elements() if not _is_within(comment, left)
            ),
        )


def _is_within(comment: str, others: list[str]) -> bool:
    """Behind code that became a comment itself."""
    return any(other.endswith(comment) and other != comment for other in others)


def _first(node: ast.stmt) -> ast.AST:
    decorators = getattr(node, "decorator_list", [])
    return decorators[0] if decorators else node


def _comments(text: str) -> list[str]:
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                found.append(token.string.rstrip())
    except (tokenize.TokenError, SyntaxError):
        pass  # a header ends where its body starts
    return found
