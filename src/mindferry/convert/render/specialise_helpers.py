"""Helpers as one project needs them: without arguments that it never gives, methods that it never calls, and what these alone use.

What counts is the text of the whole output. A helper that the project passes on as a value keeps its signature, and a project
without a script, which others import, keeps every method.
"""

from __future__ import annotations

import ast
import functools
import symtable
from collections.abc import Collection, Mapping

from ...read.walk import walk
from .fixed_attributes import WATCHED, is_class, with_fixed_attributes
from .fixed_locals import with_fixed_locals
from .fixed_options import with_fixed_options
from .fold_constants import (
    WIDTH,
    Offsets,
    Span,
    in_strings,
    laid_out,
    parsed,
    reflowed,
    simplified,
    substituted,
)
from .helper_use import UNKNOWN, CallShape, ProjectUse, literal_of, shape_of
from .idle_bases import without_idle_bases
from .inline_helpers import with_inlined

# mindferry's own watched runs wrap these.
WRAPPED = {
    "loss_and_gradients",
    "carried_gradients",
    "add_gradients",
    "value_and_gradients",
    "random_numbers",
    "backward",
    "prepare_cpu",
}
HOOKS = {
    "construct",
    "bprop",
    "append",
    "extend",
    "index",
    "update",
    "persistent_id",
    "find_class",
    "reducer_override",
    "default",
}  # called by others
ROUNDS = 12


def specialised(texts: Mapping[str, str], wanted: Collection[str], use: ProjectUse) -> dict[str, str]:
    """Helpers by name, smaller; those that nothing needs any more are left out."""
    current = reachable(dict(texts), wanted)
    for _ in range(ROUNDS):
        before = current
        current = _without_arguments(dict(current), wanted, use)
        current = with_fixed_attributes(current, use)
        current = with_fixed_options(current, use)
        if not use.is_library:
            current = without_methods(current, use)
        current = {name: text if text == texts[name] else with_fixed_locals(text) for name, text in current.items()}
        current = reachable({name: simplified(text) for name, text in current.items()}, wanted)
        if not use.is_library:
            current = with_inlined(current, {*wanted, *WRAPPED, *use.values})
            current = without_idle_bases(current, {*wanted, *use.values})
        if current == before:
            break
    return {name: text if text == texts[name] else reflowed(text) for name, text in current.items()}


def reachable(texts: dict[str, str], wanted: Collection[str]) -> dict[str, str]:
    found: set[str] = set()
    waiting = [name for name in wanted if name in texts]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [each for each in names_taken(texts[name]) if each in texts and each not in found]
    return {name: text for name, text in texts.items() if name in found}


@functools.lru_cache(maxsize=4096)
def names_taken(text: str) -> frozenset[str]:
    """Names that the text takes from outside; parameters and local variables of the same name don't count."""
    return frozenset(_globals_of(symtable.symtable(text, "helper", "exec")))


def _globals_of(table: symtable.SymbolTable) -> set[str]:
    own = {
        each.get_name()
        for each in table.get_symbols()
        if each.is_referenced() and (each.is_global() or table.get_type() == "module")
    }
    return own.union(*(_globals_of(child) for child in table.get_children()))


def _without_arguments(texts: dict[str, str], wanted: Collection[str], use: ProjectUse) -> dict[str, str]:
    heirs, callers_of = _heirs_in(texts), _callers_in(texts)
    called_otherwise = use.called_otherwise()
    for name in list(texts):
        function = _signature(texts[name])
        if function is None or name in WRAPPED or name in called_otherwise:
            continue
        callers = [name, *_heirs(name, heirs)]
        found = [_calls_of(each, texts, callers_of.get(each, ())) for each in callers]
        if None in found or called_otherwise & set(callers):
            continue
        shapes = [shape for each in found for shape in each or ()]
        shapes += [shape for each in callers for shape in use.calls.get(each, ())]
        if not shapes or any(each in wanted and each not in use.calls for each in callers):
            continue
        if fixed := _fixed_arguments(function, shapes, is_method=is_class(texts[name])):
            _fix_arguments(texts, name, callers, fixed)
    return texts


