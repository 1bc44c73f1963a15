"""Where a backward() can't be lifted: its gradients go along the graph that MindSpore records while the code runs, as torch's do."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .... import findings
from ....read.uses import Use
from ...facts import Facts
from ...plan import Change, Edit, InsertBefore, ReplaceNode, Texts, claim

if TYPE_CHECKING:
    from .steps import Called

DERIVED = ("outputs", "inputs", "grad_outputs", "retain_graph")
SETTINGS = ("gradient", "retain_graph", "create_graph", "inputs")


def are_recordable(facts: Facts, calls: list[Called]) -> bool:
    """All of a file's, or none: what value_and_grad is given would take the recorded graph of its inputs along, and free it.

    MindSpore's recorded second derivatives are not right; Lightning's own steps end the recording.
    """
    first = all(_is_first_derivative(each) for each in facts.calls_for(Use.DERIVATIVE))
    return first and all(_is_recordable(each) for each in calls)


def _is_first_derivative(call: ast.Call) -> bool:
    """`torch.autograd.grad` that keeps no graph, of arguments that can be told."""
    names = [each.arg for each in call.keywords]
    is_kept = any(
        each.arg == "create_graph" and not (isinstance(each.value, ast.Constant) and each.value.value is False)
        for each in call.keywords
    )
    is_told = not any(isinstance(each, ast.Starred) for each in call.args) and None not in names
    is_told = is_told and len({*DERIVED[: len(call.args)], *names} & set(DERIVED[:2])) == 2
    return is_told and not is_kept and len(call.args) <= len(DERIVED) and "is_grads_batched" not in names


def hold_derivatives(facts: Facts, lifted: Iterable[ast.stmt]) -> bool:
    """Whether a gradient is taken inside of a loss, where MindSpore can't index a tensor."""
    calls = facts.calls_for(Use.DERIVATIVE)
    return bool(calls) and any(facts.is_within(call, statement) for statement in lifted for call in calls)


def _is_recordable(called: Called) -> bool:
    is_told = (not called.call.args and not called.call.keywords) or bool(called.given)
    is_second = isinstance(called.given.get("create_graph"), ast.Constant)  # and not False, which is no refusal
    return is_told and not (is_second and called.refusal) and not _is_of_lightning(called)


def _is_of_lightning(called: Called) -> bool:
    match called.statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="manual_backward"))):
            return True
    return False


def plan(facts: Facts, calls: list[Called]) -> Iterator[Change]:
    from .steps import advice_for

    for each in calls:
        assert isinstance(each.statement, ast.Expr) and isinstance(each.statement.value, ast.Call)
        call = each.statement.value
        yield claim(call, call.func)
        if each.refusal:
            message = (
                f"gradients go along the graph that is recorded as the code runs, in PyNative mode: {each.refusal}"
            )
            advice = f"it runs as it is; for a step that can be compiled, {advice_for(facts, each)}"
            yield facts.found(each.statement, findings.MF209, message, advice)
    for node in facts.calls_for(Use.DERIVATIVE) if calls else []:
        yield claim(node, node.func)


def write(facts: Facts, calls: list[Called], texts: Texts) -> Iterator[Edit]:
    if not calls:
        return
    source, newline = facts.source, facts.source.newline()
    for each in calls:
        given = [f"{name}={texts.of(each.given[name])}" for name in SETTINGS if name in each.given]
        now = f"{texts.name('compat.backward_along_graph')}({', '.join([texts.of(each.loss), *given])})"
        before = source.text(each.statement)
        yield ReplaceNode(each.statement, now)
        yield facts.record(each.statement, facts.uses.name(Use.BACKWARD), before, now)
    for node in facts.calls_for(Use.DERIVATIVE):
        yield ReplaceNode(node, _derivative(node, texts))
        yield facts.record(node, facts.api(node.func), source.text(node), texts.of(node))
    first = _first_after_imports(source.tree.body)
    start = min(source.start(each) for each in (first, *getattr(first, "decorator_list", ())))
    yield InsertBefore(source.line_start(start), f"{texts.name('compat.record_graphs')}(){newline}{newline}{newline}")


def _derivative(call: ast.Call, texts: Texts) -> str:
    given = dict(zip(DERIVED, call.args, strict=False)) | {each.arg: each.value for each in call.keywords if each.arg}
    arguments = [texts.of(given[name]) for name in DERIVED[:2]]
    arguments += [f"{name}={texts.of(given[name])}" for name in DERIVED[2:] if name in given]
    return f"{texts.name('compat.gradients_along_graph')}({', '.join(arguments)})"


def _first_after_imports(body: list[ast.stmt]) -> ast.stmt:
    last = max((place for place, each in enumerate(body) if isinstance(each, ast.Import | ast.ImportFrom)), default=-1)
    return body[min(last + 1, len(body) - 1)]
