"""What only torch's own kernels and compilers need goes: `cudnn.benchmark = True`, `@torch.jit.ignore`, `not is_scripting() and`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from ...read.uses import Use
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, RemoveDecorator, RemoveStatement, ReplaceNode, ReplaceSpan, Texts, claim_all

JOINT = re.compile(rb"\s+(?:and|or)\s+")
NOT_COMPILED = "compat.uncompiled"  # what the rules of torch's compiler decorators stand for


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
LOOKED_AT = frozenset({ast.Assign, ast.BoolOp, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})


def plan(facts: Facts) -> Iterator[Change]:
    for statement in _memory_calls(facts):
        yield claim_all(statement)
    for node in facts.derived(_looked_at):
        if isinstance(node, Definition):
            for decorator in node.decorator_list:
                if _is_idle(facts, decorator):
                    yield claim_all(decorator)
        elif _is_setting(facts, node):
            yield claim_all(node)
    yield AtEnd(partial(_write, facts))


def _memory_calls(facts: Facts) -> Iterator[ast.Expr | ast.Call]:
    """`self.rnn.flatten_parameters()`: only where torch's kernels find the weights is arranged there.

    The statement, also `[m.flatten_parameters() for m in self.rnns]`; the call where it is a part of more, as in a lambda.
    """
    framework = facts.framework
    memory = framework.uses.exact.get(Use.ARRANGES_MEMORY, frozenset())
    for call in facts.source.calls_named(*memory, *framework.uses.exact.get(Use.CHECKS_INPUT, ())):
        statement = _whole(facts, call)
        is_memory = isinstance(call.func, ast.Attribute) and call.func.attr in memory and not call.args
        if not isinstance(call.func, ast.Attribute) or not (is_memory or isinstance(statement, ast.Expr)):
            continue
        if _is_of_layer(facts, call.func) or (is_memory and not _is_own(facts, call.func.attr)):
            yield statement


def _whole(facts: Facts, call: ast.Call) -> ast.Expr | ast.Call:
    around = facts.parents.get(call)
    if isinstance(around, ast.ListComp) and isinstance(around.generators[0].iter, ast.Name | ast.Attribute):
        around = facts.parents.get(around) if len(around.generators) == 1 else None
    return around if isinstance(around, ast.Expr) else call


def _is_of_layer(facts: Facts, method: ast.Attribute) -> bool:
    """Whether it is called on a layer of torch's, or on a class of the project's that has it from one."""
    kind, symbols = facts.reading.type(method.value), facts.reading.symbols
    if kind.kind != "instance" or symbols.method(kind.qual, method.attr) is not None:
        return False
    base = symbols.torch_base(kind.qual)
    return base != facts.framework.network and facts.uses.has(Use.NETWORK_PART, base)


def _is_own(facts: Facts, name: str) -> bool:
    return any(facts.reading.symbols.classes.with_method(name))


def _looked_at(facts: Facts) -> list[ast.AST]:
    return [each for each in facts.source.nodes if type(each) in LOOKED_AT]


def _is_setting(facts: Facts, node: ast.AST) -> bool:
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Attribute):
        return False
    owner = facts.api(node.targets[0].value)
    return bool(owner) and facts.uses.has(Use.SETTING, f"{owner}.")


def _is_idle(facts: Facts, decorator: ast.expr) -> bool:
    entry = facts.rules.get(facts.api(decorator.func if isinstance(decorator, ast.Call) else decorator))
    return entry is not None and entry.like == NOT_COMPILED


def _write(facts: Facts, texts: Texts) -> Iterator[Edit]:
    source = facts.source
    for statement in _memory_calls(facts):
        before = source.text(statement)
        if isinstance(statement, ast.Call):
            yield ReplaceNode(statement, "None")
        elif len(facts.block_of(statement)) == 1:
            yield ReplaceNode(statement, "pass")
        else:
            yield RemoveStatement(statement)
        yield facts.record(statement, "memory", before, "None" if isinstance(statement, ast.Call) else "")
    for node in facts.derived(_looked_at):
        if isinstance(node, ast.Assign) and _is_setting(facts, node):
            yield from _remove_setting(facts, node)
        elif isinstance(node, ast.BoolOp):
            yield from _remove_constants(facts, node, texts)
        elif isinstance(node, Definition):
            for decorator in node.decorator_list:
                if _is_idle(facts, decorator):
                    yield RemoveDecorator(decorator)
                    yield facts.record(decorator, "decorator", source.text(decorator), "")


def _remove_setting(facts: Facts, node: ast.Assign) -> Iterator[Edit]:
    target = node.targets[0]
    assert isinstance(target, ast.Attribute)
    before = facts.source.text(node)
    is_on = isinstance(node.value, ast.Constant) and node.value.value is True
    if target.attr == "deterministic" and is_on:
        yield ReplaceNode(node, lambda texts: f"{texts.name('compat.set_deterministic')}(True)")
    elif len(facts.block_of(node)) == 1:
        yield ReplaceNode(node, "pass")
    else:
        yield RemoveStatement(node)
    yield facts.record(node, "setting", before, lambda texts: texts.of(node))


def _remove_constants(facts: Facts, node: ast.BoolOp, texts: Texts) -> Iterator[Edit]:
    """`not False and x.ndim == 2` is `x.ndim == 2`: what asked for torch's compiler is decided."""
    source = facts.source
    idle = "False" if isinstance(node.op, ast.Or) else "not False"
    if not texts.is_touched(node):
        return
    is_idle = [texts.of(each) == idle and source.text(each) != idle for each in node.values]
    for index, value in enumerate(node.values):
        if not is_idle[index]:
            continue
        if not all(is_idle[: index + 1]):  # something stays before it
            before = source.end(node.values[index - 1])
            if JOINT.fullmatch(source.data, before, source.start(value)):
                yield ReplaceSpan(before, source.end(value), "", swallows=True)
        elif index + 1 < len(node.values):
            after = source.start(node.values[index + 1])
            if JOINT.fullmatch(source.data, source.end(value), after):
                yield ReplaceSpan(source.start(value), after, "", swallows=True)
