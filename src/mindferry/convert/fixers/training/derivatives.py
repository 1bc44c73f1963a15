"""`torch.autograd.grad(outputs, inputs)`: what lies between the inputs and the outputs becomes a function, differentiated by `ms.grad`."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

from .... import findings
from ....read.uses import Use
from ....read.walk import walk_again as walk
from ...facts import Facts
from ...free_names import FreeNames
from ...plan import Change, Edit, InsertBefore, RemoveStatement, ReplaceNode, claim, claim_all
from ...refused import Refused
from . import asked_parameters, flow, sources
from .draft import Draft
from .write import indentation

NAMES = (
    "outputs",
    "inputs",
    "grad_outputs",
    "retain_graph",
    "create_graph",
    "only_inputs",
    "allow_unused",
    "is_grads_batched",
)
PATTERN = "write what leads from the inputs to the output as a function: `def f(x): return model(x).sum()`, then `ms.grad(f)(x)`"

RESHAPES = frozenset("view reshape flatten Flatten squeeze sum mean unflatten Unflatten".split())


@dataclass(slots=True)
class Derivative:
    """One call of torch.autograd.grad that can be lifted."""

    call: ast.Call
    statement: ast.stmt
    scope: ast.AST
    outputs: ast.expr
    inputs: list[str]  # empty: by a network's parameters
    parameters: ast.expr | None
    weights: ast.expr | None  # grad_outputs, unless they are ones
    lifted: list[ast.stmt] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    is_compiled: bool = False  # it is differentiated again, through what MindSpore follows twice in a graph only


def find(facts: Facts) -> tuple[list[Derivative], list[Change]]:
    """All of them, and what is known at once; those that can't be lifted become findings."""
    found: list[Derivative] = []
    planned: list[Change] = []
    for call in sorted(facts.calls_for(Use.DERIVATIVE), key=facts.source.start):
        planned.append(claim(call, call.func))
        try:
            found.append(_read(facts, call))
        except Refused as reason:
            planned.append(facts.found(call, findings.MF205, f"this gradient was not lifted: {reason}", PATTERN))
    carrying = _carrying_by_scope(found)
    for each in found:
        each.arguments = _arguments(facts, each, carrying[each.scope])
        if any(name not in each.arguments for name in each.inputs):
            message = "this gradient was not lifted: its output doesn't depend on all of its inputs"
            planned.append(facts.found(each.call, findings.MF205, message, PATTERN))
    lifted = [each for each in found if all(name in each.arguments for name in each.inputs)]
    calls = Calls(facts, lifted)
    for each in lifted:
        if not _is_differentiated_again(each.call) or not _may_reshape(facts):
            continue
        each.is_compiled = len(each.inputs) == 1 and not calls.is_linked(each)
        if not each.is_compiled:
            message = "the layers behind a reshape or a sum may get a second derivative of zero from MindSpore"
            severity = "error" if _networks(facts) else ""  # the file's own do reshape; of others nothing is known
            planned.append(facts.found(each.call, findings.MF208, message, findings.MF208.advice, severity))
    # A rule would leave a bare `x` of `x.requires_grad_()`, which is tidied away.
    planned += [claim_all(statement) for statement, _ in _fresh_inputs(facts, lifted)]
    return lifted, planned


