"""Tensors of the user's own that gradients are taken of, made elsewhere than in a plain assignment.

`return torch.randn(3, requires_grad=True)`, `params["w"] = …`, `w, b = …, …`, `[… for n in sizes]`, `for p in params: p.requires_grad_()`:
each becomes a parameter, and the names that hold such are where gradients start.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from ...read.uses import Use
from ...read.walk import walk
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, ReplaceNode, Texts, claim_all
from . import make_leaf_parameters

AFTER = ("make_leaf_parameters",)
FUNCTIONS = make_leaf_parameters.FUNCTIONS
COPIES = frozenset("list tuple dict set reversed sorted".split())
ONE, MANY = "one", "many"


@dataclass(slots=True)
class Holders:
    """What holds such tensors: names, by their scope, and attributes, by their class."""

    names: dict[tuple[ast.AST, str], str] = field(default_factory=dict)  # -> ONE or MANY
    attributes: set[tuple[ast.AST | None, str]] = field(default_factory=set)
    makers: set[ast.stmt] = field(default_factory=set)  # the statements that bind them anew


def plan(facts: Facts) -> Iterator[Change]:
    for call in facts.derived(_made_elsewhere):
        yield AtEnd(partial(_wrap, facts, call))
    for loop in facts.derived(_marking_loops):
        yield claim_all(loop)
        yield AtEnd(partial(_write_loop, facts, loop))
    for statement, item in facts.derived(_marked_items).items():
        yield claim_all(statement)
        yield AtEnd(partial(_write_item, facts, statement, item))


def holds(facts: Facts, node: ast.expr) -> str:
    """ONE if the name or attribute is such a tensor, MANY if it holds several, otherwise ''."""
    holders = facts.derived(_holders)
    if isinstance(node, ast.Attribute):
        is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return MANY if is_own and (facts.enclosing(node, ast.ClassDef), node.attr) in holders.attributes else ""
    return _of_name(facts, node, holders) if isinstance(node, ast.Name) else ""


def is_seen_from_outside(facts: Facts, node: ast.expr, scope: ast.AST) -> bool:
    """Whether a name that a function reads is none of its own, so that its caller may name it too."""
    return isinstance(node, ast.Name) and not make_leaf_parameters.is_local(facts, scope, node.id)


def makes(facts: Facts, statement: ast.stmt) -> bool:
    """Whether it makes such tensors: the gradient starts after it."""
    return statement in facts.derived(_holders).makers


def marks(facts: Facts, call: ast.Call) -> bool:
    """Whether it is a `requires_grad_()` that is written here."""
    statement = facts.statement_of(call)
    return facts.parents.get(statement) in facts.derived(_marking_loops) or statement in facts.derived(_marked_items)


def _wrap(facts: Facts, call: ast.Call, texts: Texts) -> Iterator[Edit]:
    yield ReplaceNode(call, f"{texts.name('compat.leaf')}({texts.of(call)})")
    yield facts.record(call, facts.uses.name(Use.REQUIRES_GRADIENT), facts.source.text(call), texts.of(call))


def _write_loop(facts: Facts, loop: ast.For, texts: Texts) -> Iterator[Edit]:
    assert isinstance(loop.target, ast.Name)
    leaf, item = texts.name("compat.leaf"), loop.target.id
    match loop.iter:
        case ast.Name(id=name):
            display = facts.derived(_displays).get((_scope(facts, loop), name))
            names = [each.id for each in display.elts if isinstance(each, ast.Name)] if display is not None else []
            is_whole = display is not None and len(names) == len(display.elts)
            also = f"{', '.join(names)}{',' * (len(names) == 1)} = " if is_whole and names else ""
            made = f"[{leaf}({item}) for {item} in {name}]"
            is_tuple = isinstance(display, ast.Tuple)
            text = f"{also}{name} = tuple({made})" if is_tuple else f"{also}{name}[:] = {made}"
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            names = [each.id for each in elts if isinstance(each, ast.Name)]
            text = f"{', '.join(names)}{',' * (len(names) == 1)} = [{leaf}({item}) for {item} in {texts.of(loop.iter)}]"
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
            text = f"{name}.update({{key: {leaf}({item}) for key, {item} in {name}.items()}})"
        case _:
            return
    yield ReplaceNode(loop, text)
    yield facts.record(loop, facts.uses.name(Use.REQUIRES_GRADIENT), facts.source.text(loop), text)


def _write_item(facts: Facts, statement: ast.stmt, item: ast.Subscript, texts: Texts) -> Iterator[Edit]:
    place = texts.of(item)
    yield ReplaceNode(statement, f"{place} = {texts.name('compat.leaf')}({place})")
    yield facts.record(statement, facts.uses.name(Use.REQUIRES_GRADIENT), facts.source.text(statement), place)


def _is_concerned(facts: Facts) -> bool:
    """Whether the file marks tensors and takes gradients of a loss, which are kept where they belong."""
    has_words = b"requires_grad" in facts.source.data or facts.source.mentions("Parameter")
    takes_gradients = not facts.source.members.keys().isdisjoint(("grad", "backward")) or facts.hands_losses_on
    return has_words and takes_gradients


def _made_elsewhere(facts: Facts) -> list[ast.Call]:
    """The calls that make such a tensor for a container, a caller or one of several names."""
    if b"requires_grad" not in facts.source.data or not _is_concerned(facts):
        return []
    return [
        call
        for call in facts.source.of(ast.Call)
        if make_leaf_parameters.requires(facts, call)
        and not facts.is_use(Use.PARAMETER, call.func)
        and _is_kept(facts, call)
    ]


def _is_kept(facts: Facts, node: ast.expr) -> bool:
    """Whether its value goes, as it is, into a container, to a caller or to one of several names."""
    parent = facts.parents.get(node)
    match parent:
        case ast.IfExp() if node is not parent.test:
            return _is_kept(facts, parent)
        case ast.Return():
            owner = facts.enclosing(parent, ast.ClassDef)
            return owner is None or not _is_network_class(facts, owner)
        case ast.List() | ast.Tuple() | ast.Dict() | ast.ListComp() | ast.GeneratorExp() | ast.DictComp():
            return True
        case ast.Assign(targets=[ast.Subscript()]):
            return True
        case ast.Call(func=ast.Attribute(attr="append" | "setdefault")):
            return node in parent.args
    return False


def _is_network_class(facts: Facts, owner: ast.AST) -> bool:
    name = facts.reading.owners.get(owner, "")
    return not name or facts.reading.symbols.is_module(name)


def _marking_loops(facts: Facts) -> list[ast.For]:
    """`for p in params: p.requires_grad_()`, where the file itself says what params holds."""
    loops = facts.source.of(ast.For) if _is_concerned(facts) else []
    return [loop for loop in loops if _marks_all(facts, loop)]


def _marks_all(facts: Facts, loop: ast.For) -> bool:
    match loop:
        case ast.For(target=ast.Name(id=item), body=[marking], orelse=[]) if _marked(marking, item):
            pass
        case _:
            return False
    scope = _scope(facts, loop)
    match loop.iter:
        case ast.Name(id=name):
            return (scope, name) in facts.derived(_displays) or (scope, name) in facts.derived(_filled)
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            return bool(elts) and all(isinstance(e, ast.Name) and facts.reading.type(e).is_tensor for e in elts)
        case ast.Call(func=ast.Attribute(attr="values", value=ast.Name(id=name))):
            return (scope, name) in facts.derived(_filled)
    return False


def _marked(statement: ast.stmt, item: str) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="requires_grad_", value=ast.Name(id=name))) as call):
            return name == item and make_leaf_parameters.is_marked(call)
        case ast.Assign(
            targets=[ast.Attribute(attr="requires_grad", value=ast.Name(id=name))], value=ast.Constant(value=True)
        ):
            return name == item
    return False


def _marked_items(facts: Facts) -> dict[ast.stmt, ast.Subscript]:
    """`params["b"].requires_grad = True`, `params["b"].requires_grad_()`."""
    found: dict[ast.stmt, ast.Subscript] = {}
    for node in facts.source.of(ast.Subscript) if _is_concerned(facts) else []:
        if not isinstance(node.value, ast.Name) or (_scope(facts, node), node.value.id) not in facts.derived(_filled):
            continue
        match facts.statement_of(node):
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="requires_grad_", value=owner)) as call) as statement:
                if owner is node and make_leaf_parameters.is_marked(call):
                    found[statement] = node
            case (
                ast.Assign(
                    targets=[ast.Attribute(attr="requires_grad", value=owner)], value=ast.Constant(value=True)
                ) as statement
            ):
                if owner is node:
                    found[statement] = node
    return found


def _displays(facts: Facts) -> dict[tuple[ast.AST, str], ast.List | ast.Tuple]:
    """`params = [W1, b1]`: the display of a name that is bound once in its scope, of tensors alone."""
    found: dict[tuple[ast.AST, str], list[ast.List | ast.Tuple | None]] = {}
    for node in facts.source.of(ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                value = node.value
                is_plain = isinstance(value, ast.List | ast.Tuple) and all(_is_fresh(facts, e) for e in value.elts)
                shown = value if is_plain and isinstance(value, ast.List | ast.Tuple) and value.elts else None
                found.setdefault((_scope(facts, node), target.id), []).append(shown)
    return {key: values[0] for key, values in found.items() if len(values) == 1 and values[0] is not None}


def _is_fresh(facts: Facts, node: ast.expr) -> bool:
    """A tensor that is not read from something else, such as a network's weight."""
    return isinstance(node, ast.Name | ast.Call) and facts.reading.type(node).is_tensor


