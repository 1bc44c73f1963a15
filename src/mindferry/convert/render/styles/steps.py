"""Finds the functional form: forward_fn, grad_fn, `loss, grads = grad_fn(...)`, `optimizer(grads)`."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One training step, as the training pass writes it."""

    forward: ast.FunctionDef
    maker: ast.Assign  # grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)
    call: ast.Assign  # loss, grads = grad_fn(x, y)
    update: ast.Expr | None  # optimizer(grads); None if something happens to the gradients before
    scope: list[ast.stmt]  # the block in which forward_fn and grad_fn are defined
    block: list[ast.stmt]  # the block of the call

    @property
    def maker_call(self) -> ast.Call:
        assert isinstance(self.maker.value, ast.Call)
        return self.maker.value

    @property
    def optimizer(self) -> ast.expr:
        parameters = self.maker_call.args[2]
        assert isinstance(parameters, ast.Attribute)
        return parameters.value

    @property
    def inputs(self) -> list[ast.expr]:
        assert isinstance(self.call.value, ast.Call)
        return self.call.value.args

    @property
    def result(self) -> ast.expr:
        assert isinstance(self.call.targets[0], ast.Tuple)
        return self.call.targets[0].elts[0]


def find_steps(tree: ast.Module) -> Iterator[Step]:
    for node in ast.walk(tree):
        for block in _blocks(node):
            for first, second in itertools.pairwise(block):
                if isinstance(first, ast.FunctionDef) and isinstance(second, ast.Assign) and _makes(second, first.name):
                    name = second.targets[0].id  # type: ignore[attr-defined]
                    call = next(_calls(block[block.index(second) + 1 :], name), None)
                    if call is not None:
                        yield Step(first, second, call[0], _update(call[0], call[1], second), block, call[1])


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    found = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    return [block for block in found if isinstance(block, list) and block and isinstance(block[0], ast.stmt)]


def _makes(node: ast.Assign, forward: str) -> bool:
    match node:
        case ast.Assign(
            targets=[ast.Name()],
            value=ast.Call(
                func=ast.Attribute(attr="value_and_grad"), args=[ast.Name(id=name), _, ast.Attribute(attr="parameters")]
            ),
        ):
            return name == forward
    return False


def _calls(statements: list[ast.stmt], name: str) -> Iterator[tuple[ast.Assign, list[ast.stmt]]]:
    for statement in statements:
        for node in ast.walk(statement):
            for block in _blocks(node):
                yield from ((each, block) for each in block if _is_call(each, name))  # type: ignore[misc]
        if _is_call(statement, name):
            yield statement, statements  # type: ignore[misc]


def _is_call(node: ast.stmt, name: str) -> bool:
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=[_, ast.Name()])], value=ast.Call(func=ast.Name(id=called))):
            return called == name
    return False


def _update(call: ast.Assign, block: list[ast.stmt], maker: ast.Assign) -> ast.Expr | None:
    """The optimizer's call right after, with the gradients as they came."""
    position = block.index(call)
    following = block[position + 1] if position + 1 < len(block) else None
    grads = call.targets[0].elts[1].id  # type: ignore[attr-defined]
    match following:
        case ast.Expr(value=ast.Call(args=[ast.Name(id=given)], keywords=[])) if given == grads:
            return following
    return None
