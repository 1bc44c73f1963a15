"""A source file as bytes, its syntax tree, and the byte span of every node."""

from __future__ import annotations

import ast
import bisect
import contextlib
import functools
import io
import re
import sys
import tokenize
import weakref
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Generic, TypeVar

from ..errors import MindferryError
from .fstrings import relocate
from .older_python import Mended, as_python3
from .walk import FIELDS, TEXT_FIELDS

_LINE_ENDS = re.compile(rb"\r\n|\r|\n")
_TRIVIA = re.compile(rb"(?:[ \t\f\r\n]|\\\r?\n|#[^\r\n]*)*")


_OF_312 = re.compile(r"\s*(?:type\s+\w+\s*[\[=]|(?:async\s+)?def\s+\w+\s*\[|class\s+\w+\s*\[)")
INFINITIES = frozenset({"inf", "infty", "infinity", "+inf"})
NEGATIVE_INFINITIES = frozenset({"-inf", "-infinity", "ninf"})
_SCRIPT = re.compile(rb"^if\s+__name__\s*==", re.MULTILINE)
_STATEMENTS = frozenset(ast.stmt.__subclasses__())
_WITH_BLOCKS: tuple[type[ast.AST], ...] = (ast.Module, ast.ExceptHandler, ast.match_case, *_STATEMENTS)
_BLOCKS: dict[type, tuple[str, ...]] = {
    kind: tuple(name for name in ("body", "orelse", "finalbody", "handlers") if name in kind._fields)
    for kind in _WITH_BLOCKS
}
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


def is_negative_infinity(node: ast.AST) -> bool:
    """`-inf`, `-math.inf`, `-float("inf")`, `float("-inf")`, `-1 * np.inf`, `np.NINF`."""
    match node:
        case ast.Constant(value=str(text)):
            return text.strip().lower() in NEGATIVE_INFINITIES
        case ast.Name(id="NINF") | ast.Attribute(attr="NINF"):
            return True
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return is_infinity(operand)
        case ast.BinOp(op=ast.Sub(), right=right):
            return is_infinity(right)
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return is_infinity(left) or is_infinity(right)
    return False


def is_script(raw: bytes) -> bool:
    """Whether a file does something when it is run: `if __name__ == "__main__":`."""
    return b"__name__" in raw and _SCRIPT.search(raw) is not None


