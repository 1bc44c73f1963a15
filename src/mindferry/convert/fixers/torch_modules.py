"""torch's modules as values: `nn = torch.nn`, `hasattr(torch, "compile")`, `getattr(F, "gelu")`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from ... import findings
from ..facts import Facts
from ..module_tables import LONGEST, classes_of
from ..names_in_text import target_of
from ..plan import AtEnd, Change, Edit, RemoveStatement, ReplaceNode, ReplaceSpan, Text, Texts, claim, claim_all
from . import built_names

IMPORT_ADVICE = "import it by a statement, and convert again"
CHOICE_ADVICE = "add the others that it may be to the table, as `'GELU': nn.GELU`; or test it, `assert name in ('ReLU', 'GELU')`, and convert again"


def plan(facts: Facts) -> Iterator[Change]:
    for call in facts.source.calls_named("hasattr", "getattr"):
        if isinstance(call.func, ast.Name) and len(call.args) >= 2:
            yield from _look_up(facts, call)
    for call in facts.source.calls_named("import_module"):
        yield from _import_one_of(facts, call)
    for part in facts.source.of(ast.Subscript):
        yield from _index(facts, part)
    for compared in facts.source.of(ast.Compare):
        yield from _search(facts, compared)
    aliases = [node for node in facts.source.of(ast.Assign) if _is_alias(facts, node)]
    for node in aliases:
        yield claim_all(node)
        if not _is_left_somewhere(facts, node):
            yield AtEnd(partial(_remove, facts, node))
    for call in facts.source.of(ast.Call):
        if not (module := _module(facts, call)):
            continue
        parent = facts.parents.get(call)
        if parent not in aliases and not isinstance(parent, ast.Attribute):
            yield facts.found(call, findings.MF102, f"{module} as a value has no counterpart", IMPORT_ADVICE)


def _remove(facts: Facts, node: ast.Assign, texts: Texts) -> Iterator[Edit]:
    if len(facts.block_of(node)) == 1:
        yield ReplaceNode(node, "pass")
    else:
        yield RemoveStatement(node)


def _is_alias(facts: Facts, node: ast.Assign) -> bool:
    """`nn = torch.nn` is an import by another name: what is taken from it converts, so it goes as the imports do."""
    if not _module(facts, node.value):
        return False
    names = [each for each in node.targets if isinstance(each, ast.Name)]
    return len(names) == len(node.targets) and all(len(facts.stores(each.id)) == 1 for each in names)


def _is_left_somewhere(facts: Facts, alias: ast.Assign) -> bool:
    """`aten = torch.ops.aten`, then `{aten.mm: 2}`: what has no counterpart stays, and needs the name."""
    names = [each.id for each in alias.targets if isinstance(each, ast.Name)]
    uses = [use for name in names for use in facts.source.named.get(name, ()) if isinstance(use.ctx, ast.Load)]
    return any(not _converts(facts, use) for use in uses)


def _converts(facts: Facts, use: ast.expr) -> bool:
    """Whether it, or something that is taken from it, has a counterpart; a variable of the same name is nothing of torch's."""
    api = facts.api(use)
    if not api or not facts.framework.is_own(api):
        return True
    entry = facts.rules.get(api)
    if entry is not None:
        return not entry.missing
    above = facts.parents.get(use)
    return isinstance(above, ast.Attribute) and above.value is use and _converts(facts, above)


def _module(facts: Facts, node: ast.expr) -> str:
    if not isinstance(node, ast.Name | ast.Attribute | ast.Call):
        return ""
    if not (api := facts.api(node)):
        return ""
    is_torch = facts.framework.is_own(api) and facts.rules.is_module(api) and not facts.reading.symbols.is_local(api)
    return api if is_torch and facts.rules.get(api) is None else ""


def _look_up(facts: Facts, node: ast.Call) -> Iterator[Change]:
    """Decided now: the names that have a rule are there, the others are not."""
    asks = isinstance(node.func, ast.Name) and node.func.id == "hasattr"
    home, name = _named(facts, node.args[0]), node.args[1]
    if home and not isinstance(name, ast.Constant):
        yield from (_ask if asks else _choose)(facts, node, home, name, node.args[0])
    if not home or not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return
    api = f"{home}.{name.value}"
    target = _target(facts, api)
    if asks:
        yield from _decide(facts, node, str(_is_there(facts, api)))
    elif target:
        yield from _decide(facts, node, lambda texts: texts.name(target))
    elif len(node.args) > 2 and not facts.rules.is_module(api):
        yield from _take_default(facts, node)