def _filled(facts: Facts) -> dict[tuple[ast.AST, str], None]:
    """Names of lists and dictionaries that the scope fills itself, with tensors."""
    found: dict[tuple[ast.AST, str], None] = {}
    for node in facts.source.nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp(elt=value) | ast.DictComp(value=value)) if (
                _is_fresh(facts, value)
            ):
                found[_scope(facts, node), name] = None
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict(values=values)) if values and all(
                _is_fresh(facts, each) for each in values
            ):
                found[_scope(facts, node), name] = None
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))], value=value) if _is_fresh(facts, value):
                found[_scope(facts, node), name] = None
            case ast.Call(func=ast.Attribute(attr="append", value=ast.Name(id=name)), args=[value]) if _is_fresh(
                facts, value
            ):
                found[_scope(facts, node), name] = None
    return found


def _holders(facts: Facts) -> Holders:
    found = Holders()
    if not _is_concerned(facts):
        return found
    for loop in facts.derived(_marking_loops):
        _note_loop(facts, loop, found)
    for statement, item in facts.derived(_marked_items).items():
        assert isinstance(item.value, ast.Name)
        found.names[_scope(facts, item), item.value.id] = MANY
        found.makers.add(statement)
    before = -1
    while before != (before := len(found.names) + len(found.attributes)):
        for node in facts.source.nodes:
            if isinstance(node, ast.Assign | ast.AnnAssign):
                value = node.value
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if value is not None:
                        _note(facts, target, value, node, found)
            elif isinstance(node, ast.Call):
                _note_appended(facts, node, found)
    return found


