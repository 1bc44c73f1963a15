"""A source file as bytes with spans, and lossless edits on it: what no edit covers stays byte for byte."""

from __future__ import annotations

import ast
import bisect
import contextlib
import functools
import io
import re
import sys
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

from ..errors import MindferryError
from .fstrings import relocate

_LINE_ENDS = re.compile(rb"\r\n|\r|\n")
_TRIVIA = re.compile(rb"(?:[ \t\f\r\n]|\\\r?\n|#[^\r\n]*)*")


_OF_312 = re.compile(r"\s*(?:type\s+\w+\s*[\[=]|(?:async\s+)?def\s+\w+\s*\[|class\s+\w+\s*\[)")
INFINITIES = frozenset({"inf", "infty", "infinity", "+inf"})
_SCRIPT = re.compile(rb"^if\s+__name__\s*==", re.MULTILINE)
_SHARED = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)  # one object for many nodes
_NO_NODES = frozenset(
    {
        str,
        int,
        float,
        complex,
        bool,
        bytes,
        type(None),
        type(...),
        *(kind for base in _SHARED for kind in base.__subclasses__()),
    }
)
N = TypeVar("N", bound=ast.AST)


class Unreadable(MindferryError):
    """The file is not Python that we can read; the rest of the project goes on."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line, self.column = line, column


def _complaint(error: SyntaxError) -> str:
    is_newer = _OF_312.match(error.text or "") or (error.msg.startswith("f-string") and sys.version_info < (3, 12))
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if is_newer and sys.version_info < (3, 12):
        return f"not valid Python {here}: {error.msg}; if it is written for 3.12, run mindferry with Python 3.12"
    return f"not valid Python 3: {error.msg}"


def is_infinity(node: ast.expr) -> bool:
    """`inf`, `np.inf`, `torch.inf`, `float("inf")`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.lower() in INFINITIES
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text))]):
            return text.strip().lower() in INFINITIES
    return False


def is_script(raw: bytes) -> bool:
    """Whether a file does something when it is run: `if __name__ == "__main__":`."""
    return _SCRIPT.search(raw) is not None


