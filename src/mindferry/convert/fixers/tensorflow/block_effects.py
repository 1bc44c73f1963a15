"""What a tape's block does beside computing: a tape that runs its block again for each gradient does it again."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts import Facts

# These the helpers leave out when a block runs again, or they change nothing but a shape's text.
HARMLESS = frozenset(
    "watch update_state reset_state reset_states assign assign_add assign_sub add_loss set_shape build summary".split()
)
DRAWS = ("np.random.", "numpy.random.", "random.")
MOVES = frozenset({"step", "reset", "pop", "popleft", "__next__"})  # of an environment, a queue or an iterator


def effects_of(facts: Facts, body: list[ast.stmt], own: set[str]) -> list[str]:
    """The text of what must not be done twice; `own` names the block's own values."""
    found = []
    for statement in body:
        for node in facts.source.walk(statement):
            if is_effect(facts, node, own):
                text = facts.source.text(node).splitlines()[0]
                found.append(text if len(text) <= 40 else f"{text[:37]}...")
    return list(dict.fromkeys(found))


def is_effect(facts: Facts, node: ast.AST, own: set[str]) -> bool:
    if isinstance(node, ast.AugAssign):  # counted up somewhere else
        return isinstance(node.target, ast.Attribute | ast.Subscript) and _root(node.target) not in own
    if isinstance(node, ast.Call):
        if (facts.api(node.func) or "").startswith(("tensorflow.", "keras.")):
            return False
        return looks_like_move(node, own) or (_is_statement(facts, node) and _root(node.func) not in own | {"super"})
    return False


def looks_like_move(call: ast.Call, own: set[str]) -> bool:
    """A guess by name, used where a wrong one is a warning too many: `env.step(action)`, `next(batches)`, `np.random.rand()`."""
    text = ast.unparse(call.func)
    if text == "next" or text.startswith(DRAWS):
        return True
    return isinstance(call.func, ast.Attribute) and call.func.attr in MOVES and _root(call.func) not in own


def _is_statement(facts: Facts, call: ast.Call) -> bool:
    """A call whose result nobody takes is made for what it does."""
    is_harmless = isinstance(call.func, ast.Attribute) and call.func.attr in HARMLESS
    return isinstance(facts.parents.get(call), ast.Expr) and not is_harmless


def _root(node: ast.AST) -> str:
    return next(_roots(node), "")


def _roots(node: ast.AST) -> Iterator[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    if isinstance(node, ast.Name):
        yield node.id
