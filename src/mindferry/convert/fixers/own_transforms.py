"""Transforms of the project's own behind ToTensor get tensors, as they do in torch: the converted pipeline hands arrays on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ... import findings
from ...apis.torch._members import member
from ...read.framework import Role
from ...read.uses import Use
from ..dispatch import OF_ARRAYS, SHARED
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, InsertAfter, InsertBefore, Texts
from .data_arrays import data_zones
from .data_loaders import lambdas_in, value_of

AFTER = ("data_arrays", "format_tensors", "in_place")
OWN = (
    "this transform is the project's own and computes with MindSpore's operators, so it runs in the process that trains"
)
ADVICE = "write it with numpy if reading is too slow: then it runs in workers"
MAKERS = frozenset("from_numpy as_tensor tensor to_tensor ToTensor pil_to_tensor Tensor FloatTensor LongTensor".split())


def plan(facts: Facts) -> Iterator[Change]:
    seen: set[ast.expr] = set()
    composed = set(facts.calls_for(Use.COMPOSE))
    for call in facts.source.of(ast.Call):
        if call in composed and call.args and not _is_inner(facts, call):
            for element in _given_tensors(facts, _parts(facts, call.args[0])):
                if element in seen:
                    continue
                seen.add(element)
                yield facts.found(element, findings.MF130, OWN, ADVICE, "note")
                yield AtEnd(partial(_wrap, facts, element))
    given = dict.fromkeys(each for value in _values_given(facts) for each in _computing(facts, value))
    for each in given:
        yield AtEnd(partial(_wrap, facts, each))
    for function in _handed_over(facts):
        yield facts.found(function, findings.MF130, OWN, ADVICE, "note")
        yield from _decorate(facts, function)


def _values_given(facts: Facts) -> Iterator[ast.expr]:
    """What data sets of the project get to change their samples: `Numbers(transform=Noise(0.5))`, `rows.transform = …`."""
    for call in facts.source.of(ast.Call):
        if facts.reading.type(call.func).kind in ("ref", "value") and _is_data_set(facts, call.func):
            yield from (*call.args, *(each.value for each in call.keywords))
    for assigned in facts.source.of(ast.Assign):
        for target in assigned.targets:
            if isinstance(target, ast.Attribute) and _is_data_set(facts, target.value):
                yield assigned.value


def _is_data_set(facts: Facts, node: ast.expr) -> bool:
    return facts.reading.symbols.role(facts.reading.type(node).qual) is Role.DATASET


def _computing(facts: Facts, value: ast.expr) -> Iterator[ast.expr]:
    """Noise(0.5), where Noise is a network, or `lambda x: x.float()`, also by the name of a table."""
    made = facts.reading.type(value)
    if made.kind == "instance" and facts.reading.symbols.is_module(made.qual):
        yield value
    yield from (each for each in lambdas_in(facts, value) if _computes(facts, each))


def _handed_over(facts: Facts) -> Iterator[ast.FunctionDef]:
    """Functions, and methods of classes, that a data set of the project gets to change its samples, or calls."""
    names = facts.reading.symbols.transforms
    in_data = {part for zone in facts.derived(data_zones) for part in zone}
    for node in facts.source.tree.body:
        if node in in_data:
            continue
        if isinstance(node, ast.FunctionDef) and node.name in names and _computes(facts, node):
            yield node
        elif isinstance(node, ast.ClassDef) and not _is_network(facts, node):
            wanted = {"__call__"} if node.name in names else set()
            wanted |= {each.partition(".")[2] for each in names if each.startswith(f"{node.name}.")}
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            yield from (each for each in methods if each.name in wanted and _computes(facts, each))


def _is_network(facts: Facts, node: ast.ClassDef) -> bool:
    return facts.reading.symbols.is_module(facts.reading.owners.get(node, ""))


def _computes(facts: Facts, function: ast.AST) -> bool:
    """Whether it takes tensors: it, or what it calls here, calls torch's, and makes no tensor of what it is given."""
    reached = [each for body in _with_callees(facts, function) for each in facts.source.walk(body)]
    calls = [each for each in reached if isinstance(each, ast.Call)]
    apis = [facts.api(each.func) for each in calls]
    if any(api.rpartition(".")[2] in MAKERS or facts.uses.has(Use.VISION, api) for api in apis):
        return False
    return any(api.startswith(f"{facts.framework.name}.") for api in apis) or any(
        _is_tensors_own(facts, each.func) for each in calls
    )


