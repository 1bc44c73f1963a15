"""`x + torch.tensor(np.log(2))`: a single number of float64 leaves x in float32; MindSpore's sum and difference would be float64."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ...read.uses import Use
from ..facts import Facts
from ..plan import AtNode, Change, Edit, InsertAfter, ReplaceNode, Texts
from .bindings import Names

HELPERS: dict[type[ast.operator], str] = {ast.Add: "plus", ast.Sub: "minus"}


def plan(facts: Facts) -> Iterator[Change]:
    if not facts.calls_for(Use.FROM_NUMBER):
        return
    for node in facts.source.of(ast.BinOp):
        if type(node.op) not in HELPERS:
            continue
        operands = (node.left, node.right)
        if all(facts.reading.type(each).is_tensor for each in operands) and any(
            _may_be_double(facts, each) for each in operands
        ):
            yield AtNode(node, partial(_rewrite, facts, node))
    for changed in facts.source.of(ast.AugAssign):
        is_plain = isinstance(changed.target, ast.Name | ast.Attribute) and isinstance(
            changed.value, ast.Name | ast.Call | ast.Attribute
        )
        are_tensors = all(facts.reading.type(each).is_tensor for each in (changed.target, changed.value))
        if is_plain and are_tensors and _may_be_double(facts, changed.value):
            yield AtNode(changed.value, partial(_cast, facts, changed))


def _may_be_double(facts: Facts, node: ast.expr) -> bool:
    """What is made of a number of numpy's, or of a number as float64; or a name for it."""
    if isinstance(node, ast.Name):
        names = facts.derived(Names)
        return any(_makes_double(facts, each) for each in names.values(node))
    if isinstance(node, ast.Attribute):
        return node.attr in facts.derived(_double_attributes)
    return _makes_double(facts, node)


def _double_attributes(facts: Facts) -> frozenset[str]:
    """`self.scale = torch.tensor(2.0, dtype=torch.float64)`, `self.register_buffer("scale", …)`: by their names, whatever they are of."""
    found = set()
    for call in facts.calls_for(Use.FROM_NUMBER):
        if _makes_double(facts, call):
            match facts.parents.get(call):
                case ast.Assign(targets=[ast.Attribute(attr=name)]):
                    found.add(name)
                case ast.Call(func=ast.Attribute(attr="register_buffer"), args=[ast.Constant(value=str(name)), *_]):
                    found.add(name)
    return frozenset(found)


def _makes_double(facts: Facts, node: ast.expr) -> bool:
    match node:
        case ast.Call(args=[given, *_], keywords=keywords) if facts.is_use(Use.FROM_NUMBER, node.func):
            kinds = [each.value for each in keywords if each.arg == "dtype"]
            if kinds:
                return facts.is_use(Use.DOUBLE, kinds[0]) and not isinstance(given, ast.List | ast.Tuple)
            return facts.reading.type(given).kind == "ndarray" or _is_of_numpy(facts, given)
    return False


def _is_of_numpy(facts: Facts, node: ast.expr) -> bool:
    """`np.log(2)`, also in a sum or a product."""
    if isinstance(node, ast.BinOp):
        return _is_of_numpy(facts, node.left) or _is_of_numpy(facts, node.right)
    return isinstance(node, ast.Call) and facts.reading.type(node.func).qual.startswith("numpy.")


def _cast(facts: Facts, node: ast.AugAssign, texts: Texts) -> Iterator[Edit]:
    """`x += y` leaves x in its type."""
    before = texts.of(node.value)
    yield InsertAfter(facts.source.end(node.value), f".astype({facts.source.text(node.target)}.dtype)")
    yield facts.record(node.value, "float64", before, texts.of(node.value))


def _rewrite(facts: Facts, node: ast.BinOp, texts: Texts) -> Iterator[Edit]:
    helper, before = HELPERS[type(node.op)], facts.source.text(node)
    yield ReplaceNode(node, f"{texts.name(f'compat.{helper}')}({texts.of(node.left)}, {texts.of(node.right)})")
    yield facts.record(node, f"operator {helper}", before, texts.of(node))