def _read(facts: Facts, call: ast.Call) -> Derivative:
    given = dict(zip(NAMES, call.args, strict=False)) | {key.arg: key.value for key in call.keywords if key.arg}
    if any(isinstance(each, ast.Starred) for each in call.args) or any(key.arg is None for key in call.keywords):
        raise Refused("its arguments can't be told")
    for name in ("allow_unused", "is_grads_batched", "materialize_grads"):
        if name in given and not (isinstance(given[name], ast.Constant) and not given[name].value):  # type: ignore[attr-defined]
            raise Refused(f"{name} has no counterpart: an unused input would be zeros here")
    if "outputs" not in given or "inputs" not in given:
        raise Refused("its outputs or inputs are not given")
    statement = facts.statement_of(call)
    scope = facts.enclosing(statement, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree
    outputs = _single(given["outputs"])
    inputs, parameters = _inputs(facts, given["inputs"])
    weights = given.get("grad_outputs")
    weights = None if weights is None or _is_ones(facts, weights, outputs) else _single(weights)
    each = Derivative(call, statement, scope, outputs, inputs, parameters, weights)
    before = flow.statements_before(facts, statement, scope)
    each.lifted = _between(facts, before, each)
    if (
        not each.lifted
        and not flow.reads(outputs, with_gradient=True) & set(inputs)
        and not (parameters and sources.carries(facts, outputs))
    ):
        raise Refused(f"how {facts.source.text(outputs)} is computed from its inputs can't be seen from here")
    return each


class Calls:
    """The gradients of a file, by where they are taken."""

    def __init__(self, facts: Facts, found: list[Derivative]) -> None:
        self._facts, self.found = facts, found
        self._ordered = sorted(found, key=self._start)
        self.at = {each.call: each for each in found}
        self.lifting: dict[ast.AST, list[Derivative]] = {}  # by the statements that they take along
        for each in found:
            for statement in each.lifted:
                self.lifting.setdefault(statement, []).append(each)

    def _start(self, each: Derivative) -> int:
        return self._facts.source.start(each.call)

    def inside(self, node: ast.AST) -> list[Derivative]:
        """Those that are taken within the node."""
        source = self._facts.source
        low = bisect.bisect_left(self._ordered, source.start(node), key=self._start)
        return self._ordered[low : bisect.bisect_left(self._ordered, source.end(node), key=self._start)]

    def is_linked(self, each: Derivative) -> bool:
        """Whether it is computed from another gradient, or another from it: such a pair is not compiled."""
        if any(other is not each for statement in each.lifted for other in self.inside(statement)):
            return True
        around: ast.AST | None = each.call
        while around is not None:
            if any(other is not each for other in self.lifting.get(around, ())):
                return True
            around = self._facts.parents.get(around)
        return False


def _is_differentiated_again(call: ast.Call) -> bool:
    return any(
        key.arg == "create_graph" and not (isinstance(key.value, ast.Constant) and not key.value.value)
        for key in call.keywords
    )


def _networks(facts: Facts) -> list[ast.AST]:
    owners, symbols = facts.reading.owners, facts.reading.symbols
    return [node for node, qual in owners.items() if isinstance(node, ast.ClassDef) and symbols.is_module(qual)]


def _may_reshape(facts: Facts) -> bool:
    """Whether a network of this file changes shapes between its layers; where it has none, nothing tells."""
    networks = _networks(facts)
    calls = [part for network in networks for part in walk(network) if isinstance(part, ast.Call)]
    return not networks or any(getattr(part.func, "attr", getattr(part.func, "id", "")) in RESHAPES for part in calls)


def _single(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.List | ast.Tuple):
        if len(node.elts) != 1 or isinstance(node.elts[0], ast.Starred):
            raise Refused("it has several outputs")
        return node.elts[0]
    return node


def _inputs(facts: Facts, node: ast.expr) -> tuple[list[str], ast.expr | None]:
    if isinstance(node, ast.Name):
        return [node.id], None
    if isinstance(node, ast.List | ast.Tuple) and node.elts and all(isinstance(each, ast.Name) for each in node.elts):
        return [each.id for each in node.elts if isinstance(each, ast.Name)], None
    if any(isinstance(each, ast.Attribute) and each.attr == "parameters" for each in walk(node)):
        return [], node
    raise Refused(f"{facts.source.text(node)} is no variable")


def _is_ones(facts: Facts, weights: ast.expr, outputs: ast.expr) -> bool:
    if isinstance(weights, ast.Constant) and weights.value is None:
        return True
    if isinstance(weights, ast.List | ast.Tuple) and len(weights.elts) == 1:
        weights = weights.elts[0]
    if not isinstance(weights, ast.Call) or not weights.args:
        return False
    size = ast.unparse(weights.args[0]).removesuffix(".size()").removesuffix(".shape")
    return facts.is_use(Use.ONES, weights.func) and size == ast.unparse(outputs)


def _between(facts: Facts, before: list[flow.Beginning], each: Derivative) -> list[ast.stmt]:
    """The statements that lead from the inputs, as they are last set, to the output."""
    changed = facts.derived(sources.changed_by_callees)
    chosen = flow.slice_for(facts, before, each.outputs, changed, asked_parameters.makes_object)
    if each.parameters is not None:
        lifted = sources.differentiable(facts, chosen)
    else:
        lifted, carrying = [], set(each.inputs)
        for statement in (statement for block, end in before for statement in block[:end]):
            if flow.writes(statement) & set(each.inputs):
                lifted = [earlier for earlier in lifted if len(each.inputs) > 1]
            elif flow.reads(statement, with_gradient=True) & carrying and statement in chosen:
                lifted.append(statement)
                carrying |= flow.writes(statement)
    for statement in lifted:
        left = any(isinstance(node, ast.Return | ast.Yield | ast.Await) for node in walk(statement))
        if left or flow.leaves_loop(statement):
            raise Refused(f"its output is computed in a statement that leaves the block (line {statement.lineno})")
    return lifted


def _carrying_by_scope(found: list[Derivative]) -> dict[ast.AST, set[str]]:
    """All that any gradient in a scope is taken of, and what depends on it."""
    carrying: dict[ast.AST, set[str]] = {}
    for each in found:
        carrying.setdefault(each.scope, set(each.inputs)).update(
            each.inputs, *(flow.writes(statement) for statement in each.lifted)
        )
    return carrying


def _arguments(facts: Facts, each: Derivative, carrying: set[str]) -> list[str]:
    """What the function is given: what carries a graph in its scope, for mixed derivatives."""
    if each.parameters is not None:
        return []
    return [name for name in flow.read_before_written(facts, [*each.lifted, each.outputs]) if name in carrying]


def _fresh_inputs(facts: Facts, found: list[Derivative]) -> Iterator[tuple[ast.stmt, str]]:
    """`x.requires_grad_()` starts a graph at x: such statements, and their x."""
    wanted = {(each.scope, name) for each in found for name in each.inputs}
    for node in facts.source.nodes if wanted else ():
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="requires_grad_", value=ast.Name(id=name)))):
                pass
            case ast.Assign(
                targets=[ast.Attribute(attr="requires_grad", value=ast.Name(id=name))], value=ast.Constant(value=True)
            ):
                pass
            case _:
                continue
        scope = facts.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree
        if (scope, name) in wanted:
            yield node, name


