"""What rules write while one file is converted."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from ..apis import Rule, Table
from ..artifacts import Finding, Rewrite
from ..findings import Code
from ..read.infer import Reading
from ..read.source import Edits, Source
from .facts import Facts
from .render.imports import Imports
from .settings import Settings

T = TypeVar("T")


@dataclass(slots=True)
class Context:
    facts: Facts
    edits: Edits
    imports: Imports
    handled: set[ast.AST]  # nodes that a fixer takes care of itself
    instead: dict[ast.AST, Rule]  # calls that follow another rule than their API's
    notes: dict[ast.AST, str | tuple[str, ...]]  # what a fixer knows for the rule of a call
    findings: list[Finding] = field(default_factory=list)
    rewrites: list[Rewrite] = field(default_factory=list)

    @property
    def reading(self) -> Reading:
        return self.facts.reading

    @property
    def rules(self) -> Table:
        return self.facts.rules

    @property
    def settings(self) -> Settings:
        return self.facts.settings

    @property
    def source(self) -> Source:
        return self.facts.reading.source

    @property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return self.facts.reading.source.parents

    def find(
        self, node: ast.AST, code: Code, message: str, advice: str = "", severity: str = "", rule: str = ""
    ) -> None:
        """Without a severity it is the code's own."""
        self.findings.append(self.facts.found(node, code, message, advice, severity, rule).finding)

    def rewritten(self, node: ast.AST, rule: str, before: str, after: str) -> None:
        line, column = self.source.position(self.source.start(node))
        self.rewrites.append(Rewrite(line, column + 1, rule, before, after))

    def enclosing(self, node: ast.AST, *kinds: type) -> ast.AST | None:
        return self.facts.enclosing(node, *kinds)

    def api(self, node: ast.expr) -> str:
        """torch's dotted name of an expression that refers to one, or ''."""
        return self.facts.api(node)

    # --- legacy
    captured: dict[ast.AST, str] = field(default_factory=dict)

    @property
    def is_notebook(self) -> bool:
        return self.facts.is_notebook

    def statement_of(self, node: ast.AST) -> ast.stmt:
        return self.facts.statement_of(node)

    def block_of(self, statement: ast.stmt) -> list[ast.stmt]:
        return self.facts.block_of(statement)

    def is_within(self, node: ast.AST, outer: ast.AST) -> bool:
        return self.facts.is_within(node, outer)

    def stores(self, name: str) -> list[ast.Name]:
        return self.facts.stores(name)

    def derived(self, compute: Callable[[Facts], T]) -> T:
        return self.facts.derived(compute)
