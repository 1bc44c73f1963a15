"""The file while it is written: what is known about it, and the text as far as it is converted. Rules get this."""

from __future__ import annotations

import ast

from ..apis import Rule
from ..artifacts import Finding, Rewrite
from ..findings import Code
from ..read.edits import Edits
from .facts import Facts
from .plan import Plan
from .render.imports import Imports
from .verdict import Verdict


class Context(Facts):
    """The same facts, and what is written. Fixers get the facts alone."""

    def __init__(self, facts: Facts, plan: Plan, imports: Imports) -> None:
        super().__init__(facts.reading, facts.rules, facts.settings, facts.is_notebook, facts._derived)
        self.edits = Edits(facts.source)
        self.imports = imports
        self.handled = set(plan.claimed)  # nodes that a fixer takes care of itself
        self.instead: dict[ast.AST, Rule] = plan.rules  # calls that follow another rule than their API's
        self.notes = plan.notes  # what a fixer knows for the rule of a call
        self.verdicts: dict[ast.AST, Verdict] = {}  # what became of methods and attributes, of unknown receivers too
        self.called: dict[ast.AST, str] = {}  # helpers that stand for a node, where others ask for that
        self.findings: list[Finding] = []
        self.rewrites: list[Rewrite] = []

    def find(
        self, node: ast.AST, code: Code, message: str, advice: str = "", severity: str = "", rule: str = ""
    ) -> None:
        """Without a severity it is the code's own."""
        self.findings.append(self.found(node, code, message, advice, severity, rule).finding)

    def rewritten(self, node: ast.AST, rule: str, before: str, after: str) -> None:
        line, column = self.source.position(self.source.start(node))
        self.rewrites.append(Rewrite(line, column + 1, rule, before, after))