class Source:
    """Decoded text as UTF-8 bytes, its syntax tree, and byte offsets for every node."""

    def __init__(self, raw: bytes | str, path: str = "<string>") -> None:
        """`raw` is a file's bytes, or text that was decoded already: a cookie in it means nothing any more."""
        self.path = path
        try:
            self.encoding = tokenize.detect_encoding(io.BytesIO(raw).readline)[0] if isinstance(raw, bytes) else "utf-8"
            text = raw.decode(self.encoding) if isinstance(raw, bytes) else raw
            self.data = text.encode("utf-8")
        except (SyntaxError, UnicodeError, LookupError, ValueError) as error:
            raise Unreadable(f"cannot decode it: {error}") from None
        if text.startswith("\ufeff"):
            raise Unreadable("it starts with two byte-order marks")
        self._starts = [0, *(match.end() for match in _LINE_ENDS.finditer(self.data))]
        try:
            self.tree = ast.parse(text, path)  # text, not bytes: those are UTF-8 now, whatever their cookie says
        except SyntaxError as error:
            raise Unreadable(_complaint(error), error.lineno or 1, error.offset or 1) from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise Unreadable(f"cannot be parsed: {error or type(error).__name__}") from None
        self.nodes: list[ast.AST] = [self.tree]  # every node, each after its parent
        self.parents: dict[ast.AST, ast.AST] = {}
        self._by_kind: dict[type, list[Any]] = {}
        self._texts: set[str] = set()  # names and strings
        self._list_nodes()

    def _list_nodes(self) -> None:
        """Walk once: passes and rules look at all nodes many times."""
        nodes, parents, texts = self.nodes, self.parents, self._texts
        for node in nodes:  # grows while it is read
            if type(node) is ast.JoinedStr:
                relocate(node, self)
            fields = node.__dict__
            for name in node._fields:
                value: Any = fields.get(name)
                kind = type(value)
                if kind is list:
                    for item in value:
                        if isinstance(item, ast.AST):
                            nodes.append(item)
                            parents[item] = node
                elif kind is str:
                    texts.add(value)
                elif kind not in _NO_NODES and isinstance(value, ast.AST):
                    nodes.append(value)
                    parents[value] = node

    def of(self, kind: type[N]) -> list[N]:
        """All nodes of one kind, each after its parent."""
        if not self._by_kind:
            for node in self.nodes:
                self._by_kind.setdefault(type(node), []).append(node)
        return self._by_kind.get(kind, [])

    @functools.cached_property
    def lines_inside_strings(self) -> frozenset[int]:
        """Lines that begin inside a multi-line string."""
        inside: set[int] = set()
        for node in (*self.of(ast.Constant), *self.of(ast.JoinedStr)):
            if node.end_lineno == node.lineno or (
                isinstance(node, ast.Constant) and not isinstance(node.value, str | bytes)
            ):
                continue
            text = io.StringIO(f"({self.text(node)}\n)")  # one string, or several that follow each other
            with contextlib.suppress(tokenize.TokenError, IndentationError):
                for token in tokenize.generate_tokens(text.readline):
                    if token.type == tokenize.STRING:
                        inside |= set(range(node.lineno + token.start[0], node.lineno + token.end[0]))
        return frozenset(inside)

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """Every name in the code, and every string that reads as one; comments and prose are no part of it."""
        return frozenset(text for text in self._texts if text.replace(".", "_").isidentifier())

    @functools.cached_property
    def _vocabulary(self) -> str:
        return "\n".join(self.names)

    def mentions(self, word: str) -> bool:
        """Whether the word is part of a name in the code."""
        return word.encode("utf-8") in self.data and word in self._vocabulary

    @functools.cached_property
    def writes_negative_infinity(self) -> bool:
        """`-inf`, `-math.inf`, `-float("inf")`, `float("-inf")`, `-1 * np.inf`, `np.NINF`."""
        if b"inf" not in self.data.lower():
            return False
        texts = (node.value for node in self.of(ast.Constant) if isinstance(node.value, str))
        return (
            "NINF" in self.names
            or any(text.strip().lower() in ("-inf", "-infinity") for text in texts)
            or any(isinstance(node.op, ast.USub) and is_infinity(node.operand) for node in self.of(ast.UnaryOp))
            or any(
                (isinstance(node.op, ast.Sub) and is_infinity(node.right))
                or (isinstance(node.op, ast.Mult) and (is_infinity(node.left) or is_infinity(node.right)))
                for node in self.of(ast.BinOp)
            )
        )

    def offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def start(self, node: ast.AST) -> int:
        return self._starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined,no-any-return]

    def end(self, node: ast.AST) -> int:
        return self._starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined,no-any-return]

    def text(self, node: ast.AST) -> str:
        return self.data[self.start(node) : self.end(node)].decode("utf-8")

    def position(self, offset: int) -> tuple[int, int]:
        """(line, column) of a byte offset; lines count from 1, columns from 0 in bytes, as in `ast`."""
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def line_start(self, offset: int) -> int:
        return self._starts[bisect.bisect_right(self._starts, offset) - 1]

    def line_end(self, offset: int) -> int:
        """The offset just after the line break that ends the line of `offset`."""
        index = bisect.bisect_right(self._starts, offset)
        return self._starts[index] if index < len(self._starts) else len(self.data)

    def indent(self, node: ast.AST) -> str:
        start = self.start(node)
        return self.data[self.line_start(start) : start].decode("utf-8")

    def skip_trivia(self, offset: int) -> int:
        """The first offset from `offset` on that is neither white space nor comment."""
        match = _TRIVIA.match(self.data, offset)
        return match.end() if match else offset

    def skip_blanks(self, offset: int) -> int:
        """The first offset from `offset` on that is not a space or tab."""
        while self.data[offset : offset + 1] in (b" ", b"\t"):
            offset += 1
        return offset

    def find_token(self, token: bytes, offset: int, limit: int) -> int:
        """Where punctuation `token` next stands between tokens, comments skipped; -1 if a limit comes first."""
        while offset < limit:
            offset = self.skip_trivia(offset)
            if offset >= limit:
                break
            if self.data.startswith(token, offset):
                return offset
            offset += 1
        return -1

    def newline(self) -> str:
        match = _LINE_ENDS.search(self.data)
        return match.group().decode() if match else "\n"