def _with_callees(facts: Facts, function: ast.AST) -> list[ast.AST]:
    """The function, with the methods of its class and the functions of the file that it comes to."""
    around = facts.enclosing(function, ast.ClassDef)
    methods = {each.name: each for each in getattr(around, "body", ()) if isinstance(each, ast.FunctionDef)}
    functions = {each.name: each for each in facts.source.tree.body if isinstance(each, ast.FunctionDef)}
    found = [function]
    for body in found:  # it grows
        for each in facts.source.walk(body):
            match each:
                case ast.Attribute(value=ast.Name(id="self"), attr=name):
                    called = methods.get(name)
                case ast.Name(id=name):
                    called = functions.get(name)
                case _:
                    continue
            if called is not None and called not in found:
                found.append(called)
    return found


def _is_tensors_own(facts: Facts, function: ast.expr) -> bool:
    """`x.clamp(0, 1)`: a method that arrays don't have, of what may be a tensor."""
    if not isinstance(function, ast.Attribute) or facts.reading.type(function.value).kind not in ("tensor", "unknown"):
        return False
    found = member("Tensor", function.attr)
    return found is not None and found.is_method and function.attr not in OF_ARRAYS and function.attr not in SHARED


def _decorate(facts: Facts, function: ast.FunctionDef) -> Iterator[Change]:
    first = function.decorator_list[0] if function.decorator_list else None
    at = facts.source.start(first) - 1 if first is not None else facts.source.start(function)
    indent = f"{facts.source.newline()}{facts.source.indent(function)}"
    before = f"def {function.name}"
    yield InsertBefore(at, lambda texts: f"@{texts.name('compat.on_tensors')}{indent}")
    yield facts.record(
        function, facts.uses.name(Use.COMPOSE), before, lambda texts: f"@{texts.name('compat.on_tensors')} {before}"
    )


def _is_inner(facts: Facts, call: ast.Call) -> bool:
    """Part of another Compose([...]), with which it is looked at."""
    outer = facts.enclosing(call, ast.Call)
    return isinstance(outer, ast.Call) and facts.is_use(Use.COMPOSE, outer.func)


def _parts(facts: Facts, steps: ast.expr) -> Iterator[ast.expr]:
    """The transforms of a list, in order: as it is written, and what is added to a list that has a name."""
    match steps:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            for each in elements:
                is_inner = isinstance(each, ast.Call) and facts.is_use(Use.COMPOSE, each.func) and bool(each.args)
                yield from _parts(facts, each.args[0]) if is_inner else [each]  # type: ignore[attr-defined]
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            yield from _parts(facts, left)
            yield from _parts(facts, right)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _parts(facts, body)
            yield from _parts(facts, orelse)
        case ast.Name():
            for added in _additions(facts, steps):
                yield from _parts(facts, added)


def _additions(facts: Facts, name: ast.Name) -> Iterator[ast.expr]:
    """`steps = [...]`, `steps.append(t)`, `steps += [t]` above it, in its function or module."""
    scope = facts.enclosing(name, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree
    around = [facts.parents[each] for each in facts.source.named_within(name.id, scope)]
    outer = (facts.parents[each] for each in around if isinstance(each, ast.Attribute))  # the call of its method
    for node in facts.source.in_tree_order({*around, *outer}):
        match node:
            case ast.Assign(targets=[ast.Name(id=stored)], value=value) if stored == name.id:
                yield value if not _names(value, name.id) else ast.List(elts=[], ctx=ast.Load())
            case ast.AugAssign(target=ast.Name(id=stored), value=value) if stored == name.id:
                yield value
            case ast.Call(func=ast.Attribute(attr="append", value=ast.Name(id=stored)), args=[added]) if (
                stored == name.id
            ):
                yield ast.List(elts=[added], ctx=ast.Load())
            case ast.Call(func=ast.Attribute(attr="extend", value=ast.Name(id=stored)), args=[added]) if (
                stored == name.id
            ):
                yield added


def _names(value: ast.expr, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(value))


def _given_tensors(facts: Facts, elements: Iterator[ast.expr]) -> Iterator[ast.expr]:
    """What stands behind a transform that makes tensors, and is none of torchvision's that know arrays."""
    are_tensors = False
    for element in elements:
        made = value_of(facts, element) if isinstance(element, ast.Name) else element
        api = facts.api(made.func) if isinstance(made, ast.Call) else facts.api(element)
        is_known = facts.uses.of(api, (Use.VISION, Use.ANY_FUNCTION)) is Use.VISION
        if are_tensors and not is_known and not isinstance(element, ast.Starred):
            yield element
        are_tensors = are_tensors or facts.uses.has(Use.MAKES_TENSOR, api)


def _wrap(facts: Facts, element: ast.expr, texts: Texts) -> Iterator[Edit]:
    before = texts.of(element)
    yield InsertBefore(element, f"{texts.name('compat.on_tensors')}(")
    yield InsertAfter(element, ")")
    yield facts.record(element, facts.uses.name(Use.COMPOSE), before, texts.of(element))
