"""What rules and passes share while one file is converted."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..apis import Rule, Table
from ..artifacts import Finding, Rewrite
from ..findings import Code
from ..read.infer import Reading
from ..read.source import Edits, Source
from .render.imports import Imports
from .settings import Settings

T = TypeVar("T")


@dataclass(slots=True)
class Context:
    reading: Reading
    edits: Edits
    imports: Imports
    rules: Table
    settings: Settings
    is_notebook: bool = False
    findings: list[Finding] = field(default_factory=list)
    rewrites: list[Rewrite] = field(default_factory=list)
    handled: set[ast.AST] = field(default_factory=set)  # nodes that a pass takes care of itself
    instead: dict[ast.AST, Rule] = field(default_factory=dict)  # calls that follow another rule than their API's
    captured: dict[ast.AST, str] = field(
        default_factory=dict
    )  # nodes whose text a pass wants as it is before their parent changes
    turns: dict[ast.AST, Callable[[], None]] = field(
        default_factory=dict
    )  # what a pass does with a node once its parts are converted
    _stores: dict[str, list[ast.Name]] = field(default_factory=dict)
    _derived: dict[Any, Any] = field(default_factory=dict)

    @property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return self.source.parents

    @property
    def source(self) -> Source:
        return self.reading.source

    def find(
        self, node: ast.AST, code: Code, message: str, advice: str = "", severity: str = "", rule: str = ""
    ) -> None:
        """Without a severity it is the code's own."""
        line, column = self.source.position(self.source.start(node))
        self.findings.append(
            Finding(code, severity or code.severity, self.source.path, line, column + 1, message, advice, rule)
        )

    def rewritten(self, node: ast.AST, rule: str, before: str, after: str) -> None:
        line, column = self.source.position(self.source.start(node))
        self.rewrites.append(Rewrite(line, column + 1, rule, before, after))

    def statement_of(self, node: ast.AST) -> ast.stmt:
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def block_of(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that it stands in."""
        parent = self.parents[statement]
        for name in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and statement in block:
                return block
        return [statement]

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

    def stores(self, name: str) -> list[ast.Name]:
        """Every place in the file where the name is bound or deleted as a variable."""
        if not self._stores:
            for node in self.source.of(ast.Name):
                if not isinstance(node.ctx, ast.Load):
                    self._stores.setdefault(node.id, []).append(node)
        return self._stores.get(name, [])

    def derived(self, compute: Callable[[Context], T]) -> T:
        """What a function makes of this file, computed once however often it is asked for."""
        if compute not in self._derived:
            self._derived[compute] = compute(self)
        found: T = self._derived[compute]
        return found

    def api(self, node: ast.expr) -> str:
        """torch's dotted name of an expression that refers to one, or ''."""
        kind = self.reading.type(node)
        return self.reading.symbols.origin(kind.qual) if kind.kind == "ref" else ""