def _heirs_in(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """By class: those that have its __init__. An argument less changes none of it."""
    found: dict[str, list[str]] = {}
    for name, text in texts.items():
        if (base := _inherited_start(text)) and base != name:
            found.setdefault(base, []).append(name)
    return found


def _callers_in(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """By helper: those that name it. An argument less adds none."""
    found: dict[str, list[str]] = {}
    for name, text in texts.items():
        for called in _calls_in(text):
            found.setdefault(called, []).append(name)
    return found


def _heirs(name: str, heirs: Mapping[str, list[str]]) -> list[str]:
    """Classes that are made with the arguments of this one."""
    found = heirs.get(name, [])
    return [*found, *(heir for each in found for heir in _heirs(each, heirs))]


@functools.lru_cache(maxsize=4096)
def _inherited_start(text: str) -> str:
    """The class whose __init__ a class without one has."""
    match parsed(text).body[0]:
        case ast.ClassDef(bases=[ast.Name(id=base)]) if _signature(text) is None:
            return base
    return ""


def _signature(text: str) -> ast.FunctionDef | None:
    """The function whose arguments a call of the helper gives."""
    node = parsed(text).body[0]
    if isinstance(node, ast.ClassDef):
        return next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    return node if isinstance(node, ast.FunctionDef) and not node.decorator_list else None


def _calls_of(name: str, texts: Mapping[str, str], owners: Collection[str]) -> list[CallShape] | None:
    """Calls within these helpers; None where the helper is more than called there."""
    shapes: list[CallShape] = []
    for owner in owners:
        found = _calls_in(texts[owner]).get(name, ())
        if found is None:
            return None
        shapes += found
    return shapes


@functools.lru_cache(maxsize=4096)
def _calls_in(text: str) -> dict[str, list[CallShape] | None]:
    """By name taken from outside: its calls, or None where it is more than called, or called within a call of its own."""
    tree, names = parsed(text), names_taken(text)
    shown = in_strings(tree)
    found: dict[str, list[CallShape] | None] = {}
    harmless: set[ast.AST] = set()
    if base := _base_of(tree):
        harmless.add(base)
        found[base.id] = [shape_of(call, "helper") for call in _base_calls(tree)]
    for node in walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
                harmless |= set(walk(kinds))
            case ast.Call(func=ast.Name(id=called)) if called in names and node not in shown:
                harmless.add(node.func)
                known = found.setdefault(called, [])
                if sum(_is_named(part, called) for part in walk(node)) > 1:
                    found[called] = None
                elif known is not None:
                    known.append(shape_of(node, "helper"))
    for node in walk(tree):
        if isinstance(node, ast.Name | ast.arg) and node not in harmless:
            name = node.id if isinstance(node, ast.Name) else node.arg
            if name in names:
                found[name] = None
    return found


def _base_of(tree: ast.Module) -> ast.Name | None:
    """The one class that a class derives from, where it is made by a plain super().__init__(…)."""
    match tree.body[0]:
        case ast.ClassDef(bases=[ast.Name() as base]):
            return base
    return None


def _base_calls(tree: ast.Module) -> list[ast.Call]:
    return [
        node
        for node in walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "__init__"
        and isinstance(node.func.value, ast.Call)
        and isinstance(node.func.value.func, ast.Name)
        and node.func.value.func.id == "super"
    ]


def _is_named(node: ast.AST, name: str) -> bool:
    """A use of the name as a value, or another thing of the same name."""
    return (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.arg) and node.arg == name)


def _fixed_arguments(function: ast.FunctionDef, shapes: list[CallShape], is_method: bool) -> dict[str, str]:
    """Arguments that have one and the same literal value in every call, and that the project itself never gives."""
    if any(shape.is_open for shape in shapes) or function.args.posonlyargs:
        return {}
    plain = function.args.args[1:] if is_method else function.args.args
    defaults = dict(zip([each.arg for each in reversed(plain)], reversed(function.args.defaults), strict=False))
    defaults |= {
        each.arg: default
        for each, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
        if default
    }
    places = {each.arg: index for index, each in enumerate(plain)}
    fixed = {}
    for argument in [*plain, *function.args.kwonlyargs]:
        name = argument.arg
        values, is_given = set(), False
        for shape in shapes:
            place = places.get(name, len(shape.positions))
            given = shape.positions[place] if place < len(shape.positions) else shape.keywords.get(name)
            is_given |= given is not None and not shape.owner
            values.add(literal_of(defaults.get(name)) if given is None else given)
        if len(values) == 1 and UNKNOWN not in values and not is_given:
            fixed[name] = values.pop()
    if fixed:
        rebound = _rebound(function)
        fixed = {name: value for name, value in fixed.items() if name not in rebound}
    if function.args.vararg and any(name in places for name in fixed):
        return {}
    return fixed


def _rebound(function: ast.FunctionDef) -> set[str]:
    """Names that the function sets, or shows in an f-string."""
    nodes, shown = walk(function), in_strings(function)
    return {node.id for node in nodes if type(node) is ast.Name and (type(node.ctx) is ast.Store or node in shown)}


def _fix_arguments(texts: dict[str, str], name: str, callers: Collection[str], fixed: Mapping[str, str]) -> None:
    """The constants stand in the body, and neither the signature nor the calls have them any more."""
    text = texts[name]
    function = _signature(text)
    assert function is not None
    if "#" in _header(text, function):
        return
    places = [each.arg for each in (function.args.args[1:] if is_class(text) else function.args.args)]
    for owner in list(texts):
        if owner != name and any(each in texts[owner] for each in callers):
            texts[owner] = _calls_without(texts[owner], callers, places, fixed)
    spans = [*substituted(text, function, fixed), _signature_without(text, function, fixed)]
    texts[name] = Offsets(text).edited(spans)
    texts[name] = _calls_without(texts[name], callers, places, fixed)


def _header(text: str, function: ast.FunctionDef) -> str:
    offsets = Offsets(text)
    return offsets.data[offsets.start(function) : offsets.start(function.body[0])].decode()


def _signature_without(text: str, function: ast.FunctionDef, fixed: Mapping[str, str]) -> Span:
    offsets, given = Offsets(text), function.args
    shown = [None] * (len(given.args) - len(given.defaults)) + list(given.defaults)
    items = [
        _shown(each, default, offsets) for each, default in zip(given.args, shown, strict=True) if each.arg not in fixed
    ]
    later = [
        _shown(each, default, offsets)
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if each.arg not in fixed
    ]
    if given.vararg:
        items.append(f"*{given.vararg.arg}")
    elif later:
        items.append("*")
    items += later + ([f"**{given.kwarg.arg}"] if given.kwarg else [])
    header = _header(text, function)
    start = offsets.start(function)
    length = len(header[: header.rindex(":") + 1].encode())
    head = f"def {function.name}("
    return start, start + length, laid_out(head, items, "):", function.col_offset, WIDTH)


def _shown(argument: ast.arg, default: ast.expr | None, offsets: Offsets) -> str:
    return argument.arg if default is None else f"{argument.arg}={offsets.of(default)}"


def _calls_without(text: str, names: Collection[str], places: list[str], fixed: Mapping[str, str]) -> str:
    """Every call of the helper without these arguments. None stands within another: `_calls_of` saw to that."""
    offsets, spans, tree = Offsets(text), [], parsed(text)
    base = _base_of(tree)
    own = _base_calls(tree) if base is not None and base.id in names else []
    for node in walk(tree):
        is_named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
        if not isinstance(node, ast.Call) or not (is_named or node in own):
            continue
        kept = [each for place, each in enumerate(node.args) if place >= len(places) or places[place] not in fixed]
        named = [each for each in node.keywords if each.arg not in fixed]
        if len(kept) + len(named) < len(node.args) + len(node.keywords):
            items = [offsets.of(each) for each in (*kept, *named)]
            line = offsets.data[offsets.line(node.lineno) : offsets.start(node)].decode()
            column = len(line) - len(line.lstrip())
            new = laid_out(f"{offsets.of(node.func)}(", items, ")", column, WIDTH - len(line.lstrip()))
            spans.append((offsets.start(node), offsets.end(node), new))
    return offsets.edited(spans)


def without_methods(texts: dict[str, str], use: ProjectUse) -> dict[str, str]:
    """Methods that are reached neither from the project nor from what is kept go."""
    methods: dict[tuple[str, str], frozenset[str]] = {}
    kept_names = set(use.mentioned) | use.stored | WATCHED | HOOKS
    for name, text in texts.items():
        others, own = _methods_in(text)
        kept_names |= others
        methods |= {(name, method): asked for method, asked in own.items()}
    reached: set[tuple[str, str]] = set()
    while found := {key for key in methods if key not in reached and key[1] in kept_names}:
        reached |= found
        kept_names = kept_names.union(*(methods[key] for key in found))
    for name, text in texts.items():
        gone = {method for owner, method in methods if owner == name and (owner, method) not in reached}
        if gone:
            texts[name] = _class_without(text, gone)
    return texts


@functools.lru_cache(maxsize=4096)
def _methods_in(text: str) -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    """(what a helper asks of objects outside of its methods, the same by method)."""
    node = parsed(text).body[0]
    if not isinstance(node, ast.ClassDef):
        return frozenset(_attribute_names(node)), {}
    others: set[str] = set()
    own: dict[str, frozenset[str]] = {}
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and not each.name.startswith("__"):
            own[each.name] = own.get(each.name, frozenset()) | _attribute_names(each)
        else:
            others |= _attribute_names(each)
    return frozenset(others), own


def _attribute_names(node: ast.AST) -> set[str]:
    """What a piece of code may ask of an object: attributes, names of attributes as strings, and plain names within a class."""
    found = set()
    for each in walk(node):
        match each:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.Constant(value=str() as name):
                found.add(name)
    return found


def _class_without(text: str, gone: set[str]) -> str:
    node, offsets = parsed(text).body[0], Offsets(text)
    assert isinstance(node, ast.ClassDef)
    spans = []
    for before, each in zip([None, *node.body], node.body, strict=False):
        if isinstance(each, ast.FunctionDef) and each.name in gone and before is not None:
            spans.append((offsets.line((before.end_lineno or 0) + 1), offsets.line((each.end_lineno or 0) + 1), ""))
    return offsets.edited(spans)
