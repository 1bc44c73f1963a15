"""What the text in `getattr(nn, name)` may be, as patterns: constants, built with format, %, + or an f-string, tested before. None: anything."""

from __future__ import annotations

import ast
import itertools
import re
import string

from ..context import Context

HOLE = "\0"  # in a pattern, what is filled in when it runs
DEEPEST = 6  # names that stand for names
_PERCENT = re.compile(r"%[-+ #0-9.]*[a-zA-Z]")
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def patterns(context: Context, node: ast.expr, depth: int = 0) -> set[str] | None:
    """Texts, with a HOLE where a part can't be told; None if nothing can."""
    found = _tested(context, node) or _of(context, node, depth)
    return None if found is None or any(not each.replace(HOLE, "") for each in found) else found


def names_like(pattern: str, names: list[str]) -> list[str]:
    """The names that a pattern fits: a number in each hole if that gives any, `Conv{}d`, else any text."""
    parts = [re.escape(part) for part in pattern.split(HOLE)]
    numbers, texts = re.compile(r"\d+".join(parts)), re.compile(r"\w*".join(parts))
    return [name for name in names if numbers.fullmatch(name)] or [name for name in names if texts.fullmatch(name)]


def _of(context: Context, node: ast.expr, depth: int) -> set[str] | None:
    if depth > DEEPEST:
        return None
    match node:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.JoinedStr(values=values):
            return _joined([_part(context, each, depth) for each in values])
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _joined([_filled(context, left, depth), _filled(context, right, depth)])
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod(), right=right):
            values = list(right.elts) if isinstance(right, ast.Tuple) else [right]
            return _percent(context, text, values, depth)
        case ast.Call(func=ast.Attribute(attr="format", value=ast.Constant(value=str(text)))):
            return _formatted(context, text, node, depth)
        case ast.IfExp(body=first, orelse=second):
            return _either([_of(context, first, depth + 1), _of(context, second, depth + 1)])
        case ast.BoolOp(op=ast.Or(), values=values):
            return _either([_of(context, each, depth + 1) for each in values])
        case ast.Subscript(value=table):
            return _values(context, table, depth)
        case ast.Call(func=ast.Attribute(attr="get", value=table), args=[_, default]):
            return _either([_values(context, table, depth), _of(context, default, depth + 1)])
        case ast.Name():
            return _bound(context, node, depth)
    return None


def _either(options: list[set[str] | None]) -> set[str] | None:
    known = [each for each in options if each is not None]
    return set().union(*known) if known and len(known) == len(options) else None


def _joined(parts: list[set[str]]) -> set[str] | None:
    return {"".join(each) for each in itertools.product(*parts)} or None


def _filled(context: Context, node: ast.expr, depth: int) -> set[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int):
        return {str(node.value)}
    return _of(context, node, depth + 1) or {HOLE}


def _part(context: Context, node: ast.expr, depth: int) -> set[str]:
    if isinstance(node, ast.FormattedValue):
        return _filled(context, node.value, depth) if node.format_spec is None and node.conversion == -1 else {HOLE}
    return _filled(context, node, depth)


def _percent(context: Context, text: str, values: list[ast.expr], depth: int) -> set[str] | None:
    literals = _PERCENT.split(text)
    if len(literals) != len(values) + 1 or "%%" in text:
        return None
    parts = [{literals[0]}]
    for value, literal in zip(values, literals[1:], strict=True):
        parts += [_filled(context, value, depth), {literal}]
    return _joined(parts)


def _formatted(context: Context, text: str, call: ast.Call, depth: int) -> set[str] | None:
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
            parts.append({HOLE} if value is None or spec or conversion else _filled(context, value, depth))
    except ValueError:
        return None
    return _joined(parts)


def _values(context: Context, table: ast.expr, depth: int) -> set[str] | None:
    """`{"relu": "ReLU"}[kind]`, also where the dictionary or list has a name."""
    if isinstance(table, ast.Name):
        bound = [context.parents[each] for each in context.stores(table.id)]
        if len(bound) != 1 or not isinstance(bound[0], ast.Assign) or bound[0].targets != context.stores(table.id):
            return None
        table = bound[0].value
    items = (
        table.values
        if isinstance(table, ast.Dict)
        else table.elts
        if isinstance(table, ast.List | ast.Tuple | ast.Set)
        else []
    )
    return _either([_of(context, each, depth + 1) for each in items]) if items else None