def _note_loop(facts: Facts, loop: ast.For, found: Holders) -> None:
    scope = _scope(facts, loop)
    found.makers.add(loop)
    for node in walk(loop.iter):
        if isinstance(node, ast.Name):
            found.names[scope, node.id] = ONE if isinstance(loop.iter, ast.List | ast.Tuple) else MANY
    if isinstance(loop.iter, ast.Name) and (shown := facts.derived(_displays).get((scope, loop.iter.id))) is not None:
        for each in shown.elts:
            if isinstance(each, ast.Name):
                found.names[scope, each.id] = ONE


def _note(facts: Facts, target: ast.expr, value: ast.expr, statement: ast.stmt, found: Holders) -> None:
    match target, value:
        case ((ast.Tuple(elts=names) | ast.List(elts=names)), (ast.Tuple(elts=values) | ast.List(elts=values))):
            if len(names) == len(values):
                for one, other in zip(names, values, strict=True):
                    _note(facts, one, other, statement, found)
            return
    held = _held(facts, value, found)
    if not held:
        return
    is_made = any(isinstance(node, ast.Call) for node in walk(value))
    match target:
        case ast.Name(id=name) if not make_leaf_parameters.makes_leaf(facts, statement):
            found.names.setdefault((_scope(facts, statement), name), held)
        case ast.Tuple(elts=names) | ast.List(elts=names) if held == MANY:
            for each in names:
                if isinstance(each, ast.Name):
                    found.names.setdefault((_scope(facts, statement), each.id), ONE)
        case ast.Subscript(value=owner):
            _note_inside(facts, owner, statement, found)
        case ast.Attribute():
            holder = facts.enclosing(statement, ast.ClassDef)
            if held == MANY and holder is not None and not _is_network_class(facts, holder):
                _note_inside(facts, target, statement, found)
            return
        case _:
            return
    if is_made:
        found.makers.add(statement)


