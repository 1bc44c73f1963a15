"""The line to look at where no value shows it, read from the two methods: outputs are right and a gradient is not, a child is called wrongly."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from ..frameworks.requests import SourceText

CUTS = re.compile(r"stop_gradient|\.detach\b|no_grad|\.data\b|requires_grad|StopGradient")


@dataclass(frozen=True, slots=True)
class Statement:
    line: int
    text: str
    target: str  # what it assigns; "return"

    @property
    def is_cut(self) -> bool:
        return bool(CUTS.search(self.text))


def gradient_lines(theirs: SourceText, ours: SourceText, names: Sequence[str]) -> str:
    """A cut that one side alone has; else where one of `names` (a parameter, a child) is used. "" if neither is found."""
    right, wrong = _statements(theirs), _statements(ours)
    return _said(theirs, ours, _cut(right, wrong) or _use(right, wrong, names))


def use_lines(theirs: SourceText, ours: SourceText, name: str) -> str:
    """Where a child is called, whose arguments are computed there: no variable holds them."""
    return _said(theirs, ours, _use(_statements(theirs), _statements(ours), [name]))


def _said(theirs: SourceText, ours: SourceText, pair: tuple[Statement | None, Statement, str] | None) -> str:
    if pair is None:
        return ""
    other, found, what = pair
    said = f"{ours.file}:{found.line} {what}:\n    {found.text}"
    return said + (f"\n{theirs.file}:{other.line} in torch:\n    {other.text}" if other is not None else "")


def _cut(right: list[Statement], wrong: list[Statement]) -> tuple[Statement | None, Statement, str] | None:
    """Statements are matched by what they assign and how often that was assigned before."""
    twins = _by_place(right)
    for place, found in _by_place(wrong).items():
        twin = twins.get(place)
        if found.is_cut != (twin is not None and twin.is_cut) and (found.is_cut or twin is not None):
            what = "stops the gradient, torch does not" if found.is_cut else "lets the gradient through, torch stops it"
            return twin, found, what
    return None


def _use(
    right: list[Statement], wrong: list[Statement], names: Sequence[str]
) -> tuple[Statement | None, Statement, str] | None:
    for name in names:
        word = re.compile(rf"\bself\.{re.escape(name)}\b")
        found = next((each for each in wrong if word.search(each.text)), None)
        if found is not None:
            return next((each for each in right if word.search(each.text)), None), found, f"uses {name}"
    return None


def _by_place(statements: list[Statement]) -> dict[tuple[str, int], Statement]:
    counts: dict[str, int] = {}
    found = {}
    for each in statements:
        number = counts[each.target] = counts.get(each.target, -1) + 1
        found[each.target, number] = each
    return found


def _statements(source: SourceText) -> list[Statement]:
    try:
        tree = ast.parse(textwrap.dedent(source.text))
    except SyntaxError:
        return []
    lines = source.text.splitlines()
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Expr):
            text = " ".join(line.strip() for line in lines[node.lineno - 1 : node.end_lineno])
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            target = (
                "return" if isinstance(node, ast.Return) else ", ".join(ast.unparse(each) for each in targets if each)
            )
            found.append(Statement(source.line + node.lineno - 1, text, target))
    return sorted(found, key=lambda each: each.line)