def _index(facts: Facts, node: ast.Subscript) -> Iterator[Change]:
    """`nn.__dict__[name]`, `vars(nn)[name]`."""
    match node.value:
        case (
            ast.Attribute(attr="__dict__", value=owner) | ast.Call(func=ast.Name(id="vars"), args=[owner], keywords=[])
        ):
            home = _named(facts, owner)
        case _:
            return
    if home and isinstance(node.ctx, ast.Load):
        called = facts.parents.get(node)
        if isinstance(called, ast.Call) and called.func is node:  # what is chosen is called, not the __dict__
            yield claim(called)
        yield from _choose(facts, node, home, node.slice, node.value)


def _import_one_of(facts: Facts, call: ast.Call) -> Iterator[Change]:
    """`import_module(name).SummaryWriter`, where name is one of a few: what stands for each, if all of them have something."""
    parent = facts.parents.get(call)
    if not isinstance(parent, ast.Attribute) or len(call.args) != 1 or isinstance(call.args[0], ast.Constant):
        return
    names = built_names.patterns(facts, call.args[0]) or set()
    targets = {name: _target(facts, f"{name}.{parent.attr}") for name in sorted(names)}
    if not targets or not all(targets.values()):
        return
    chosen, source = call.args[0], facts.source

    def table(texts: Texts) -> str:
        return "{" + ", ".join(f"{name!r}: {texts.name(target)}" for name, target in targets.items()) + "}"

    yield claim_all(parent)
    yield ReplaceNode(parent, lambda texts: f"{table(texts)}[{source.text(chosen)}]")
    yield facts.record(parent, facts.framework.name, source.text(parent), table)


def _choose(
    facts: Facts, node: ast.Call | ast.Subscript, home: str, chosen: ast.expr, owner: ast.expr
) -> Iterator[Change]:
    """`getattr(nn, kind)`: a table of the names that it may be; where that can't be told, of those that this file mentions, and a finding."""
    names, lacking = _options(facts, home, chosen)
    if names is None:
        names = list(classes_of(home, facts.rules, facts.framework)) or None
    targets = _targets(facts, home, chosen, names)
    if not targets:
        return
    known, said = ", ".join(targets), ""
    if names is None:
        said = f"which of {home} is chosen here can't be told; the table has what this file or a configuration mentions: {known}"
    elif lacking:
        said = f"{', '.join(lacking)} of {home}, which may be chosen here, has no counterpart; the table has {known}"
    if said:
        yield facts.found(node, findings.MF102, said, CHOICE_ADVICE, "warning", home)

    def table(texts: Texts) -> str:
        return "{" + ", ".join(f"{name!r}: {texts.name(target)}" for name, target in targets.items()) + "}"

    source, before = facts.source, facts.source.text(node)
    yield claim(node)
    yield claim_all(owner, *([node.func] if isinstance(node, ast.Call) else []))
    if isinstance(node, ast.Call) and len(node.args) > 2:
        comma = source.find_token(b",", source.end(owner), source.start(chosen))
        yield ReplaceSpan(source.start(node), source.skip_trivia(comma + 1), lambda texts: f"{table(texts)}.get(")
    else:
        yield ReplaceSpan(source.start(node), source.start(chosen), lambda texts: f"{table(texts)}[")
        yield ReplaceSpan(source.end(chosen), source.end(node), "]")
    yield facts.record(node, facts.framework.name, before, table)


