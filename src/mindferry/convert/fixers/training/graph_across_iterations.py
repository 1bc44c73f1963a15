"""A graph that is kept between iterations: the value that carries it, if nothing cuts it off."""

from __future__ import annotations

import ast

from ....read.guesses import looks_like_detaching
from ....read.walk import walk_again as walk
from ...facts import Facts
from . import flow

MOVES = frozenset("to cuda cpu float half double long int bool contiguous type".split())
OF_TEXTS = frozenset("find startswith endswith lower upper strip split".split())
QUESTIONS = frozenset("isinstance hasattr type".split())
MARK = "carries the graph of earlier iterations"
ADVICE = (
    "cut it where an iteration begins, `h = h.detach()`; or compute the iterations that belong together in one function, "
    "`def forward_fn(xs, h): for x in xs: out, h = model(x, h); loss = loss + criterion(out, y)`, and differentiate that: "
    "`(loss, h), grads = ms.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)(xs, h)`"
)


def across_iterations(facts: Facts, statement: ast.stmt, loss: ast.expr, lifted: list[ast.stmt], scope: ast.AST) -> str:
    """Why the loss depends on the graph of an earlier iteration, naming the lines; '' if it doesn't."""
    loop = facts.enclosing(statement, ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)
    written: set[str] = set().union(*(flow.writes(each) for each in lifted))
    for name in sorted(_read_first(lifted, loss)):
        is_state = name.startswith("self.")
        region = loop if isinstance(loop, ast.For | ast.While) else scope if is_state else None
        if region is None or (isinstance(region, ast.For) and name in flow.writes(region.target)):
            continue
        makers = _makers(facts, region).get(name, [])
        if _is_made_always_or_never(facts, name, makers, region):
            continue
        carrying = [
            each
            for each in makers
            if _brings_graph(facts.as_read(each), written - _fresh(facts, region, each, lifted, written))
            and not _is_move(each, name)
            and not _is_cut(facts, each, name, written)
        ]
        cuts = [each for each in makers if _is_cut(facts, each, name, written)]
        if carrying and not _suffices(facts, cuts, statement, region):
            return f"{name} (line {carrying[0].lineno}) {MARK}{_lines(cuts)}"
    return ""


def _is_made_always_or_never(facts: Facts, name: str, makers: list[ast.stmt], region: ast.AST) -> bool:
    """`if mode == "noise": target = noise elif …`: one condition, the same in each iteration, and read only behind it."""
    outer = {_outermost_condition(facts, each, region) for each in makers}
    if len(outer) != 1 or not isinstance(choice := outer.pop(), ast.If):
        return False
    tests = [each.test for each in walk(choice) if isinstance(each, ast.If)]
    is_steady = not any(flow.reads(test) & flow.writes(region) for test in tests) and not any(
        isinstance(each, ast.NamedExpr) or (isinstance(each, ast.Call) and not _only_looks(each))
        for test in tests
        for each in walk(test)
    )
    end = facts.source.end(choice)
    uses = [each for each in facts.source.named_within(name, region) if isinstance(each.ctx, ast.Load)]
    return is_steady and all(facts.source.start(each) > end for each in uses)


def _only_looks(call: ast.Call) -> bool:
    """`mode.find("GAN")`, `isinstance(model, Net)`: the same value gives the same answer."""
    match call.func:
        case ast.Attribute(attr=name):
            return name in OF_TEXTS
        case ast.Name(id=name):
            return name in QUESTIONS
    return False


def _outermost_condition(facts: Facts, node: ast.AST, region: ast.AST) -> ast.If | None:
    found, current = None, facts.parents.get(node)
    while current is not None and current is not region:
        found = current if isinstance(current, ast.If) else found
        current = facts.parents.get(current)
    return found