def _note_inside(facts: Facts, owner: ast.expr, statement: ast.AST, found: Holders) -> None:
    match owner:
        case ast.Name(id=name):
            found.names.setdefault((_scope(facts, statement), name), MANY)
        case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
            found.attributes.add((facts.enclosing(statement, ast.ClassDef), attribute))


def _note_appended(facts: Facts, call: ast.Call, found: Holders) -> None:
    match call:
        case ast.Call(func=ast.Attribute(attr="append" | "extend" | "update", value=owner), args=[value]):
            if _held(facts, value, found):
                _note_inside(facts, owner, call, found)
                found.makers.add(facts.statement_of(call))


def _held(facts: Facts, node: ast.expr, found: Holders, depth: int = 0) -> str:
    """Whether a value is such a tensor, or holds some."""

    def inside(*parts: ast.expr | None) -> str:
        return MANY if any(part is not None and _held(facts, part, found, depth) for part in parts) else ""

    match node:
        case ast.Name():
            return ONE if make_leaf_parameters.is_leaf(facts, node) else _of_name(facts, node, found)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
            return inside(*parts)
        case ast.ListComp(elt=part) | ast.GeneratorExp(elt=part) | ast.DictComp(value=part) | ast.Starred(value=part):
            return inside(part)
        case ast.BinOp(op=ast.Add(), left=ast.List() | ast.Name() as left, right=ast.List() | ast.Name() as right):
            return MANY if MANY in (_held(facts, left, found, depth), _held(facts, right, found, depth)) else ""
        case ast.IfExp(body=one, orelse=other):
            return _held(facts, one, found, depth) or _held(facts, other, found, depth)
        case ast.Subscript(value=owner, slice=index):
            held = _held(facts, owner, found, depth)
            return held if isinstance(index, ast.Slice) else ONE if held == MANY else ""
        case ast.Call(func=ast.Name(id=name), args=[part]) if name in COPIES:
            return inside(part)
        case ast.Call(func=ast.Attribute(attr="values" | "copy", value=owner), args=[]):
            return MANY if _held(facts, owner, found, depth) == MANY else ""
        case ast.Call():
            return _of_call(facts, node, found, depth)
    return ""


def _of_call(facts: Facts, call: ast.Call, found: Holders, depth: int) -> str:
    if facts.is_use(Use.PARAMETER, call.func):
        return ONE if facts.enclosing(call, ast.ClassDef) is None else ""
    if make_leaf_parameters.requires(facts, call):
        return ONE if _is_kept(facts, call) else ""
    kind = facts.reading.type(call.func)
    function = facts.derived(_functions).get(kind.qual) if kind.kind in ("ref", "value") else None
    if function is None or depth > 3:
        return ""
    returned = [
        node.value
        for node in make_leaf_parameters.own_nodes(function)
        if isinstance(node, ast.Return) and node.value is not None
    ]
    told = [_held(facts, each, found, depth + 1) for each in returned]
    return next(filter(None, told), "")


def _functions(facts: Facts) -> dict[str, ast.FunctionDef]:
    return {name: node for node, name in facts.reading.owners.items() if isinstance(node, ast.FunctionDef)}


def _of_name(facts: Facts, name: ast.Name, found: Holders) -> str:
    scope = _scope(facts, name)
    while (scope, name.id) not in found.names:
        if scope is facts.source.tree or make_leaf_parameters.is_local(facts, scope, name.id):
            return ""
        scope = _scope(facts, scope)
    return found.names[scope, name.id]


def _scope(facts: Facts, node: ast.AST) -> ast.AST:
    return facts.enclosing(node, *FUNCTIONS) or facts.source.tree