@dataclass(frozen=True, slots=True)
class Slot:
    """One argument of a call with its `name=`, stars and parentheses."""

    start: int
    end: int
    comma: int  # offset of the comma after it, or -1


def argument_slots(source: Source, call: ast.Call) -> tuple[int, list[Slot], int] | None:
    """(offset after the opening parenthesis, slots in source order, offset of the closing one)."""
    close = source.end(call) - 1
    opening = source.find_token(b"(", _after_parentheses(source, source.end(call.func), close), close + 1)
    nodes: list[ast.AST] = sorted([*call.args, *call.keywords], key=source.start)
    if opening < 0 or (
        nodes and source.start(nodes[0]) <= opening
    ):  # f(x for x in y): the generator owns the parentheses
        return None
    edges = [opening]
    for here, following in pairwise(nodes):
        comma = source.find_token(b",", source.end(here), source.start(following))
        if comma < 0:
            return None
        edges.append(comma)
    trailing = source.find_token(b",", source.end(nodes[-1]), close) if nodes else -1
    slots = []
    for index, node in enumerate(nodes):
        start = source.skip_trivia(edges[index] + 1)
        comma = edges[index + 1] if index + 1 < len(nodes) else trailing
        end = source.end(node)
        while (token := source.skip_trivia(end)) < (comma if comma >= 0 else close) and source.data[
            token : token + 1
        ] == b")":
            end = token + 1
        slots.append(Slot(start, end, comma))
    return opening + 1, slots, close


def _after_parentheses(source: Source, offset: int, limit: int) -> int:
    while (token := source.skip_trivia(offset)) < limit and source.data[token : token + 1] == b")":
        offset = token + 1
    return offset


@dataclass(slots=True)
class _Edit:
    start: int
    end: int
    text: str
    order: tuple[int, int]  # at one offset: suffixes of what ends there, then prefixes of what starts there
    owner: str = ""


