"""What the text in `getattr(nn, name)` may be, as patterns: constants, built with format, %, + or an f-string, tested before. None: anything."""

from __future__ import annotations

import ast
import itertools
import re
import string

from ..facts import Facts

HOLE = "\0"  # in a pattern, what is filled in when it runs
DEEPEST = 6  # names that stand for names
_PERCENT = re.compile(r"%[-+ #0-9.]*[a-zA-Z]")
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def patterns(facts: Facts, node: ast.expr, depth: int = 0) -> set[str] | None:
    """Texts, with a HOLE where a part can't be told; None if nothing can."""
    found = _tested(facts, node) or _of(facts, node, depth)
    return None if found is None or any(not each.replace(HOLE, "") for each in found) else found


def names_like(pattern: str, names: list[str]) -> list[str]:
    """The names that a pattern fits: a number in each hole if that gives any, `Conv{}d`, else any text."""
    parts = [re.escape(part) for part in pattern.split(HOLE)]
    numbers, texts = re.compile(r"\d+".join(parts)), re.compile(r"\w*".join(parts))
    return [name for name in names if numbers.fullmatch(name)] or [name for name in names if texts.fullmatch(name)]


def _of(facts: Facts, node: ast.expr, depth: int) -> set[str] | None:
    if depth > DEEPEST:
        return None
    match node:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.JoinedStr(values=values):
            return _joined([_part(facts, each, depth) for each in values])
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _joined([_filled(facts, left, depth), _filled(facts, right, depth)])
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod(), right=right):
            values = list(right.elts) if isinstance(right, ast.Tuple) else [right]
            return _percent(facts, text, values, depth)
        case ast.Call(func=ast.Attribute(attr="format", value=ast.Constant(value=str(text)))):
            return _formatted(facts, text, node, depth)
        case ast.IfExp(body=first, orelse=second):
            return _either([_of(facts, first, depth + 1), _of(facts, second, depth + 1)])
        case ast.BoolOp(op=ast.Or(), values=values):
            return _either([_of(facts, each, depth + 1) for each in values])
        case ast.Subscript(value=table):
            return _values(facts, table, depth)
        case ast.Call(func=ast.Attribute(attr="get", value=table), args=[_, default]):
            return _either([_values(facts, table, depth), _of(facts, default, depth + 1)])
        case ast.Name():
            return _bound(facts, node, depth)
    return None


def _either(options: list[set[str] | None]) -> set[str] | None:
    known = [each for each in options if each is not None]
    return set().union(*known) if known and len(known) == len(options) else None


def _joined(parts: list[set[str]]) -> set[str] | None:
    return {"".join(each) for each in itertools.product(*parts)} or None


def _filled(facts: Facts, node: ast.expr, depth: int) -> set[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int):
        return {str(node.value)}
    return _of(facts, node, depth + 1) or {HOLE}


def _part(facts: Facts, node: ast.expr, depth: int) -> set[str]:
    if isinstance(node, ast.FormattedValue):
        return _filled(facts, node.value, depth) if node.format_spec is None and node.conversion == -1 else {HOLE}
    return _filled(facts, node, depth)


def _percent(facts: Facts, text: str, values: list[ast.expr], depth: int) -> set[str] | None:
    literals = _PERCENT.split(text)
    if len(literals) != len(values) + 1 or "%%" in text:
        return None
    parts = [{literals[0]}]
    for value, literal in zip(values, literals[1:], strict=True):
        parts += [_filled(facts, value, depth), {literal}]
    return _joined(parts)


def _formatted(facts: Facts, text: str, call: ast.Call, depth: int) -> set[str] | None:
    given: dict[str, ast.expr] = {str(index): each for index, each in enumerate(call.args)}
    given |= {each.arg: each.value for each in call.keywords if each.arg}
    parts, count = [], 0
    try:
        for literal, name, spec, conversion in string.Formatter().parse(text):
            parts.append({literal})
            if name is None:
                continue
            key, count = (name, count) if name else (str(count), count + 1)
            value = given.get(key)
            parts.append({HOLE} if value is None or spec or conversion else _filled(facts, value, depth))
    except ValueError:
        return None
    return _joined(parts)


def _values(facts: Facts, table: ast.expr, depth: int) -> set[str] | None:
    """`{"relu": "ReLU"}[kind]`, also where the dictionary or list has a name."""
    if isinstance(table, ast.Name):
        bound = [facts.parents[each] for each in facts.stores(table.id)]
        if len(bound) != 1 or not isinstance(bound[0], ast.Assign) or bound[0].targets != facts.stores(table.id):
            return None
        table = bound[0].value
    items = (
        table.values
        if isinstance(table, ast.Dict)
        else table.elts
        if isinstance(table, ast.List | ast.Tuple | ast.Set)
        else []
    )
    return _either([_of(facts, each, depth + 1) for each in items]) if items else None