class _Places(Generic[N]):
    """Nodes by name, as the text has them: those in a part of it are found without looking at the others."""

    def __init__(self, nodes: Mapping[str, list[N]], source: Source) -> None:
        self._nodes, self._source = nodes, weakref.proxy(source)
        self._ordered: dict[str, tuple[list[N], list[int]]] = {}
        self._found: dict[tuple[str, ast.AST], list[N]] = {}

    def within(self, name: str, outer: ast.AST) -> list[N]:
        found = self._found.get((name, outer))
        if found is None:
            found = self._found[name, outer] = self._find(name, outer)
        return found

    def _find(self, name: str, outer: ast.AST) -> list[N]:
        start, end = self._source.start, self._source.end
        if name not in self._ordered:
            nodes = sorted(self._nodes.get(name, ()), key=start)
            self._ordered[name] = nodes, [start(each) for each in nodes]
        nodes, starts = self._ordered[name]
        if outer is self._source.tree:
            return nodes
        return nodes[bisect.bisect_left(starts, start(outer)) : bisect.bisect_left(starts, end(outer))]


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
        self.mended: tuple[Mended, ...] = ()  # lines that are Python 3 in `data` and were not in the file
        try:
            self.tree = ast.parse(text, path)  # text, not bytes: those are UTF-8 now, whatever their cookie says
        except SyntaxError as error:
            newer = as_python3(text)
            if newer is None:
                raise Unreadable(_complaint(error), error.lineno or 1, error.offset or 1) from None
            text, self.mended = newer
            self.data, self.tree = text.encode("utf-8"), ast.parse(text, path)
        except (ValueError, RecursionError, MemoryError) as error:
            raise Unreadable(f"cannot be parsed: {str(error) or 'it is nested too deeply'}") from None
        self._starts = [0, *accumulate(map(len, self.data.splitlines(keepends=True)))]
        if self.data and not self.data.endswith((b"\n", b"\r")):
            self._starts.pop()  # where no further line starts
        self.nodes: list[ast.AST] = [
            self.tree
        ]  # every node, each after its parent: level by level, as `ast.walk` gives them
        self.parents: dict[ast.AST, ast.AST] = {}
        self._children: list[int] = []  # where in `nodes` the children of each node begin; those of the next end them
        self._texts: set[str] = set()  # names and strings
        self._mentioned: dict[str, bool] = {}
        self.kept: dict[str, object] = {}  # what others found out about the text, by who they are; see name_uses.py
        self._list_nodes()

    def _list_nodes(self) -> None:
        """Walk once: passes and rules look at all nodes many times."""
        nodes, parents, texts, fields, text_fields = self.nodes, self.parents, self._texts, FIELDS, TEXT_FIELDS
        append, begin = nodes.append, self._children.append
        for node in nodes:  # grows while it is read
            begin(len(nodes))
            which = type(node)
            if which is ast.Name:  # most nodes are one of these three
                texts.add(node.id)  # type: ignore[attr-defined]
                continue
            if which is ast.Attribute:
                texts.add(node.attr)  # type: ignore[attr-defined]
                owner: ast.expr = node.value  # type: ignore[attr-defined]
                append(owner)
                parents[owner] = node
                continue
            if which is ast.Constant:
                if type(node.value) is str:  # type: ignore[attr-defined]
                    texts.add(node.value)  # type: ignore[attr-defined]
                continue
            if which is ast.JoinedStr:
                relocate(node, self)  # type: ignore[arg-type]
            values = node.__dict__
            for name in fields[which]:
                value: Any = values.get(name)
                if type(value) is list:
                    for item in value:
                        if item is not None:
                            append(item)
                            parents[item] = node
                elif value is not None:
                    append(value)
                    parents[value] = node
            for name in text_fields[which]:
                text = values.get(name)
                if type(text) is str:
                    texts.add(text)
        begin(len(nodes))

    @functools.cached_property
    def _places(self) -> dict[ast.AST, int]:
        return dict(zip(self.nodes, range(len(self.nodes)), strict=True))

    def walk(self, root: ast.AST) -> list[ast.AST]:
        """The node and everything inside it, as `ast.walk` gives them: on each level they stand side by side in `nodes`."""
        nodes, children = self.nodes, self._children
        low = self._places[root]
        high = low + 1
        found = [root]
        while (low := children[low]) < (high := children[high]):
            found += nodes[low:high]
        return found

    def children(self, node: ast.AST) -> list[ast.AST]:
        place = self._places[node]
        return self.nodes[self._children[place] : self._children[place + 1]]

    def of(self, kind: type[N]) -> list[N]:
        """All nodes of one kind, each after its parent."""
        return self._by_kind.get(kind, [])

    @functools.cached_property
    def _by_kind(self) -> dict[type, list[Any]]:
        found: dict[type, list[Any]] = defaultdict(list)
        for node in self.nodes:
            found[type(node)].append(node)
        return dict(found)

    @functools.cached_property
    def named(self) -> dict[str, list[ast.Name]]:
        """Every place where a name stands, by the name: who asks for one does not look at all."""
        found: dict[str, list[ast.Name]] = defaultdict(list)
        for node in self.of(ast.Name):
            found[node.id].append(node)
        return dict(found)

    @functools.cached_property
    def stored(self) -> dict[str, list[ast.Name]]:
        """Those where it is bound or deleted."""
        found: dict[str, list[ast.Name]] = defaultdict(list)
        for node in self.of(ast.Name):
            if type(node.ctx) is not ast.Load:
                found[node.id].append(node)
        return dict(found)

    def stored_within(self, name: str, outer: ast.AST) -> list[ast.Name]:
        """Those of them that lie in a function, a loop or whatever it is, in the order of the text."""
        return self._stores.within(name, outer)

    @functools.cached_property
    def _stores(self) -> _Places[ast.Name]:
        return _Places(self.stored, self)

    def bound_within(self, name: str, outer: ast.AST) -> list[ast.Name]:
        """Those where it gets a value, without deletions."""
        return self._bindings.within(name, outer)

    @functools.cached_property
    def _bindings(self) -> _Places[ast.Name]:
        bound = {name: [node for node in nodes if type(node.ctx) is ast.Store] for name, nodes in self.stored.items()}
        return _Places(bound, self)

    def named_within(self, name: str, outer: ast.AST) -> list[ast.Name]:
        """Every place in a function, a loop or whatever it is where the name stands, in the order of the text."""
        return self._uses.within(name, outer)

    @functools.cached_property
    def _uses(self) -> _Places[ast.Name]:
        return _Places(self.named, self)

    @functools.cached_property
    def members(self) -> dict[str, list[ast.Attribute]]:
        """The same for attributes, by what stands behind the dot."""
        found: dict[str, list[ast.Attribute]] = defaultdict(list)
        for node in self.of(ast.Attribute):
            found[node.attr].append(node)
        return dict(found)

    @functools.cached_property
    def keywords(self) -> dict[str, list[ast.keyword]]:
        """What calls give by name, by that name."""
        found: dict[str, list[ast.keyword]] = defaultdict(list)
        for node in self.of(ast.keyword):
            found[node.arg or ""].append(node)
        return dict(found)

    @functools.cached_property
    def called_methods(self) -> frozenset[str]:
        """The names of all methods that the file calls."""
        calls = self.of(ast.Call)
        return frozenset(call.func.attr for call in calls if isinstance(call.func, ast.Attribute))

    def calls_named(self, *names: str) -> list[ast.Call]:
        """Calls of functions and methods of these names, each after the one that it stands in."""
        called = (node for name in names for node in (*self.named.get(name, ()), *self.members.get(name, ())))
        return self.in_tree_order(
            call for node in called if type(call := self.parents[node]) is ast.Call and call.func is node
        )

    def in_tree_order(self, nodes: Iterable[N]) -> list[N]:
        """As they stand in `nodes`, each after its parent."""
        return sorted(nodes, key=self._places.__getitem__)

    @functools.cached_property
    def blocks(self) -> dict[ast.AST, tuple[list[ast.stmt], int]]:
        """The list that each statement or handler stands in, and its place there."""
        found: dict[ast.AST, tuple[list[ast.stmt], int]] = {}
        for node in (self.tree, *self.statements, *self.of(ast.ExceptHandler), *self.of(ast.match_case)):
            for name in _BLOCKS[type(node)]:
                block = getattr(node, name)
                for place, statement in enumerate(block):
                    found[statement] = block, place
        return found

    @functools.cached_property
    def statements(self) -> list[ast.stmt]:
        """Each after the one that it stands in."""
        return [node for node in self.nodes if type(node) in _STATEMENTS]  # type: ignore[misc]

    @functools.cached_property
    def assigned(self) -> dict[str, list[ast.Assign]]:
        """Plain assignments by the names that they bind, `x` in `x = y = 3`."""
        found: dict[str, list[ast.Assign]] = {}
        for node in self.of(ast.Assign):
            for name in dict.fromkeys(each.id for each in node.targets if isinstance(each, ast.Name)):
                found.setdefault(name, []).append(node)
        return found

    def assigned_within(self, name: str, outer: ast.AST) -> list[ast.Assign]:
        """Those of them that lie in a function, in the order of the text."""
        return self._assignments.within(name, outer)

    @functools.cached_property
    def _assignments(self) -> _Places[ast.Assign]:
        return _Places(self.assigned, self)

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
        """Whether the word is part of a name in the code; rules ask for the same few at every call."""
        known = self._mentioned.get(word)
        if known is None:
            known = self._mentioned[word] = word.encode("utf-8") in self.data and word in self._vocabulary
        return known

    @functools.cached_property
    def writes_negative_infinity(self) -> bool:
        """Whether -inf stands anywhere in the code."""
        if b"inf" not in self.data.lower():
            return False
        if not any(text.strip().lower() in INFINITIES | NEGATIVE_INFINITIES for text in self._texts):
            return False
        kinds = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Name, ast.Attribute)
        return any(is_negative_infinity(node) for kind in kinds for node in self.of(kind))

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
        if offset < limit and self.data.startswith(token, offset):  # most stand right behind what was read
            return offset
        while offset < limit:
            offset = self.skip_trivia(offset)
            if offset >= limit:
                break
            if self.data.startswith(token, offset):
                return offset
            offset += 1
        return -1

    def value_start(self, node: ast.Assign) -> int:
        """Where what is assigned begins, with its parentheses."""
        equals = self.find_token(b"=", self.end(node.targets[-1]), self.start(node.value))
        return self.skip_trivia(equals + 1)

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
    close, behind = source.end(call) - 1, source.end(call.func)
    if source.data[behind : behind + 1] != b"(":
        behind = _after_parentheses(source, behind, close)
    opening = source.find_token(b"(", behind, close + 1)
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
        end, limit = source.end(node), comma if comma >= 0 else close
        while end < limit and (token := source.skip_trivia(end)) < limit and source.data[token : token + 1] == b")":
            end = token + 1
        slots.append(Slot(start, end, comma))
    return opening + 1, slots, close


def _after_parentheses(source: Source, offset: int, limit: int) -> int:
    while (token := source.skip_trivia(offset)) < limit and source.data[token : token + 1] == b")":
        offset = token + 1
    return offset
