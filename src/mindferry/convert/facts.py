"""What is known about one file before anything is changed. Fixers read it, and nothing writes to it."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from ..apis import Table
from ..artifacts import Finding
from ..findings import Code
from ..read.differentiated_arguments import called_with_losses
from ..read.framework import Framework
from ..read.infer import Reading
from ..read.source import Source
from ..read.uses import Use, Uses
from ..read.walk import forget_nodes, walk_again
from .plan import Found, Record, Text
from .settings import Settings

T = TypeVar("T")
N = TypeVar("N", bound=ast.AST)


@dataclass(frozen=True)
class Facts:
    reading: Reading
    rules: Table
    settings: Settings
    is_notebook: bool = False
    _derived: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def source(self) -> Source:
        return self.reading.source

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return self.reading.source.parents

    @cached_property
    def framework(self) -> Framework:
        return self.reading.symbols.framework

    @cached_property
    def uses(self) -> Uses:
        return self.reading.symbols.framework.uses

    @cached_property
    def hands_losses_on(self) -> bool:
        """Whether the file calls functions of the project's that differentiate what they are given."""
        return bool(called_with_losses(self.source, self.reading.symbols.differentiated))

    def derived(self, compute: Callable[[Any], T]) -> T:
        """What a function makes of these facts, computed once however often it is asked for."""
        if compute not in self._derived:
            self._derived[compute] = compute(self)
        found: T = self._derived[compute]
        return found

    def forget(self) -> None:
        """Everything derived, when the file is written."""
        self._derived.clear()
        self.reading.forget()
        forget_nodes()

    def api(self, node: ast.expr) -> str:
        """torch's dotted name of an expression that refers to one, or ''."""
        kind = self.reading.types.get(node)
        return self.reading.symbols.origin(kind.qual) if kind is not None and kind.kind == "ref" else ""

    def is_use(self, use: Use, node: ast.expr) -> bool:
        """Whether an expression refers to an API of the framework's that is for this."""
        api = self.api(node)
        return bool(api) and self.uses.has(use, api)

    def calls_for(self, use: Use) -> list[ast.Call]:
        """The file's calls of an API of the framework's that is for this, each after the one that it stands in."""
        return self.calls_where(lambda api: self.uses.has(use, api))

    def options_given(self, call: ast.Call, names: Set[str]) -> Iterator[ast.expr]:
        """What `call` gives for the parameters `names`, by place or by keyword."""
        entry = self.rules.get(self.api(call.func))
        if entry is None or any(isinstance(each, ast.Starred) for each in call.args):
            return
        yield from (given for name, given in zip(entry.args, call.args, strict=False) if name in names)
        yield from (each.value for each in call.keywords if each.arg in names)

    def calls_where(self, is_wanted: Callable[[str], bool]) -> list[ast.Call]:
        """The file's calls of the APIs for which this holds: it is asked once for each, not for each call."""
        found = [each for api, calls in self.derived(_calls_by_api).items() if is_wanted(api) for each in calls]
        return [call for _, call in sorted(found, key=lambda each: each[0])]

    def statement_of(self, node: ast.AST) -> ast.stmt:
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def block_of(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that it stands in."""
        found = self.source.blocks.get(statement)
        return found[0] if found is not None else [statement]

    def place_of(self, statement: ast.stmt) -> int:
        """Its place in that list."""
        found = self.source.blocks.get(statement)
        return found[1] if found is not None else 0

    def enclosing(self, node: ast.AST, *kinds: type) -> ast.AST | None:
        current = self.parents.get(node)
        while current is not None and not isinstance(current, kinds):
            current = self.parents.get(current)
        return current

    def is_within(self, node: ast.AST, outer: ast.AST) -> bool:
        current: ast.AST | None = node
        while current is not None and current is not outer:
            current = self.parents.get(current)
        return current is not None

    def is_within_any(self, node: ast.AST, outer: Set[ast.AST]) -> bool:
        current: ast.AST | None = node
        while current is not None and current not in outer:
            current = self.parents.get(current)
        return current is not None

    def stores(self, name: str) -> list[ast.Name]:
        """Every place in the file where the name is bound or deleted as a variable."""
        return self.source.stored.get(name, [])

    def bound_within(self, name: str, outer: ast.AST) -> list[ast.Name]:
        """Where the name gets a value in a function, a loop or whatever it is; `name.add_(1)` is one of the places."""
        bound, (again, first, last) = self.source.bound_within(name, outer), self._bound_again(name, outer)
        return bound + again[first:last] if first < last else bound

    def is_bound_within(self, name: str, outer: ast.AST) -> bool:
        """Whether there is such a place."""
        if self.source.bound_within(name, outer):
            return True
        _, first, last = self._bound_again(name, outer)
        return first < last

    def _bound_again(self, name: str, outer: ast.AST) -> tuple[list[ast.Name], int, int]:
        """The places where changes in place bind it, and which of them lie in `outer`: from the first, up to the last."""
        again, start = self.derived(BoundAgain).names.get(name, []), self.source.start
        if not again or outer is self.source.tree:
            return again, 0, len(again)
        ends = start(outer), self.source.end(outer)
        first, last = (bisect.bisect_left(again, place, key=start) for place in ends)
        return again, first, last

    def as_read(self, node: N) -> N | ast.Assign:
        """`x = x.add_(1)` for a statement `x.add_(1)` that binds the name again; anything else as it is."""
        return self.derived(BoundAgain).statements.get(node, node)

    def stores_in(self, node: ast.AST) -> Iterator[ast.Name]:
        """Names that get a value in it; `name.add_(1)` is one of the places."""
        again = self.derived(BoundAgain).statements
        for each in walk_again(node):
            if type(each) is ast.Name and type(each.ctx) is ast.Store:
                yield each
            elif each in again:
                yield from (name for name in again[each].targets[-1:] if isinstance(name, ast.Name))

    def found(
        self, node: ast.AST, code: Code, message: str, advice: str = "", severity: str = "", rule: str = ""
    ) -> Found:
        """A change that is none: what has to be said about a place. Without a severity it is the code's own."""
        line, column = self.source.position(self.source.start(node))
        place = (self.source.path, line, column + 1)
        return Found(Finding(code, severity or code.severity, *place, message, advice, rule))

    def record(self, node: ast.AST, rule: str, before: str, after: Text) -> Record:
        """A line of the report: what stood here, and what stands here now."""
        line, column = self.source.position(self.source.start(node))
        return Record(line, column + 1, rule, before, after)


class OriginalTexts:
    """`plan.Texts` of a file that nothing has been changed in, for asking what would be written."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def of(self, node: ast.AST) -> str:
        return self._source.text(node)

    def span(self, start: int, end: int) -> str:
        return self._source.data[start:end].decode("utf-8")

    def kept(self, node: ast.AST) -> str:
        return self.of(node)

    def is_kept(self, node: ast.AST) -> bool:
        return False

    def is_touched(self, node: ast.AST) -> bool:
        return False

    def is_removed(self, statement: ast.AST) -> bool:
        return False

    def calls(self, node: ast.AST, helper: str) -> bool:
        return False

    def name(self, qual: str) -> str:
        return qual


class BoundAgain:
    """What changes in place bind again: `fixers/in_place` fills this in. No node of it stands in the tree."""

    def __init__(self, facts: Facts) -> None:
        self.names: dict[str, list[ast.Name]] = {}  # in the order of the text
        self.statements: dict[ast.AST, ast.Assign] = {}  # as what such a statement is read; its last target is the name


def _calls_by_api(facts: Facts) -> dict[str, list[tuple[int, ast.Call]]]:
    """With the place of each among all calls."""
    found: dict[str, list[tuple[int, ast.Call]]] = {}
    for place, call in enumerate(facts.source.of(ast.Call)):
        if api := facts.api(call.func):
            found.setdefault(api, []).append((place, call))
    return found
