"""Folds constants in the text of a helper: conditions that are decided go, and so do branches that are never taken.

Texts are edited, not printed anew, so that comments and quotes stay; what then fits on a line is put on one.
"""

from __future__ import annotations

import ast
import functools
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from ...read.walk import walk

WIDTH = 120
ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
WITH_BLOCKS = frozenset(
    kind for kind in vars(ast).values() if isinstance(kind, type) and "body" in getattr(kind, "_fields", ())
)
DECIDABLE = frozenset({ast.UnaryOp, ast.Compare, ast.IfExp, ast.Call, ast.BoolOp})
NOTHING = object()
ORDERED: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
Span = tuple[int, int, str]


@functools.lru_cache(maxsize=4096)
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


def in_strings(tree: ast.AST) -> set[ast.AST]:
    """What stands in f-strings: Python before 3.12 gives it wrong positions, so it is never edited."""
    strings = [node for node in walk(tree) if isinstance(node, ast.JoinedStr)]
    return {part for node in strings for part in walk(node)}


class Offsets:
    """Byte offsets of nodes in a text."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.starts = [0, *(match.end() for match in re.finditer(rb"\n", self.data))]

    def start(self, node: ast.AST) -> int:
        return self.starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined, no-any-return]

    def end(self, node: ast.AST) -> int:
        return self.starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined, no-any-return]

    def of(self, node: ast.AST) -> str:
        return self.data[self.start(node) : self.end(node)].decode()

    def line(self, number: int) -> int:
        """Where a line starts, counted from one; past the last, the end of the text."""
        return self.starts[number - 1] if number <= len(self.starts) else len(self.data)

    def edited(self, spans: Iterable[Span]) -> str:
        data = self.data
        for start, end, new in sorted(spans, reverse=True):
            data = data[:start] + new.encode() + data[end:]
        return data.decode()


def constant(node: ast.AST | None) -> object:
    """The value of a literal, or NOTHING."""
    if type(node) is ast.Constant:  # asked of every argument
        return node.value
    if type(node) is ast.UnaryOp:
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return -value
    return NOTHING


@functools.lru_cache(maxsize=4096)
def simplified(text: str) -> str:
    """The text with every decided condition folded."""
    while True:
        tree, offsets = parsed(text), Offsets(text)
        spans = list(_spans(tree, offsets)) if _may_fold(tree, offsets) else []
        if not spans:
            return text
        text = _without_empty_blocks(offsets.edited(spans))


def _may_fold(tree: ast.Module, offsets: Offsets) -> bool:
    """Whether a condition is decided anywhere, or a statement never reached; most helpers have neither."""
    for node in walk(tree):
        kind = type(node)
        if kind in DECIDABLE:
            if _expression(node, offsets) is not None:  # type: ignore[arg-type]
                return True
            if kind is ast.IfExp and _asked(node.test, offsets) is not None:  # type: ignore[attr-defined]
                return True
        elif kind in WITH_BLOCKS:
            if kind is ast.If and (constant(node.test) is not NOTHING or _asked(node.test, offsets) is not None):  # type: ignore[attr-defined]
                return True
            if any(type(each) in ENDS for block in blocks_of(node) for each in block[:-1]):
                return True
    return False


def blocks_of(node: ast.AST) -> list[list[ast.stmt]]:
    """Its lists of statements."""
    found = (getattr(node, name, None) for name in ("body", "orelse", "finalbody"))
    return [each for each in found if isinstance(each, list) and each]


def substituted(text: str, function: ast.FunctionDef, values: Mapping[str, str]) -> list[Span]:
    """The edits that put constants in place of names that a function only reads."""
    offsets = Offsets(text)
    return [
        (offsets.start(node), offsets.end(node), values[node.id])
        for part in (function.body, function.decorator_list)
        for statement in part
        for node in walk(statement)
        if isinstance(node, ast.Name) and node.id in values
    ]


def _spans(node: ast.AST, offsets: Offsets) -> Iterator[Span]:
    """Edits of one pass: what encloses an edited part is left for the next."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield from _dead_code(block, offsets)
            dead = _first_end(block)
            for statement in block[: dead + 1]:
                found = _statement(statement, offsets)
                yield from _spans(statement, offsets) if found is None else [found]
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.JoinedStr):
            continue
        is_test = isinstance(node, ast.If | ast.IfExp) and child is node.test
        new = _asked(child, offsets) if is_test else None  # type: ignore[arg-type]
        new = _expression(child, offsets) if new is None and isinstance(child, ast.expr) else new
        if new is None:
            yield from _spans(child, offsets)
        else:
            yield offsets.start(child), offsets.end(child), new