def write(draft: Draft, found: list[Derivative], moved: set[ast.stmt]) -> Generator[Edit, None, set[ast.stmt]]:
    """The calls first, inner before outer, then the functions before the statements that use them first.

    Statements that were there for a gradient alone go; those that move elsewhere are returned, to be dropped there.
    """
    if not found:
        return set()
    for statement, name in _fresh_inputs(draft, found):  # a copy: nothing that was computed from x before is counted
        yield ReplaceNode(statement, f"{name} = {name}.copy()", swallows=True)
    names = FreeNames(draft.source.named)
    functions: dict[tuple[object, ...], str] = {}
    planned: list[tuple[Derivative, str, str]] = []
    for each in found:
        outputs = draft.texts.of(each.outputs)  # before the call that they stand in is replaced
        key = (
            each.scope,
            id(draft.block_of(each.statement)),
            ast.dump(each.outputs),
            tuple(each.lifted),
            tuple(each.arguments),
        )
        if key not in functions:
            base = each.outputs.id if isinstance(each.outputs, ast.Name) else "output"
            functions[key] = name = names.take(f"{base}_of")
            planned.append((each, name, outputs))
        yield from _replace(draft, each, functions[key])
    calls = Calls(draft, found)
    texts = [(each, _function(draft, each, name, outputs, calls)) for each, name, outputs in planned]
    for each, lines in reversed(texts):
        source, newline = draft.source, draft.source.newline()
        offset = source.line_start(source.start(each.statement))
        indent = indentation(draft, each.statement)
        yield InsertBefore(offset, "".join((indent + line if line else "") + newline for line in lines))
    return (yield from _drop_unused(draft, calls, moved))


def _function(draft: Draft, each: Derivative, name: str, result: str, found: Calls) -> list[str]:
    source = draft.source
    lines = ["", f"def {name}({', '.join(each.arguments)}):"]
    lifted = each.lifted
    match draft.as_read(lifted[-1]) if lifted else None:
        case ast.Assign(targets=[ast.Name(id=target)], value=value) if (
            isinstance(each.outputs, ast.Name) and target == each.outputs.id
        ):
            result = draft.texts.of(value)
            live = _live(lifted[:-1], _reads(value, found), found)
        case _:
            live = _live(lifted, _reads(each.outputs, found), found)
    for statement in live:
        old = indentation(draft, statement)
        start = source.start(statement) if old.strip() else source.line_start(source.start(statement))
        lines += [
            f"    {line.removeprefix(old)}" if line else ""
            for line in draft.texts.span(start, source.end(statement)).splitlines()
        ]
    return [*lines, f"    return {result}", ""]


