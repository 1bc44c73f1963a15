"""torch's modules as values: `nn = torch.nn`, `hasattr(torch, "compile")`, `getattr(F, "gelu")`."""

from __future__ import annotations

import ast

from ... import findings
from ...apis._table import canonical
from ..context import Context
from ..render.imports import delete_statement
from . import built_names

LONGEST = 24  # names of a table that is written out
CHOICE_ADVICE = "add the others that it may be to the table, as `'GELU': nn.GELU`; or test it, `assert name in ('ReLU', 'GELU')`, and convert again"


def prepare(context: Context) -> None:
    for call in context.source.of(ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id in ("hasattr", "getattr") and len(call.args) >= 2:
            _look_up(context, call)
    for part in context.source.of(ast.Subscript):
        _index(context, part)
    for compared in context.source.of(ast.Compare):
        _search(context, compared)
    for node in context.source.of(ast.Assign):
        if _is_alias(context, node):
            context.handled |= set(ast.walk(node))


def finish(context: Context) -> None:
    for node in context.source.of(ast.Assign):
        if node.value in context.handled and _is_alias(context, node):
            if len(context.block_of(node)) == 1:
                context.edits.replace_node(node, "pass")
            else:
                delete_statement(context.edits, node)


def _is_alias(context: Context, node: ast.Assign) -> bool:
    """`nn = torch.nn` is an import by another name: what is taken from it converts, so it goes as the imports do."""
    names = [each for each in node.targets if isinstance(each, ast.Name)]
    return (
        len(names) == len(node.targets)
        and _module(context, node.value) != ""
        and all(len(context.stores(each.id)) == 1 for each in names)
    )


def _module(context: Context, node: ast.expr) -> str:
    if not isinstance(node, ast.Name | ast.Attribute):
        return ""
    api = context.api(node)
    is_torch = api.startswith("torch") and context.rules.is_module(api) and not context.reading.symbols.is_local(api)
    return api if is_torch and context.rules.get(api) is None else ""


def _look_up(context: Context, node: ast.Call) -> None:
    """Decided now: the names that have a rule are there, the others are not."""
    asks = isinstance(node.func, ast.Name) and node.func.id == "hasattr"
    home, name = _named(context, node.args[0]), node.args[1]
    if home and not asks and not isinstance(name, ast.Constant):
        return _choose(context, node, home, name, node.args[0])
    if not home or not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return None
    api = f"{home}.{name.value}"
    target = _target(context, api)
    if asks:
        new = str(_is_there(context, api))
    elif target:
        new = context.imports.spell(target)
    elif len(node.args) > 2 and not context.rules.is_module(api):
        return _take_default(context, node)
    else:
        return None
    _decide(context, node, new)


def _index(context: Context, node: ast.Subscript) -> None:
    """`nn.__dict__[name]`, `vars(nn)[name]`."""
    match node.value:
        case (
            ast.Attribute(attr="__dict__", value=owner) | ast.Call(func=ast.Name(id="vars"), args=[owner], keywords=[])
        ):
            home = _named(context, owner)
        case _:
            return
    if home and isinstance(node.ctx, ast.Load):
        _choose(context, node, home, node.slice, node.value)


def _choose(context: Context, node: ast.Call | ast.Subscript, home: str, chosen: ast.expr, owner: ast.expr) -> None:
    """`getattr(nn, kind)`: a table of the names that it may be; where that can't be told, of those that this file mentions, and a finding."""
    names, lacking = _options(context, home, chosen)
    targets = {
        name: target
        for name in (_mentioned(context) if names is None else names)
        if (target := _target(context, f"{home}.{name}"))
    }
    if not targets:
        return
    known = ", ".join(targets)
    if names is None:
        context.find(
            node,
            findings.MF102,
            f"which of {home} is chosen here can't be told; the table has what this file mentions: {known}",
            CHOICE_ADVICE,
            "warning",
            home,
        )
    elif lacking:
        context.find(
            node,
            findings.MF102,
            f"{', '.join(lacking)} of {home}, which may be chosen here, has no counterpart; the table has {known}",
            CHOICE_ADVICE,
            "warning",
            home,
        )
    table = "{" + ", ".join(f"{name!r}: {context.imports.spell(target)}" for name, target in targets.items()) + "}"
    source, before = context.source, context.source.text(node)
    context.handled |= {node, *ast.walk(owner), *(ast.walk(node.func) if isinstance(node, ast.Call) else ())}
    if isinstance(node, ast.Call) and len(node.args) > 2:
        comma = source.find_token(b",", source.end(owner), source.start(chosen))
        context.edits.replace(source.start(node), source.skip_trivia(comma + 1), f"{table}.get(")
    else:
        context.edits.replace(source.start(node), source.start(chosen), f"{table}[")
        context.edits.replace(source.end(chosen), source.end(node), "]")
    context.rewritten(node, "torch", before, table)


def _options(context: Context, home: str, chosen: ast.expr) -> tuple[list[str] | None, list[str]]:
    """(the names that it may be, None if that can't be told; those of them that have no counterpart)."""
    found = built_names.patterns(context, chosen)
    if found is None:
        return None, []
    prefix = canonical(f"{home}.")
    all_names = sorted(
        each.api[len(prefix) :]
        for each in context.rules
        if each.api.startswith(prefix) and each.api[len(prefix) :].isidentifier()
    )
    names: list[str] = []
    for pattern in _in_order(context, found):
        names += built_names.names_like(pattern, all_names) if built_names.HOLE in pattern else [pattern]
    if len(names) > LONGEST:
        return None, []
    literal = [each for each in found if built_names.HOLE not in each]
    return list(dict.fromkeys(names)), sorted(name for name in literal if not _target(context, f"{home}.{name}"))


def _in_order(context: Context, found: set[str]) -> list[str]:
    """As the file mentions them."""
    mentioned = {name: index for index, name in enumerate(_mentioned(context))}
    return sorted(found, key=lambda each: (mentioned.get(each, len(mentioned)), each))


def _mentioned(context: Context) -> list[str]:
    return list(
        dict.fromkeys(
            each.value
            for each in context.source.of(ast.Constant)
            if isinstance(each.value, str) and each.value.isidentifier()
        )
    )


def _target(context: Context, api: str) -> str:
    """What stands for an API as a value, or ''."""
    entry = context.rules.get(api)
    target = "" if entry is None or entry.missing else entry.like or entry.to
    return "" if target.startswith(".") else target


def _take_default(context: Context, node: ast.Call) -> None:
    """The default is converted in its place; what stands around it goes."""
    source, default = context.source, node.args[2]
    is_one_thing = isinstance(default, ast.Name | ast.Attribute | ast.Constant | ast.Call)
    context.handled |= {node, *ast.walk(node.func), *ast.walk(node.args[0]), node.args[1]}
    context.edits.replace(source.start(node), source.start(default), "" if is_one_thing else "(")
    context.edits.replace(source.end(default), source.end(node), "" if is_one_thing else ")")
    context.rewritten(node, "torch", source.text(node), source.text(default))


def _search(context: Context, node: ast.Compare) -> None:
    """`"silu" in dir(torch.nn.functional)`."""
    match node:
        case ast.Compare(
            left=ast.Constant(value=str(name)),
            ops=[ast.In() | ast.NotIn()],
            comparators=[ast.Call(func=ast.Name(id="dir"), args=[owner])],
        ) if home := _module(context, owner):
            _decide(context, node, str(_is_there(context, f"{home}.{name}") is isinstance(node.ops[0], ast.In)))


def _is_there(context: Context, api: str) -> bool:
    entry = context.rules.get(api)
    return not entry.missing if entry is not None else context.rules.is_module(api)


def _decide(context: Context, node: ast.expr, new: str) -> None:
    context.handled |= set(ast.walk(node))
    context.edits.replace_node(node, new)
    context.rewritten(node, "torch", context.source.text(node), new)


def _named(context: Context, node: ast.expr) -> str:
    """The torch module that an expression is: `torch.nn`, `getattr(torch, "compiler", None)`."""
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), *_]):
            home = _named(context, owner)
            return f"{home}.{name}" if home and context.rules.is_module(f"{home}.{name}") else ""
    return _module(context, node)
