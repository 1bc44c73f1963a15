"""What is to be changed in one file: fixers return typed changes, one place collects them and sees where two meet.

A change says *what*; its text may be a function of `Texts`, which gives the converted text of any part of the file. So
nothing is written while fixers plan, and a fixer can ask for the text that another one, or a rule, will have written.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from ..apis import Rule
from ..artifacts import Finding
from ..errors import MindferryError
from ..read.walk import walk

LAYER_PARAMETER = "compat.layer_parameter"  # the helper that finds a layer's parameter at run time


class Texts(Protocol):
    """The file as far as it is converted. Reading changes nothing."""

    def of(self, node: ast.AST) -> str:
        """The node's text with all changes so far."""

    def span(self, start: int, end: int) -> str: ...

    def kept(self, node: ast.AST) -> str:
        """The text that the node had once it was converted, before anything around it was (see `Keep`)."""

    def is_kept(self, node: ast.AST) -> bool:
        """Whether a fixer has asked for that."""

    def is_touched(self, node: ast.AST) -> bool:
        """Whether anything changed in it."""

    def is_removed(self, statement: ast.AST) -> bool: ...

    def calls(self, node: ast.AST, helper: str) -> bool:
        """Whether a call of the helper stands for the node, or for a part of it."""

    def name(self, qual: str) -> str:
        """How this file spells a name of MindSpore's or of a helper; the import is seen to."""


Text = str | Callable[[Texts], str]


@dataclass(frozen=True, slots=True)
class Claim:
    """The fixer takes care of these nodes: no rule touches them."""

    nodes: frozenset[ast.AST]


@dataclass(frozen=True, slots=True)
class UseRule:
    """The call follows another rule than its API's own."""

    call: ast.Call
    rule: Rule


@dataclass(frozen=True, slots=True)
class Note:
    """What the rule of a call wants to know and can't see from there: the images that a transform gets, a loader's columns."""

    node: ast.AST
    value: str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Keep:
    """The node's text is wanted as it is before its parent changes."""

    node: ast.AST


@dataclass(frozen=True, slots=True)
class MayBeAbsent:
    """What the import binds has a placeholder where the package can't be imported."""

    name: ast.alias


@dataclass(frozen=True, slots=True)
class ReplaceNode:
    node: ast.AST
    text: Text
    swallows: bool = False  # what others change inside it is meant to go
    helper: str = ""  # what is called there now, if others want to know: see `Texts.calls`


@dataclass(frozen=True, slots=True)
class ReplaceSpan:
    start: int
    end: int
    text: Text
    swallows: bool = False
    is_optional: bool = False  # not needed where what it stands in is written anew


@dataclass(frozen=True, slots=True)
class InsertBefore:
    """A prefix of the node, or of whatever starts at the offset. A node's own is no part of the text of what it begins with."""

    at: ast.AST | int
    text: Text


@dataclass(frozen=True, slots=True)
class InsertAfter:
    """A suffix of the node, or of whatever ends at the offset."""

    at: ast.AST | int
    text: Text


@dataclass(frozen=True, slots=True)
class RemoveStatement:
    """With its line, if nothing else is on it; comments stay."""

    node: ast.stmt


@dataclass(frozen=True, slots=True)
class RemoveDecorator:
    node: ast.expr


@dataclass(frozen=True, slots=True)
class Found:
    """Left with a finding, or converted with one."""

    finding: Finding


@dataclass(frozen=True, slots=True)
class Record:
    """A rewrite, for the report."""

    line: int
    column: int
    rule: str
    before: str
    after: Text


Edit = (
    ReplaceNode | ReplaceSpan | InsertBefore | InsertAfter | RemoveStatement | RemoveDecorator | Found | Record | Claim
)
Writer = Callable[[Texts], Iterable[Edit]]


@dataclass(frozen=True, slots=True)
class AtNode:
    """Written when the parts of the node are converted, before what stands around it is."""

    node: ast.AST
    write: Writer


@dataclass(frozen=True, slots=True)
class AtEnd:
    """Written when all rules have run, after the fixers that this one comes after."""

    write: Writer


Change = Edit | UseRule | Note | Keep | MayBeAbsent | AtNode | AtEnd


class Conflict(MindferryError):
    """Two changes meet, and one of them would be lost: a defect of ours. An error in tests."""


@dataclass(slots=True)
class Plan:
    """All changes of one file, each with the fixer that wants it."""

    claimed: set[ast.AST] = field(default_factory=set)
    rules: dict[ast.AST, Rule] = field(default_factory=dict)
    notes: dict[ast.AST, str | tuple[str, ...]] = field(default_factory=dict)
    kept: set[ast.AST] = field(default_factory=set)
    may_be_absent: set[ast.alias] = field(default_factory=set)
    edits: list[tuple[str, Edit]] = field(default_factory=list)  # known before any rule runs
    at_node: dict[ast.AST, tuple[str, Writer]] = field(default_factory=dict)
    at_end: list[tuple[str, Writer]] = field(default_factory=list)
    conflicts: list[tuple[int, str]] = field(default_factory=list)  # line, and what is lost there

    def add(self, owner: str, changes: Iterable[Change]) -> None:
        for change in changes:
            match change:
                case Claim(nodes):
                    self.claimed |= nodes
                case UseRule(call, rule):
                    self.rules[call] = rule
                case Note(node, value):
                    self.notes[node] = value
                case Keep(node):
                    self.kept.add(node)
                case MayBeAbsent(name):
                    self.may_be_absent.add(name)
                case AtNode(node, write):
                    if node in self.at_node:
                        other, _ = self.at_node[node]
                        self.clash(getattr(node, "lineno", 1), f"what {other} writes is lost in what {owner} writes")
                    self.at_node[node] = owner, write
                case AtEnd(write):
                    self.at_end.append((owner, write))
                case _:
                    self.edits.append((owner, change))

    def clash(self, line: int, message: str) -> None:
        """Two changes met. In tests that is an error; for a user the outer one stays, and a finding says so."""
        if os.environ.get("MINDFERRY_CONFLICTS") == "raise":
            raise Conflict(f"line {line}: {message}")
        self.conflicts.append((line, message))


def claim(*nodes: ast.AST) -> Claim:
    return Claim(frozenset(nodes))


def claim_all(*roots: ast.AST) -> Claim:
    """With everything inside them."""
    return Claim(frozenset(node for root in roots for node in walk(root)))