def _live(statements: list[ast.stmt], needed: set[str], found: Calls) -> list[ast.stmt]:
    """Without those that were there for a gradient only, which has its own function now."""
    chosen: list[ast.stmt] = []
    for statement in reversed(statements):
        if flow.writes(statement) & needed:
            chosen.insert(0, statement)
            needed = needed | _reads(statement, found)
    return chosen


def _reads(node: ast.AST, found: Calls) -> set[str]:
    """What it reads once each gradient in it is a call of its function."""
    inner = found.inside(node)
    if not inner:
        return set(flow.reads(node))
    replaced = {part for each in inner for part in walk(each.call)}
    names = {part.id for part in walk(node) if isinstance(part, ast.Name) and part not in replaced}
    return names.union(
        *(each.arguments for each in inner), *(flow.reads(each.weights) for each in inner if each.weights is not None)
    )


def _replace(draft: Draft, each: Derivative, function: str) -> Iterator[Edit]:
    before = draft.source.text(each.call)
    values = ", ".join(each.arguments)
    positions = [each.arguments.index(name) for name in each.inputs]
    parent = draft.parents.get(each.call)
    match parent:
        case ast.Subscript(value=value, slice=ast.Constant(value=0)) if value is each.call and len(each.inputs) == 1:
            is_first = True
        case _:
            is_first = False
    options = f", {draft.texts.of(each.weights)}" if each.weights is not None else ""
    if _is_differentiated_again(each.call) and not each.is_compiled:
        options += ", again=True"
    is_tuple = True
    if each.parameters is not None:
        helper = draft.texts.name("compat.parameter_gradients")
        text = f"{helper}({function}, {draft.texts.of(each.parameters)}{options})"
    elif each.weights is None and (is_first or len(positions) > 1) and not each.is_compiled:
        is_tuple = not is_first
        place = "" if positions == [0] else f", {positions[0]}" if is_first else f", {tuple(positions)}"
        text = f"{draft.texts.name('mindspore.grad')}({function}{place})({values})"
    else:
        tail = "," if len(each.arguments) == 1 else ""
        helper = draft.texts.name("compat.compiled_gradients" if each.is_compiled else "compat.gradients")
        text = f"{helper}({function}, {tuple(positions)}, ({values}{tail}){options})"
    target = parent if is_first and not is_tuple and parent is not None else each.call
    yield ReplaceNode(target, text, swallows=True)  # weights that are ones go
    yield draft.record(each.call, draft.uses.name(Use.DERIVATIVE), before, text)


def _drop_unused(draft: Draft, found: Calls, moved: set[ast.stmt]) -> Generator[Edit, None, set[ast.stmt]]:
    """A statement that was there for the gradient alone goes; one that runs a network and stays runs twice, which is said."""
    dropped: set[ast.stmt] = set()
    named = _named_by_calls(found)
    lifted = {s for each in found.found for s in each.lifted}
    for statement in sorted(lifted, key=draft.source.start, reverse=True):
        scope = found.lifting[statement][0].scope
        is_plain = isinstance(draft.as_read(statement), ast.Assign) and not found.inside(statement)
        dropped.add(statement)
        if is_plain and not any(_is_read(draft, name, scope, dropped, found, named) for name in flow.writes(statement)):
            continue
        dropped.discard(statement)
        if any(isinstance(node, ast.Call) and sources.calls_network(draft, node) for node in walk(statement)):
            yield draft.found(
                statement,
                findings.MF202,
                "this network runs a second time where its gradient is taken; dropout masks would differ",
                "seed the dropout, or leave it out here",
            )
    for statement in dropped - moved:
        yield RemoveStatement(statement)
    return dropped


def _named_by_calls(found: Calls) -> dict[str, list[Derivative]]:
    """What the calls of the functions name: their arguments, and those of what weights them or is differentiated by."""
    named: dict[str, list[Derivative]] = {}
    for each in found.found:
        parts = [part for part in (each.weights, each.parameters) if part is not None]
        for name in set(each.arguments).union(*map(flow.reads, parts)):
            named.setdefault(name, []).append(each)
    return named


def _is_read(
    facts: Facts,
    name: str,
    scope: ast.AST,
    without: set[ast.stmt],
    found: Calls,
    named: dict[str, list[Derivative]],
) -> bool:
    """Whether the scope reads the name once each gradient in it is a call of its function."""
    if any(not facts.is_within_any(each.call, without) for each in named.get(name, ())):
        return True
    uses = (use for use in facts.source.named_within(name, scope) if isinstance(use.ctx, ast.Load))
    return any(not facts.is_within_any(use, without) and not facts.is_within_any(use, found.at.keys()) for use in uses)