def _brings_graph(statement: ast.stmt, written: set[str]) -> bool:
    """Not `total += loss.item()`, which adds numbers, nor `losses.append(loss.item())`."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(), args=args, keywords=named)):
            given: list[ast.AST] = [*args, *named]
        case ast.AugAssign(value=value):
            given = [value]
        case _:
            given = [statement]
    return any(flow.reads(each, with_gradient=True) & written for each in given)


def _fresh(facts: Facts, region: ast.AST, maker: ast.stmt, lifted: list[ast.stmt], written: set[str]) -> set[str]:
    """What this iteration has given a value without a graph before it comes to `maker`: `for x, y in loader: y = y.float()`."""
    if not isinstance(region, ast.For | ast.While):
        return set()
    found: set[str] = set(flow.writes(region.target)) if isinstance(region, ast.For) else set()
    taken = set(lifted)
    for each in region.body:
        if each.end_lineno is not None and maker.lineno <= each.end_lineno:
            break
        is_plain = isinstance(facts.as_read(each), ast.Assign) and each not in taken
        if is_plain and not flow.reads(each, with_gradient=True) & (written - found):
            found |= flow.writes(each)
        else:
            found -= flow.writes(each)
    return found


def _is_move(statement: ast.stmt, name: str) -> bool:
    """`labels = labels.to(device)`: what it holds came from elsewhere."""
    match statement:
        case ast.Assign(value=ast.Call(func=ast.Attribute(value=ast.Name(id=moved), attr=method))):
            return moved == name and method in MOVES
    return False


def _lines(cuts: list[ast.stmt]) -> str:
    return f", cut off only sometimes (line {cuts[0].lineno})" if cuts else ""


def _read_first(lifted: list[ast.stmt], loss: ast.expr) -> set[str]:
    """Variables whose earlier value takes part, with its gradient."""
    found, written = _of_block(lifted, frozenset())
    inner = {name for each in lifted for name in flow.comprehension_names(each)}
    return (found | (flow.reads(loss, with_gradient=True) - written)) - inner


def _of_block(statements: list[ast.stmt], written: frozenset[str]) -> tuple[set[str], frozenset[str]]:
    """(variables read before they are written here, those that are written whichever way is taken)."""
    found: set[str] = set()
    for each in statements:
        if flow.is_cut(each):
            written |= flow.writes(each)
        elif isinstance(each, ast.If | ast.Match):
            asked = each.test if isinstance(each, ast.If) else each.subject
            sides = [(block, *_of_block(block, written)) for block in flow.branches(each)]
            found |= (flow.reads(asked, with_gradient=True) - written).union(*(first for _, first, _ in sides))
            ways = [after for block, _, after in sides if not flow.leaves(block)]
            written = frozenset.intersection(*ways) if ways else written
        elif isinstance(each, ast.With | ast.For | ast.While | ast.Try):
            header = set().union(*(flow.reads(part, with_gradient=True) for part in _header(each))) - written
            targets = flow.writes(each.target) if isinstance(each, ast.For) else set()
            inner, after = _of_block(each.body, written | targets)
            found, written = found | header | inner, after
        else:
            found |= flow.reads(each, with_gradient=True) - written
            written |= flow.writes(each)
    return found, written


def _header(node: ast.With | ast.For | ast.While | ast.Try) -> list[ast.expr]:
    if isinstance(node, ast.With):
        return [item.context_expr for item in node.items]
    return [node.iter] if isinstance(node, ast.For) else [node.test] if isinstance(node, ast.While) else []


def _makers(facts: Facts, region: ast.AST) -> dict[str, list[ast.stmt]]:
    """The simple statements of a loop or function, by what they set. Asked for by every backward() in it."""
    known = facts.derived(_known_makers)
    if region not in known:
        found = known[region] = {}
        for node in walk(region):
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
                for name in flow.writes(node):
                    found.setdefault(name, []).append(node)
    return known[region]


def _known_makers(facts: Facts) -> dict[ast.AST, dict[str, list[ast.stmt]]]:
    return {}


def _is_cut(facts: Facts, statement: ast.stmt, name: str, written: set[str]) -> bool:
    """It gives the name a value without a graph: detached, fresh, under no_grad, or by a function that detaches."""
    block = facts.enclosing(statement, ast.With, ast.FunctionDef, ast.AsyncFunctionDef)
    while isinstance(block, ast.With):
        if flow.is_cut(block):
            return True
        block = facts.enclosing(block, ast.With, ast.FunctionDef, ast.AsyncFunctionDef)
    statement = facts.as_read(statement)
    if isinstance(statement, ast.AugAssign):
        return False
    if isinstance(statement, ast.Expr):
        return any(isinstance(node, ast.Attribute) and node.attr == "detach_" for node in walk(statement))
    value = getattr(statement, "value", None)
    if value is None or not flow.reads(value, with_gradient=True) & (written | {name}):
        return True
    return any(_detaches(facts, call) for call in walk(value) if isinstance(call, ast.Call))


def _detaches(facts: Facts, call: ast.Call) -> bool:
    """A function, or a network's class, that says detach somewhere."""
    kind = facts.reading.type(call.func)
    if looks_like_detaching(facts.source.text(call.func)):
        return True
    bodies = [node for node, name in facts.reading.owners.items() if name == kind.qual and kind.qual]
    return any(
        (isinstance(node, ast.Attribute) and node.attr in ("detach", "detach_", "data")) or flow.is_cut(node)
        for body in bodies
        for node in walk(body)
    )


def _suffices(facts: Facts, cuts: list[ast.stmt], backward: ast.stmt, region: ast.AST) -> bool:
    """In every iteration; or at least somewhere, where each iteration calls backward(), which frees its graph."""
    if not cuts:
        return False
    always = [each for each in cuts if not _is_conditional(facts, each, region)]
    return bool(always) or not _is_conditional(facts, backward, region)


def _is_conditional(facts: Facts, node: ast.AST, region: ast.AST) -> bool:
    current: ast.AST | None = node
    while current is not None and current is not region:
        if isinstance(current, ast.If):
            return True
        current = facts.parents.get(current)
    return False