class Edits:
    """Replacements and insertions by byte span. Inner nodes edit first; an outer edit may take their text and replace it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._edits: list[_Edit] = []
        self._count = 0
        self.removed: set[ast.AST] = set()  # statements that went
        self._owner, self._dropper = "", ""
        self._read: list[tuple[int, int]] = []  # what this owner has taken the text of
        self._clash: Callable[[int, str], None] | None = None

    def watch(self, dropper: str, clash: Callable[[int, str], None]) -> None:
        """Say where (line, what) one owner's edits are lost in another's. Only the dropper may leave out what it has not read."""
        self._dropper, self._clash = dropper, clash
        self.begin(dropper)

    def begin(self, owner: str) -> None:
        """From now on edits are this owner's, until another begins."""
        self._owner = owner
        self._read.clear()

    def __len__(self) -> int:
        return len(self._edits)

    def before(self, offset: int, text: str) -> None:
        """Insert as a prefix of what starts at `offset`; a later prefix belongs to an outer node and goes first."""
        self._count += 1
        self._insert(_Edit(offset, offset, text, (1, -self._count), self._owner))

    def after(self, offset: int, text: str) -> None:
        """Insert as a suffix of what ends at `offset`."""
        self._count += 1
        self._insert(_Edit(offset, offset, text, (0, self._count), self._owner))

    def _insert(self, edit: _Edit) -> None:
        """Unless what it would stand in is gone: an argument that was dropped takes along what is written in it later."""
        index = bisect.bisect_left(self._edits, edit.start, key=_start)
        covering = self._covering(edit.start, edit.end, index)
        if covering is None or covering.end == edit.start or covering.text:
            self._add(edit)

    def replace(self, start: int, end: int, text: str, swallows: bool = False, is_optional: bool = False) -> None:
        """Replace a span together with every edit inside it; what lies inside an earlier, larger replacement is gone already."""
        low, high = (
            bisect.bisect_left(self._edits, start, key=_start),
            bisect.bisect_right(self._edits, end, key=_start),
        )
        covering = self._covering(start, end, bisect.bisect_right(self._edits, start, low, key=_start))
        if covering is not None:
            if covering.owner != self._owner and not is_optional:
                self._report(start, f"what {self._owner} writes is lost in what {covering.owner} wrote")
            return
        self._count += 1
        kept = []
        for edit in self._edits[low:high]:
            if not _inside(edit, start, end):
                kept.append(edit)
            elif not swallows and not self._may_drop(edit):
                self._report(edit.start, f"what {edit.owner} wrote is lost in what {self._owner} writes")
        self._edits[low:high] = kept
        self._add(_Edit(start, end, text, (1, 0), self._owner))

    def _may_drop(self, edit: _Edit) -> bool:
        """Its own, or one whose text it has taken along."""
        return self._owner in (edit.owner, self._dropper) or any(
            start <= edit.start and edit.end <= end for start, end in self._read
        )

    def _report(self, offset: int, message: str) -> None:
        if self._clash is not None:
            self._clash(self.source.position(offset)[0], message)

    def _covering(self, start: int, end: int, index: int) -> _Edit | None:
        """The larger replacement that holds the span. Replacements don't overlap, so it is the last one that starts before."""
        while index > 0:
            edit = self._edits[index - 1]
            if edit.end > edit.start:
                return edit if end <= edit.end and edit.end - edit.start > end - start else None
            index -= 1
        return None

    def replace_node(self, node: ast.AST, text: str, swallows: bool = False) -> None:
        self.replace(self.source.start(node), self.source.end(node), text, swallows)

    def is_touched(self, node: ast.AST) -> bool:
        """Whether some edit starts within the node."""
        low = bisect.bisect_left(self._edits, self.source.start(node), key=_start)
        return low < len(self._edits) and self._edits[low].start <= self.source.end(node)

    def replacements(self) -> list[tuple[int, int]]:
        """The spans that were replaced, in order; none overlaps another."""
        return [(edit.start, edit.end) for edit in self._edits if edit.end > edit.start]

    def text(self, node: ast.AST) -> str:
        """The node's text with all edits so far applied."""
        return self.span(self.source.start(node), self.source.end(node))

    def span(self, start: int, end: int) -> str:
        self._read.append((start, end))
        low, high = (
            bisect.bisect_left(self._edits, start, key=_start),
            bisect.bisect_right(self._edits, end, key=_start),
        )
        pieces, position = [], start
        for edit in self._edits[low:high]:
            if not _inside(edit, start, end):
                continue
            pieces += [self.source.data[position : edit.start].decode("utf-8"), edit.text]
            position = edit.end
        return "".join([*pieces, self.source.data[position:end].decode("utf-8")])

    def apply(self) -> str:
        return self.span(0, len(self.source.data))

    def _add(self, edit: _Edit) -> None:
        bisect.insort(self._edits, edit, key=lambda each: (each.start, each.order, each.end))


def _start(edit: _Edit) -> int:
    return edit.start


def _inside(edit: _Edit, start: int, end: int) -> bool:
    if edit.start == edit.end:
        belongs_left = edit.order[0] == 0 and edit.start == start and start != end
        belongs_right = edit.order[0] == 1 and edit.start == end and start != end
        return start <= edit.start <= end and not belongs_left and not belongs_right
    return start <= edit.start and edit.end <= end