def _bound(context: Context, node: ast.Name, depth: int) -> set[str] | None:
    """All that the variable is set to in the function, or else the module, that it belongs to; only the last just before it if that always is."""
    if last := _just_before(context, node):
        return _stored(context, last, depth)
    scope = context.enclosing(node, *SCOPES)
    while True:
        stores = [each for each in context.stores(node.id) if context.enclosing(each, *SCOPES) is scope]
        argument = _argument(scope, node.id)
        if argument is not None:
            return None if stores else _annotated(context, argument, depth)
        if stores or scope is None:
            return _either([_stored(context, each, depth) for each in stores])
        scope = context.enclosing(scope, *SCOPES)


def _just_before(context: Context, node: ast.Name) -> ast.Name | None:
    """Where the variable was set in the same block, with nothing in between that sets it again."""
    statement, source = context.statement_of(node), context.source
    earlier = [
        each
        for each in context.stores(node.id)
        if source.start(each) < source.start(node) and context.statement_of(each) is not statement
    ]
    last = max(earlier, key=source.start, default=None)
    if last is None or isinstance(statement, ast.While):
        return None
    setting = context.parents[last]
    return last if isinstance(setting, ast.Assign) and setting in context.block_of(statement) else None


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


def _annotated(context: Context, argument: ast.arg, depth: int) -> set[str] | None:
    """`kind: Literal["LSTM", "GRU"]`."""
    match argument.annotation:
        case ast.Subscript(value=ast.Name(id="Literal") | ast.Attribute(attr="Literal"), slice=options):
            return _either(
                [
                    _of(context, each, depth + 1)
                    for each in (options.elts if isinstance(options, ast.Tuple) else [options])
                ]
            )
    return None


def _stored(context: Context, name: ast.Name, depth: int) -> set[str] | None:
    parent = context.parents[name]
    if isinstance(parent, ast.Assign) and name in parent.targets:
        return _of(context, parent.value, depth + 1)
    if isinstance(parent, ast.For | ast.comprehension) and parent.target is name:
        return _values(context, parent.iter, depth)
    return None


def _tested(context: Context, node: ast.expr) -> set[str] | None:
    """`if kind in ("LSTM", "GRU"):` around it, `assert kind in ...` before it."""
    text = ast.unparse(node)
    inner: ast.AST = node
    while (outer := context.parents.get(inner)) is not None and not isinstance(inner, SCOPES):
        tests: list[ast.expr] = []
        if isinstance(outer, ast.If | ast.IfExp) and inner in (
            outer.body if isinstance(outer.body, list) else [outer.body]
        ):
            tests.append(outer.test)
        if isinstance(inner, ast.stmt):
            block = context.block_of(inner)
            tests += [each.test for each in block[: block.index(inner)] if isinstance(each, ast.Assert)]
        if found := next((found for each in tests if (found := _allows(context, each, text))), None):
            return found
        inner = outer
    return None


def _allows(context: Context, test: ast.expr, text: str) -> set[str] | None:
    match test:
        case ast.Compare(left=left, ops=[ast.In()], comparators=[options]) if ast.unparse(left) == text:
            if isinstance(options, ast.Dict):
                return _either([_of(context, each, 0) for each in options.keys if each is not None])
            return (
                _values(context, options, 0)
                if not isinstance(options, ast.Name) or not _is_dict(context, options)
                else None
            )
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[option]) if ast.unparse(left) == text:
            return _of(context, option, 0)
        case ast.BoolOp(op=ast.Or(), values=values):
            return _either([_allows(context, each, text) for each in values])
        case ast.BoolOp(op=ast.And(), values=values):
            return next((found for each in values if (found := _allows(context, each, text))), None)
    return None


def _is_dict(context: Context, name: ast.Name) -> bool:
    return any(
        isinstance(parent := context.parents[each], ast.Assign) and isinstance(parent.value, ast.Dict)
        for each in context.stores(name.id)
    )