def _bound(facts: Facts, node: ast.Name, depth: int) -> set[str] | None:
    """All that the variable is set to in the function, or else the module, that it belongs to; only the last just before it if that always is."""
    if last := _just_before(facts, node):
        return _stored(facts, last, depth)
    scope = facts.enclosing(node, *SCOPES)
    while True:
        stores = [each for each in facts.stores(node.id) if facts.enclosing(each, *SCOPES) is scope]
        argument = _argument(scope, node.id)
        if argument is not None:
            return None if stores else _annotated(facts, argument, depth)
        if stores or scope is None:
            return _either([_stored(facts, each, depth) for each in stores])
        scope = facts.enclosing(scope, *SCOPES)


def _just_before(facts: Facts, node: ast.Name) -> ast.Name | None:
    """Where the variable was set in the same block, with nothing in between that sets it again."""
    statement, source = facts.statement_of(node), facts.source
    earlier = [
        each
        for each in facts.stores(node.id)
        if source.start(each) < source.start(node) and facts.statement_of(each) is not statement
    ]
    last = max(earlier, key=source.start, default=None)
    if last is None or isinstance(statement, ast.While):
        return None
    setting = facts.parents[last]
    return last if isinstance(setting, ast.Assign) and setting in facts.block_of(statement) else None


def _argument(scope: ast.AST | None, name: str) -> ast.arg | None:
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return None
    given = scope.args
    every = [
        *given.posonlyargs,
        *given.args,
        *given.kwonlyargs,
        *(each for each in (given.vararg, given.kwarg) if each is not None),
    ]
    return next((each for each in every if each.arg == name), None)


def _annotated(facts: Facts, argument: ast.arg, depth: int) -> set[str] | None:
    """`kind: Literal["LSTM", "GRU"]`."""
    match argument.annotation:
        case ast.Subscript(value=ast.Name(id="Literal") | ast.Attribute(attr="Literal"), slice=options):
            return _either(
                [
                    _of(facts, each, depth + 1)
                    for each in (options.elts if isinstance(options, ast.Tuple) else [options])
                ]
            )
    return None


def _stored(facts: Facts, name: ast.Name, depth: int) -> set[str] | None:
    parent = facts.parents[name]
    if isinstance(parent, ast.Assign) and name in parent.targets:
        return _of(facts, parent.value, depth + 1)
    if isinstance(parent, ast.For | ast.comprehension) and parent.target is name:
        return _values(facts, parent.iter, depth)
    return None


def _tested(facts: Facts, node: ast.expr) -> set[str] | None:
    """`if kind in ("LSTM", "GRU"):` around it, `assert kind in ...` before it."""
    text = ast.unparse(node)
    inner: ast.AST = node
    while (outer := facts.parents.get(inner)) is not None and not isinstance(inner, SCOPES):
        tests: list[ast.expr] = []
        if isinstance(outer, ast.If | ast.IfExp) and inner in (
            outer.body if isinstance(outer.body, list) else [outer.body]
        ):
            tests.append(outer.test)
        if isinstance(inner, ast.stmt):
            block, place = facts.block_of(inner), facts.place_of(inner)
            asserted = (each for each in facts.source.of(ast.Assert) if facts.block_of(each) is block)
            tests += [each.test for each in asserted if facts.place_of(each) < place]
        if found := next((found for each in tests if (found := _allows(facts, each, text))), None):
            return found
        inner = outer
    return None


def _allows(facts: Facts, test: ast.expr, text: str) -> set[str] | None:
    match test:
        case ast.Compare(left=left, ops=[ast.In()], comparators=[options]) if ast.unparse(left) == text:
            if isinstance(options, ast.Dict):
                return _either([_of(facts, each, 0) for each in options.keys if each is not None])
            return (
                _values(facts, options, 0)
                if not isinstance(options, ast.Name) or not _is_dict(facts, options)
                else None
            )
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[option]) if ast.unparse(left) == text:
            return _of(facts, option, 0)
        case ast.BoolOp(op=ast.Or(), values=values):
            return _either([_allows(facts, each, text) for each in values])
        case ast.BoolOp(op=ast.And(), values=values):
            return next((found for each in values if (found := _allows(facts, each, text))), None)
    return None


def _is_dict(facts: Facts, name: ast.Name) -> bool:
    return any(
        isinstance(parent := facts.parents[each], ast.Assign) and isinstance(parent.value, ast.Dict)
        for each in facts.stores(name.id)
    )
