"""Optimizers that only some runs have: made under a condition, or None until then."""

from __future__ import annotations

import ast

from ....read.walk import walk_again as walk
from .draft import Draft
from .steps import Backward

PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Subscript)
PARTS = (*PLAIN, ast.expr_context, ast.boolop, ast.cmpop, ast.unaryop)


def if_made(draft: Draft, each: Backward, optimizer: ast.expr) -> str:
    """`(optimizer.parameters if args.decodes else [])`, by the condition that it is made under; '' if that may have changed since."""
    stores = draft.stores(optimizer.id) if isinstance(optimizer, ast.Name) else []
    tests = _conditions(draft, each, stores[0]) if len(stores) == 1 else []
    names = {part.id for test, _ in tests for part in walk(test) if isinstance(part, ast.Name)}
    is_plain = all(isinstance(part, PARTS) for test, _ in tests for part in walk(test))
    made = draft.source.start(stores[0]) if stores else 0
    is_fixed = all(draft.source.start(node) < made for name in names for node in draft.bound_within(name, each.scope))
    if not tests or not is_plain or not is_fixed:
        return ""
    texts = [f"({draft.texts.of(test)})" if holds else f"not ({draft.texts.of(test)})" for test, holds in tests]
    condition = draft.texts.of(tests[0][0]) if len(tests) == 1 and tests[0][1] else " and ".join(texts)
    return f"({draft.source.text(optimizer)}.parameters if {condition} else [])"


def _conditions(draft: Draft, each: Backward, store: ast.Name) -> list[tuple[ast.expr, bool]]:
    """The tests around it that the backward() is outside of, the outermost first, and whether each holds there; [] if a loop is among them."""
    found: list[tuple[ast.expr, bool]] = []
    inner: ast.AST = store
    current = draft.parents.get(store)
    while current is not None and not draft.is_within(each.statement, current):
        if isinstance(current, ast.If):
            found.insert(0, (current.test, inner in current.body))
        elif not isinstance(current, ast.Assign):
            return []
        inner, current = current, draft.parents.get(current)
    return found


def may_be_none(draft: Draft, optimizer: ast.expr) -> bool:
    """`self.opt_d = None`, `opt_d = Adam(…) if adversarial else None`, `def train(net, opt, opt_d=None)`."""
    text = draft.source.text(optimizer)
    is_argument = isinstance(optimizer, ast.Name) and optimizer.id in draft.derived(_left_out)
    return is_argument or text in draft.derived(_set_to_none)


def _set_to_none(draft: Draft) -> set[str]:
    found = set()
    for node in draft.source.of(ast.Assign):
        value = node.value
        sides = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
        if any(isinstance(side, ast.Constant) and side.value is None for side in sides):
            found |= {draft.source.text(each) for each in node.targets if isinstance(each, ast.Name | ast.Attribute)}
    return found


def _left_out(draft: Draft) -> set[str]:
    """Arguments whose default is None."""
    found: set[str] = set()
    for node in draft.source.of(ast.FunctionDef):
        taken = node.args
        pairs = [*zip(reversed([*taken.posonlyargs, *taken.args]), reversed(taken.defaults), strict=False)]
        pairs += [(one, value) for one, value in zip(taken.kwonlyargs, taken.kw_defaults, strict=True) if value]
        found |= {one.arg for one, value in pairs if isinstance(value, ast.Constant) and value.value is None}
    return found