def _ask(
    facts: Facts, node: ast.Call | ast.Subscript, home: str, chosen: ast.expr, owner: ast.expr
) -> Iterator[Change]:
    """`hasattr(torch, name)`: whether it is one of those that a table would have; `getattr` beside it says which those are."""
    options = _options(facts, home, chosen)[0] or list(classes_of(home, facts.rules, facts.framework)) or None
    names = list(_targets(facts, home, chosen, options))
    if not names:
        return
    source, before = facts.source, facts.source.text(node)
    is_one_thing = isinstance(chosen, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    opening, closing = ("(", " in ") if is_one_thing else ("((", ") in ")
    listed = f"({', '.join(map(repr, names))},)"
    yield claim(node)
    yield claim_all(owner, *([node.func] if isinstance(node, ast.Call) else []))
    yield ReplaceSpan(source.start(node), source.start(chosen), opening)
    yield ReplaceSpan(source.end(chosen), source.end(node), f"{closing}{listed})")
    yield facts.record(node, facts.framework.name, before, f"{source.text(chosen)} in {listed}")


def _targets(facts: Facts, home: str, chosen: ast.expr, names: list[str] | None) -> dict[str, str]:
    """What stands for the names that it may be; where these can't be told, for those that this file mentions."""
    options = [*facts.derived(_mentioned), *_kinds_of_numbers(facts, home, chosen)] if names is None else names
    return {name: target for name in options if (target := _target(facts, f"{home}.{name}"))}


def _options(facts: Facts, home: str, chosen: ast.expr) -> tuple[list[str] | None, list[str]]:
    """(the names that it may be, None if that can't be told; those of them that have no counterpart)."""
    found = built_names.patterns(facts, chosen)
    if found is None:
        return None, []
    prefix = facts.framework.canonical(f"{home}.")
    all_names = sorted(
        each.api[len(prefix) :]
        for each in facts.rules
        if each.api.startswith(prefix) and each.api[len(prefix) :].isidentifier()
    )
    names: list[str] = []
    for pattern in _in_order(facts, found):
        names += built_names.names_like(pattern, all_names) if built_names.HOLE in pattern else [pattern]
    if len(names) > LONGEST:
        return None, []
    literal = [each for each in found if built_names.HOLE not in each]
    return list(dict.fromkeys(names)), sorted(name for name in literal if not _target(facts, f"{home}.{name}"))


def _kinds_of_numbers(facts: Facts, home: str, chosen: ast.expr) -> list[str]:
    """`getattr(torch, config.torch_dtype)`: all of them, where the text is called so."""
    is_kind = home == facts.framework.name and "dtype" in ast.unparse(chosen)
    return [each.rpartition(".")[2] for each in sorted(facts.framework.dtypes)] if is_kind else []


def _in_order(facts: Facts, found: set[str]) -> list[str]:
    """As the file mentions them."""
    mentioned = facts.derived(_places_of_mentioned)
    return sorted(found, key=lambda each: (mentioned.get(each, len(mentioned)), each))


def _places_of_mentioned(facts: Facts) -> dict[str, int]:
    return {name: index for index, name in enumerate(facts.derived(_mentioned))}


def _mentioned(facts: Facts) -> list[str]:
    texts = (each.value for each in facts.source.of(ast.Constant) if isinstance(each.value, str))
    return list(dict.fromkeys((*(text for text in texts if text.isidentifier()), *facts.settings.texts.values)))


def _target(facts: Facts, api: str) -> str:
    return target_of(api, facts.rules)


def _take_default(facts: Facts, node: ast.Call) -> Iterator[Change]:
    """The default is converted in its place; what stands around it goes."""
    source, default = facts.source, node.args[2]
    is_one_thing = isinstance(default, ast.Name | ast.Attribute | ast.Constant | ast.Call)
    yield claim(node, node.args[1])
    yield claim_all(node.func, node.args[0])
    yield ReplaceSpan(source.start(node), source.start(default), "" if is_one_thing else "(")
    yield ReplaceSpan(source.end(default), source.end(node), "" if is_one_thing else ")")
    yield facts.record(node, facts.framework.name, source.text(node), source.text(default))


def _search(facts: Facts, node: ast.Compare) -> Iterator[Change]:
    """`"silu" in dir(torch.nn.functional)`."""
    match node:
        case ast.Compare(
            left=ast.Constant(value=str(name)),
            ops=[ast.In() | ast.NotIn()],
            comparators=[ast.Call(func=ast.Name(id="dir"), args=[owner])],
        ) if home := _module(facts, owner):
            is_so = _is_there(facts, f"{home}.{name}") is isinstance(node.ops[0], ast.In)
            yield from _decide(facts, node, str(is_so))


def _is_there(facts: Facts, api: str) -> bool:
    entry = facts.rules.get(api)
    return not entry.missing if entry is not None else facts.rules.is_module(api)


def _decide(facts: Facts, node: ast.expr, new: Text) -> Iterator[Change]:
    yield claim_all(node)
    yield ReplaceNode(node, new)
    yield facts.record(node, facts.framework.name, facts.source.text(node), new)


def _named(facts: Facts, node: ast.expr) -> str:
    """The torch module that an expression is: `torch.nn`, `getattr(torch, "compiler", None)`."""
    match node:
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), *_]):
            home = _named(facts, owner)
            return f"{home}.{name}" if home and facts.rules.is_module(f"{home}.{name}") else ""
    return _module(facts, node)
