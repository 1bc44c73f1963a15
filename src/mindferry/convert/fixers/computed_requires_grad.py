"""`if loss.requires_grad:`: only parameters have it in MindSpore. A tensor that was computed carries no graph, and would always say no."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import findings
from ...read.framework import Role
from ...read.uses import Use
from ..facts import Facts
from ..plan import Change, ReplaceNode, claim
from .bindings import Names
from .make_leaf_parameters import is_leaf

CUT_OFF = frozenset("detach data item tolist numpy size shape".split())


def plan(facts: Facts) -> Iterator[Change]:
    for node in facts.source.of(ast.Attribute):
        if node.attr != "requires_grad" or not isinstance(node.ctx, ast.Load):
            continue
        backward = _differentiating_function(facts, node)
        if backward is not None and _is_closure(facts, backward):
            yield claim(node)
            yield ReplaceNode(node, "True")  # an optimizer calls it to get gradients
            yield facts.record(node, "requires_grad of a loss", facts.source.text(node), "True")
        elif backward is not None or (facts.reading.type(node.value).is_tensor and _is_computed(facts, node.value)):
            yield claim(node)
            yield facts.found(
                node,
                findings.MF101,
                f"{facts.source.text(node)}: MindSpore differentiates functions, a computed tensor doesn't know whether it has a gradient",
                "ask a parameter, or keep in a variable whether this is a training step",
            )


def _differentiating_function(facts: Facts, node: ast.Attribute) -> ast.FunctionDef | None:
    """The function around `loss.requires_grad` that also says `loss.backward()`."""
    function = facts.enclosing(node, ast.FunctionDef, ast.Lambda)
    asked = ast.dump(node.value)
    if not isinstance(function, ast.FunctionDef) or not isinstance(node.value, ast.Name):
        return None
    for each in ast.walk(function):
        match each:
            case ast.Call(func=ast.Attribute(value=loss, attr="backward")) if ast.dump(loss) == asked:
                return function
    return None


def _is_closure(facts: Facts, function: ast.FunctionDef) -> bool:
    """`optimizer.step(closure)`."""
    given = [call.args[0] for call in facts.source.of(ast.Call) if call.args and _method(call) == "step"]
    names = {each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in given}
    return function.name in names


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _is_computed(facts: Facts, node: ast.expr) -> bool:
    return not (isinstance(node, ast.Name) and is_leaf(facts, node)) and _has_gradient(facts, node, frozenset())


def _has_gradient(facts: Facts, node: ast.expr, seen: frozenset[str]) -> bool:
    """Whether a network's output or a leaf goes into it, as far as the function shows."""
    match node:
        case ast.BinOp(left=left, right=right):
            return _has_gradient(facts, left, seen) or _has_gradient(facts, right, seen)
        case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner):
            return _has_gradient(facts, inner, seen)
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Attribute(attr=name) if name in CUT_OFF:
            return False
        case ast.Call(keywords=keywords) if any(_asks_for_one(each) for each in keywords):
            return True
        case ast.Call(func=ast.Attribute(value=owner)) if facts.reading.type(owner).is_tensor:
            return _has_gradient(facts, owner, seen)
        case ast.Call(func=function, args=given):
            kind = facts.reading.type(function)
            is_network = kind.kind == "instance" and facts.reading.symbols.role(kind.qual) in (Role.NETWORK, Role.LOSS)
            is_function = facts.framework.has(facts.api(function))
            return is_network or (is_function and any(_has_gradient(facts, each, seen) for each in given))
        case ast.Name(id=name) if name not in seen:
            return is_leaf(facts, node) or _was_given_one(facts, node, seen | {name})
    return False


def _asks_for_one(keyword: ast.keyword) -> bool:
    """`torch.ones(3, requires_grad=True)`."""
    return keyword.arg == "requires_grad" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True


def _was_given_one(facts: Facts, name: ast.Name, seen: frozenset[str]) -> bool:
    """By its last assignment above, unless gradients are off there."""
    names = facts.derived(Names)
    place = names.last_bound(name)
    stores = [each for each in names.stores(names.scope(name), name.id) if facts.source.start(each) == place]
    statements = [facts.parents.get(each) for each in stores]
    return any(
        isinstance(each, ast.Assign) and not _is_off(facts, each) and _has_gradient(facts, each.value, seen)
        for each in statements
    )


def _is_off(facts: Facts, node: ast.AST) -> bool:
    block = facts.enclosing(node, ast.With, ast.FunctionDef)
    while isinstance(block, ast.With):
        marks = [item.context_expr for item in block.items]
        if any(facts.is_use(Use.NO_GRADIENT, each.func if isinstance(each, ast.Call) else each) for each in marks):
            return True
        block = facts.enclosing(block, ast.With, ast.FunctionDef)
    marks = getattr(block, "decorator_list", [])
    return any(facts.is_use(Use.NO_GRADIENT, each.func if isinstance(each, ast.Call) else each) for each in marks)
