"""torch's modules as values: `nn = torch.nn`, `hasattr(torch, "compile")`, `getattr(F, "gelu")`."""

from __future__ import annotations

import ast

from ..context import Context
from ..imports import delete_statement


def prepare(context: Context) -> None:
    for call in context.source.of(ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id in ("hasattr", "getattr") and len(call.args) >= 2:
            _look_up(context, call)
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
        len(names) == len(node.targets) and _module(context, node.value) != "" and all(len(context.stores(each.id)) == 1 for each in names)
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
        return _choose(context, node, home)
    if not home or not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return None
    api = f"{home}.{name.value}"
    entry = context.rules.get(api)
    target = "" if entry is None or entry.missing else entry.like or entry.to
    if asks:
        new = str(_is_there(context, api))
    elif target:
        new = context.imports.spell(target)
    elif len(node.args) > 2 and not context.rules.is_module(api):
        return _take_default(context, node)
    else:
        return None
    _decide(context, node, new)


def _choose(context: Context, node: ast.Call, home: str) -> None:
    """`getattr(nn, kind)`: one of the names that this file mentions as text; any other is a KeyError."""
    mentioned = dict.fromkeys(each.value for each in context.source.of(ast.Constant) if isinstance(each.value, str) and each.value.isidentifier())
    entries = {name: context.rules.get(f"{home}.{name}") for name in mentioned}
    targets = {name: entry.like or entry.to for name, entry in entries.items() if entry is not None and not entry.missing}
    if not all(targets.values()) or not targets:
        return
    table = ", ".join(f"{name!r}: {context.imports.spell(target)}" for name, target in targets.items())
    source, chosen = context.source, node.args[1]
    context.handled |= {node, *ast.walk(node.func), *ast.walk(node.args[0])}
    with_default = len(node.args) > 2
    context.edits.replace(source.start(node), source.start(chosen), f"{{{table}}}" + (".get(" if with_default else "["))
    if not with_default:
        context.edits.replace(source.end(chosen), source.end(node), "]")
    context.rewritten(node, "torch", source.text(node), f"{{{table}}}")


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
        case ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In() | ast.NotIn()],
                         comparators=[ast.Call(func=ast.Name(id="dir"), args=[owner])]) if home := _module(context, owner):  # fmt: skip
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
