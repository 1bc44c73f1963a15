"""`torch.cat([x[:, :i], y, x[:, i + 1:]], 1)`: the gradient of a slice that is empty in some round of a loop fails on a CPU."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import partial

from ...read.uses import Use
from ..facts import Facts
from ..plan import AtNode, Change, Edit, ReplaceNode, Texts
from .bindings import Names

Variable = tuple[ast.AST, str]  # a scope and a name; a slice itself, and none


def plan(facts: Facts) -> Iterator[Change]:
    joined = set(_joined(facts))
    for node in facts.source.of(ast.Subscript):
        if not isinstance(node.ctx, ast.Load) or not facts.reading.type(node.value).is_tensor:
            continue
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not all(_is_simple(part) for part in parts):
            continue
        slices = [part for part in parts if isinstance(part, ast.Slice)]
        if any(_is_empty_once(facts, part) or (node in joined and _is_computed(part)) for part in slices):
            yield AtNode(node, partial(_rewrite, facts, node, parts))


def _joined(facts: Facts) -> Iterator[ast.Subscript]:
    """Slices of one tensor that are put together again around something else: either may be empty."""
    done: set[tuple[ast.AST, str, str]] = set()
    for call in facts.calls_for(Use.JOIN):
        if not call.args or not isinstance(call.args[0], ast.List | ast.Tuple):
            continue
        counts: Counter[str] = Counter()
        given = [each for entry in call.args[0].elts for each in _slices_of(facts, entry)]
        for owner, _, parts in given:
            counts[owner] += len(parts)
        for owner, (scope, name), parts in given:
            if counts[owner] > 1 and (scope, name, owner) not in done:
                done.add((scope, name, owner))
                yield from parts


def _slices_of(facts: Facts, entry: ast.expr) -> Iterator[tuple[str, Variable, list[ast.Subscript]]]:
    """The entry itself, or what the function gives its name: by what is sliced."""
    if isinstance(entry, ast.Subscript):
        yield facts.source.text(entry.value), (entry, ""), [entry]
    elif isinstance(entry, ast.Name):
        variable = facts.derived(Names).scope(entry), entry.id
        known = facts.derived(_known_slices)
        if variable not in known:
            known[variable] = {}
            for value in facts.derived(Names).values(entry):
                if isinstance(value, ast.Subscript):
                    known[variable].setdefault(facts.source.text(value.value), []).append(value)
        yield from ((owner, variable, parts) for owner, parts in known[variable].items())


def _known_slices(facts: Facts) -> dict[Variable, dict[str, list[ast.Subscript]]]:
    return {}


def _is_simple(part: ast.expr) -> bool:
    """A slice without a step, `...`, or a number."""
    if isinstance(part, ast.Slice):
        return part.step is None
    return isinstance(part, ast.Constant) and (part.value is ... or type(part.value) is int)


def _is_computed(part: ast.Slice) -> bool:
    bounds = [bound for bound in (part.lower, part.upper) if bound is not None]
    return any(not isinstance(bound, ast.Constant | ast.UnaryOp) for bound in bounds)


def _is_empty_once(facts: Facts, part: ast.Slice) -> bool:
    """`:0`; `:i` in `for i in range(n)`, which is empty in the first round; `i + 1:`, in the last."""
    match part:
        case ast.Slice(lower=None, upper=ast.Constant(value=0)):
            return True
        case ast.Slice(lower=None, upper=ast.Name() as count):
            return _counts(facts, count)
        case ast.Slice(
            lower=ast.BinOp(left=ast.Name() as count, op=ast.Add(), right=ast.Constant(value=1)), upper=None
        ):
            return _counts(facts, count)
    return False


def _counts(facts: Facts, name: ast.Name) -> bool:
    """Whether it counts the rounds of a loop from 0 on."""
    loop = facts.enclosing(name, ast.For)
    while isinstance(loop, ast.For):
        match loop:
            case ast.For(target=ast.Name(id=counter), iter=ast.Call(func=ast.Name(id="range"), args=[_])):
                if counter == name.id:
                    return True
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(id=counter), _]), iter=ast.Call(func=ast.Name(id="enumerate"), args=[_])
            ):
                if counter == name.id:
                    return True
        loop = facts.enclosing(loop, ast.For)
    return False


def _rewrite(facts: Facts, node: ast.Subscript, parts: list[ast.expr], texts: Texts) -> Iterator[Edit]:
    before, written = facts.source.text(node), []
    for part in parts:
        if isinstance(part, ast.Slice):
            bounds = [texts.of(each) if each is not None else "None" for each in (part.lower, part.upper)]
            written.append(f"({', '.join(bounds)})")
        else:
            written.append(texts.of(part))
    yield ReplaceNode(node, f"{texts.name('compat.take_slices')}({texts.of(node.value)}, {', '.join(written)})")
    yield facts.record(node, "slice that may be empty", before, texts.of(node))
