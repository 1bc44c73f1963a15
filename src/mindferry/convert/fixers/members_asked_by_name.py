"""`hasattr(x, "detach")`, `getattr(x, "grad", None)`: MindSpore's tensors and cells lack some of what torch's have, and would answer no."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ... import findings
from ...apis.torch._members import Member, member
from ...read.types import MODULE, Type
from ..dispatch import FACES, is_named_like_layer
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, ReplaceNode, Texts

AFTER = ("layer_members_by_name", "forward_names")
TWINS = {"Tensor": "mindspore.Tensor", "Module": "mindspore.nn.Cell"}
# Words that settings and other objects have too: only of what is known to be a tensor or a network.
COMMON = frozenset(
    "cuda cpu type float double half mode name values indices new train eval children modules layout forward put fix "
    "char solve lu dist".split()
)


def plan(facts: Facts) -> Iterator[Change]:
    if not facts.source.mentions(facts.framework.name):
        return
    for call in facts.source.calls_named("hasattr", "getattr"):
        match call:
            case ast.Call(func=ast.Name(id=asked), args=[owner, ast.Constant(value=str(name)), *default]) if (
                name not in FACES and _may_be_either(facts, owner, name)
            ):
                lacking = [each for each in map(partial(_twin, name), TWINS) if each]
                if all(each.is_held for each in lacking):
                    continue
                if asked == "hasattr":
                    yield AtEnd(partial(_write, facts, call, [each.owner for each in lacking]))
                elif _is_told_otherwise(facts.reading.type(owner), lacking, default):
                    yield facts.found(
                        call,
                        findings.MF123,
                        f"{facts.source.text(call)}: MindSpore's {_noun(lacking)} no {name}",
                        "write it with a dot, as an attribute: that is converted",
                        "error",
                    )


def _twin(name: str, owner: str) -> Member | None:
    return member(owner, name)


def _noun(members: list[Member]) -> str:
    return "tensors have" if any(each.owner == "Tensor" for each in members) else "cells have"


def _may_be_either(facts: Facts, owner: ast.expr, name: str) -> bool:
    """A tensor or a network, for all that is known; another's own class, and the settings of a script, are neither."""
    kind = facts.reading.type(owner)
    if name == "forward" and kind.kind == "instance":
        return False  # forward_names
    return (kind.kind == "unknown" and is_named_like_layer(owner)) or kind.is_tensor or kind == MODULE


def _is_told_otherwise(kind: Type, lacking: list[Member], default: list[ast.expr]) -> bool:
    """What `getattr` gives would be another thing: no method, or no gradient where there is one."""
    name = lacking[0].name
    if name in COMMON and kind.kind == "unknown":
        return False
    is_method = any(each.is_method and not each.is_held for each in lacking)
    return is_method or name == "grad" or not default


def _write(facts: Facts, call: ast.Call, owners: list[str], texts: Texts) -> Iterator[Edit]:
    """`isinstance(x, ms.Tensor) or hasattr(x, "detach")`; what can't be written twice is asked by a helper."""
    before = texts.of(call)
    kinds = [texts.name(TWINS[each]) for each in owners]
    kind = kinds[0] if len(kinds) == 1 else f"({', '.join(kinds)})"
    owner = texts.of(call.args[0])
    if any(isinstance(each, ast.Call | ast.NamedExpr | ast.Await) for each in ast.walk(call.args[0])):
        text = f"{texts.name('compat.has_name')}({owner}, {texts.of(call.args[1])}, {kind})"
    else:
        text = f"isinstance({owner}, {kind}) or {before}"
        text = f"({text})" if _binds_tighter(facts.parents.get(call)) else text
    yield ReplaceNode(call, text)
    yield facts.record(call, facts.framework.network, before, text)


def _binds_tighter(parent: ast.AST | None) -> bool:
    is_and = isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And)
    return is_and or isinstance(parent, ast.UnaryOp | ast.BinOp | ast.Compare)