def _first_end(block: list[ast.stmt]) -> int:
    return next((index for index, each in enumerate(block) if isinstance(each, ENDS)), len(block) - 1)


def _dead_code(block: list[ast.stmt], offsets: Offsets) -> Iterator[Span]:
    """Statements after a return."""
    last = _first_end(block)
    if block and last < len(block) - 1 and isinstance(block[0], ast.stmt):
        yield offsets.line((block[last].end_lineno or 0) + 1), offsets.line((block[-1].end_lineno or 0) + 1), ""


def _statement(node: ast.stmt, offsets: Offsets) -> Span | None:
    """An `if` whose condition is known, as what is left of it."""
    if not isinstance(node, ast.If) or constant(node.test) is NOTHING:
        return None
    is_elif = offsets.data[offsets.start(node) :].startswith(b"elif")
    start, end = offsets.line(node.lineno), offsets.line((node.end_lineno or 0) + 1)
    header = offsets.line((node.test.end_lineno or 0) + 1)
    body_end = offsets.line((node.body[-1].end_lineno or 0) + 1)
    if constant(node.test):
        body = offsets.data[header:body_end].decode()
        return start, end, f"{' ' * node.col_offset}else:\n{body}" if is_elif else _dedented(body)
    if not node.orelse:
        return start, end, ""
    rest = node.orelse[0]
    first = offsets.line(rest.lineno)
    if offsets.data[offsets.start(rest) :].startswith(b"elif"):
        kept = offsets.data[first:end].decode()
        return start, end, kept if is_elif else kept.replace("elif", "if", 1)
    if is_elif:
        return start, body_end, ""
    after = offsets.data.index(b"else:", body_end)
    return start, end, _dedented(offsets.data[offsets.data.index(b"\n", after) + 1 : end].decode())


def _dedented(text: str) -> str:
    return "".join(line.removeprefix("    ") for line in text.splitlines(keepends=True))


def _expression(node: ast.expr, offsets: Offsets) -> str | None:
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand) if constant(operand) is not NOTHING:
            return repr(not constant(operand))
        case ast.Compare(left=left, ops=[asked], comparators=[right]):
            return _compared(constant(left), asked, constant(right), right)
        case ast.IfExp(test=test, body=body, orelse=orelse) if constant(test) is not NOTHING:
            return offsets.of(body if constant(test) else orelse)
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Constant(value=None), _]):
            return "False"
        case ast.Call(
            func=ast.Name(id="isinstance"),
            args=[
                ast.Constant(value=bool() | int() | float()),
                ast.Name(id="list" | "tuple") | ast.Tuple(elts=[ast.Name(id="list" | "tuple"), *_]) as kinds,
            ],
        ) if all(isinstance(each, ast.Name) and each.id in ("list", "tuple") for each in getattr(kinds, "elts", [])):
            return "False"
        case ast.BoolOp(op=joint, values=values):
            return _joined(isinstance(joint, ast.And), values, offsets)
    return None


def _compared(left: object, asked: ast.cmpop, right: object, node: ast.expr) -> str | None:
    if left is NOTHING:
        return None
    if isinstance(asked, ast.In | ast.NotIn) and isinstance(node, ast.Tuple | ast.List):
        values = [constant(each) for each in node.elts]
        if any(each is NOTHING for each in values):
            return None
        return repr((left in values) == isinstance(asked, ast.In))
    if right is NOTHING:
        return None
    if isinstance(asked, ast.Is | ast.IsNot) and any(
        each is None or each is True or each is False for each in (left, right)
    ):
        return repr((left is right) == isinstance(asked, ast.Is))
    if isinstance(asked, ast.Eq | ast.NotEq):
        return repr((left == right) == isinstance(asked, ast.Eq))
    if type(asked) in ORDERED and isinstance(left, int | float) and isinstance(right, int | float):
        return repr(ORDERED[type(asked)](left, right))
    return None


def _asked(test: ast.expr, offsets: Offsets) -> str | None:
    """A condition without a last `and True`, which an `if` does not need."""
    match test:
        case ast.BoolOp(op=joint, values=[*others, last]):
            is_and = isinstance(joint, ast.And)
            if constant(last) is not NOTHING and bool(constant(last)) == is_and:
                return (" and " if is_and else " or ").join(_enclosed(each, offsets) for each in others)
    return None


