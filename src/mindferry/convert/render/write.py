"""Writes a plan into the text: the one place where changes become edits."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ...artifacts import Rewrite
from ..context import Context
from ..plan import (
    Claim,
    Edit,
    Found,
    InsertAfter,
    InsertBefore,
    Plan,
    Record,
    RemoveDecorator,
    RemoveStatement,
    ReplaceNode,
    ReplaceSpan,
    Text,
    Writer,
)
from .imports import delete_decorator, delete_statement

RULES = "rules"  # owner of what the table writes


class ConvertedTexts:
    """`plan.Texts` of the file that is being written."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._kept: dict[ast.AST, str] = {}

    def of(self, node: ast.AST) -> str:
        return self._context.edits.text(node)

    def span(self, start: int, end: int) -> str:
        return self._context.edits.span(start, end)

    def kept(self, node: ast.AST) -> str:
        return self._kept[node]

    def is_kept(self, node: ast.AST) -> bool:
        return node in self._kept

    def keep(self, node: ast.AST) -> None:
        self._kept[node] = self.of(node)

    def is_touched(self, node: ast.AST) -> bool:
        return self._context.edits.is_touched(node)

    def is_removed(self, statement: ast.AST) -> bool:
        return statement in self._context.edits.removed

    def calls(self, node: ast.AST, helper: str) -> bool:
        called = self._context.called
        return any(called.get(each) == helper for each in self._context.source.walk(node))

    def name(self, qual: str) -> str:
        return self._context.imports.spell(qual)


class PlanWriter:
    """Takes a plan through its three moments: before the rules, at each node, and at the end."""

    def __init__(self, plan: Plan, context: Context) -> None:
        self.plan, self.context, self.texts = plan, context, ConvertedTexts(context)
        context.edits.watch(RULES, plan.clash)

    def before_rules(self) -> None:
        """What was found goes by its place in the file, so that no fixer's turn shows in a comment."""
        found = [each.finding for _, each in self.plan.edits if isinstance(each, Found)]
        self.context.findings += sorted(found, key=lambda each: (each.line, each.column, each.code, each.message))
        for owner, edit in self.plan.edits:
            if not isinstance(edit, Found):
                self._write(owner, lambda _, edit=edit: [edit])  # type: ignore[misc]

    def at_node(self, node: ast.AST) -> None:
        """Once the node itself is converted."""
        if node in self.plan.at_node:
            owner, write = self.plan.at_node[node]
            self._write(owner, write)
        if node in self.plan.kept:
            self.texts.keep(node)

    def at_end(self) -> None:
        for owner, write in self.plan.at_end:
            self._write(owner, write)

    def _write(self, owner: str, write: Writer) -> None:
        self.context.edits.begin(owner)  # what it reads from now on, it may carry along
        self._apply(write(self.texts))
        self.context.edits.begin(RULES)

    def _apply(self, changes: Iterable[Edit]) -> None:
        edits = self.context.edits
        for change in changes:
            match change:
                case ReplaceNode(node, text, swallows, helper):
                    edits.replace(edits.source.start(node), edits.source.end(node), self._text(text), swallows)
                    if helper:
                        self.context.called[node] = helper
                case ReplaceSpan(start, end, text, swallows, is_optional):
                    edits.replace(start, end, self._text(text), swallows, is_optional)
                case InsertBefore(int(offset), text):
                    edits.before(offset, self._text(text))
                case InsertBefore(ast.AST() as node, text):
                    edits.before_node(node, self._text(text))
                case InsertAfter(int(offset), text):
                    edits.after(offset, self._text(text))
                case InsertAfter(ast.AST() as node, text):
                    edits.after_node(node, self._text(text))
                case RemoveStatement(node):
                    delete_statement(edits, node)
                case RemoveDecorator(decorator):
                    delete_decorator(edits, decorator)
                case Found(finding):
                    self.context.findings.append(finding)
                case Record(line, column, rule, before, after):
                    self.context.rewrites.append(Rewrite(line, column, rule, before, self._text(after)))
                case Claim(nodes):
                    self.context.handled |= nodes

    def _text(self, text: Text) -> str:
        return text if isinstance(text, str) else text(self.texts)