def _joined(is_and: bool, values: list[ast.expr], offsets: Offsets) -> str | None:
    """`a and b` without what is decided."""
    kept: list[ast.expr] = []
    for position, value in enumerate(values):
        known = constant(value)
        if known is not NOTHING and bool(known) == is_and and position < len(values) - 1:
            continue  # says nothing
        if known is not NOTHING and bool(known) != is_and:
            is_answer = isinstance(known, bool) and all(_is_condition(each) for each in kept)
            kept = [value] if is_answer else [*kept, value]
            break  # decides it
        kept.append(value)
    if len(kept) == len(values):
        return None
    if len(kept) == 1:
        return offsets.of(kept[0])
    return (" and " if is_and else " or ").join(_enclosed(each, offsets) for each in kept)


def _is_condition(node: ast.expr) -> bool:
    """True or False, and asking does nothing."""
    is_asking = isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
    return is_asking and not any(isinstance(each, ast.Call | ast.NamedExpr | ast.Await) for each in walk(node))


def _enclosed(node: ast.expr, offsets: Offsets) -> str:
    return f"({offsets.of(node)})" if isinstance(node, ast.BoolOp | ast.IfExp | ast.Lambda) else offsets.of(node)


def _without_empty_blocks(text: str) -> str:
    """`pass` where nothing is left of a block."""
    lines = text.split("\n")
    for index in range(len(lines) - 1, -1, -1):
        line = lines[index]
        if not line.rstrip().endswith(":") or not line.lstrip().startswith(
            ("if ", "else:", "elif ", "for ", "while ", "def ")
        ):
            continue
        indent = len(line) - len(line.lstrip())
        following = next((each for each in lines[index + 1 :] if each.strip()), "")
        if len(following) - len(following.lstrip()) <= indent:
            lines[index:index] = [] if line.lstrip().startswith("else:") else [line, " " * (indent + 4) + "pass"]
            del lines[index + (0 if line.lstrip().startswith("else:") else 2)]
    return "\n".join(lines)


def reflowed(text: str) -> str:
    """Statements that fit on one line by now, on one line."""
    offsets = Offsets(text)
    spans = []
    for node in walk(parsed(text)):
        if isinstance(node, ast.stmt):
            first, last = node.lineno, _header_end(node, offsets)
            if last > first:
                old = offsets.data[offsets.line(first) : offsets.line(last + 1)].decode()
                new = _on_one_line(old)
                if new is not None and new != old:
                    spans.append((offsets.line(first), offsets.line(last + 1), new))
    if not spans:
        return text
    result = offsets.edited(spans)
    return result if ast.dump(parsed(result)) == ast.dump(parsed(text)) else text


def _header_end(node: ast.stmt, offsets: Offsets) -> int:
    """The last line of a simple statement, or of what stands before a block."""
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return node.end_lineno or node.lineno
    line = node.lineno
    while line < body[0].lineno and not re.search(
        rb":[ \t]*(#[^\n]*)?\n\Z", offsets.data[offsets.line(line) : offsets.line(line + 1)]
    ):
        line += 1
    return line if line < body[0].lineno else node.lineno


def _on_one_line(text: str) -> str | None:
    if "#" in text or '"""' in text:
        return None
    lines = text.rstrip("\n").split("\n")
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    joined = lines[0].strip()
    for line in (each.strip() for each in lines[1:]):
        if line[:1] in tuple(")]}"):
            joined = joined.removesuffix(",") + line
        else:
            joined += line if joined[-1:] in tuple("([{") else f" {line}"
    joined = re.sub(r"\A(\w[\w.\[\]\", ]* = |return )\((.*)\)\Z", _without_parentheses, joined)
    result = f"{indent}{joined}\n"
    return result if len(indent) + len(joined) <= WIDTH else None


def _without_parentheses(match: re.Match[str]) -> str:
    """Parentheses that only let an expression span lines."""
    try:
        inner, outer = ast.parse(match[2], mode="eval").body, ast.parse(f"({match[2]})", mode="eval").body
    except SyntaxError:
        return match[0]
    is_same = ast.dump(inner) == ast.dump(outer) and not isinstance(inner, ast.Tuple | ast.NamedExpr)
    return match[1] + match[2] if is_same else match[0]


def laid_out(head: str, items: list[str], tail: str, column: int, room: int) -> str:
    """`head(items)tail` on one line, with the items on a line of their own, or each on its own."""
    if column + len(head) + len(", ".join(items)) + len(tail) <= room and not any("\n" in each for each in items):
        return f"{head}{', '.join(items)}{tail}"
    indent = " " * (column + 4)
    if len(indent) + len(", ".join(items)) <= room:
        return f"{head}\n{indent}{', '.join(items)}\n{' ' * column}{tail}"
    return f"{head}\n" + "".join(f"{indent}{each},\n" for each in items) + " " * column + tail
