"""Whether others hold the tensor in a place that is no local name: `self.total`, `states[i]`, `self.moments[name]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts import Facts
from ..bindings import Names
from .holders import KEEPING, SHARING

COPIES = frozenset(
    {"dict", "list", "tuple", "set", "OrderedDict", "deque"}
)  # of a container, with the same tensors in it
PARTS = frozenset({"copy", "values", "items", "get", "pop"})  # of a container: its tensors go on to someone else


def is_shared(facts: Facts, place: ast.expr) -> bool:
    """Whether some line of the file takes the tensor out of the place, or puts one in that has a name of its own."""
    match place:
        case ast.Attribute():
            return any(_is_kept(facts, use, False) for use in _uses(facts, place)) or any(
                _has_name(facts, value) for value in _put_in(facts, place)
            )
        case ast.Subscript(value=ast.Name() | ast.Attribute() as holder):
            if facts.reading.type(holder).kind not in ("list", "dict") or _has_effects(place.slice):
                return False
            given = isinstance(holder, ast.Name) and facts.derived(Names).binding(holder).how == "argument"
            if given or any(_holds_named(facts, value) for value in _put_in(facts, holder)):
                return True
            return any(use is not holder and _is_before(facts, use, holder) for use in _handed_on(facts, holder))
        case ast.Subscript(value=ast.Subscript() as inner):
            return not _has_effects(place.slice) and is_shared(facts, inner)
    return False


def may_be_number(facts: Facts, place: ast.expr) -> bool:
    """`self.total = 0` above `self.total += loss`: a number first, a tensor from then on."""
    return not isinstance(place, ast.Attribute) or not all(
        facts.reading.type(value).is_tensor for value in _put_in(facts, place)
    )


def _is_before(facts: Facts, use: ast.expr, holder: ast.expr) -> bool:
    """A local name that is given away below the change shows it in any case; an attribute may be given away any time."""
    if isinstance(holder, ast.Attribute):
        return True
    loop = facts.enclosing(holder, ast.For, ast.While)
    is_again = loop is not None and facts.is_within(use, loop) and not isinstance(facts.statement_of(use), ast.Return)
    return is_again or facts.source.start(use) < facts.source.start(holder)


def _has_effects(index: ast.expr) -> bool:
    """`rows[next(places)] += 1`: what would be written twice."""
    return any(isinstance(each, ast.Call | ast.NamedExpr) for each in ast.walk(index))


def _uses(facts: Facts, place: ast.Name | ast.Attribute) -> Iterator[ast.expr]:
    """Where the file reads the name, or an attribute of that name."""
    if isinstance(place, ast.Name):
        names = facts.derived(Names)
        yield from names.loads(names.scope(place), place.id)
    else:
        yield from (each for each in facts.source.members.get(place.attr, ()) if isinstance(each.ctx, ast.Load))


def _handed_on(facts: Facts, holder: ast.Name | ast.Attribute) -> list[ast.expr]:
    """Where a container is given tensors with names of their own, or gives one to someone else."""
    known = facts.derived(_HandedOn).known
    key = (facts.derived(Names).scope(holder), holder.id) if isinstance(holder, ast.Name) else (None, holder.attr)
    if key not in known:
        uses = _uses(facts, holder)
        known[key] = [use for use in uses if _is_filled_with_named(facts, use) or _is_kept(facts, use, True)]
    return known[key]


class _HandedOn:
    """Told once for each name of a scope, and for each attribute."""

    def __init__(self, facts: Facts) -> None:
        self.known: dict[tuple[ast.AST | None, str], list[ast.expr]] = {}


def _put_in(facts: Facts, place: ast.Name | ast.Attribute) -> Iterator[ast.expr]:
    """What the file gives the name, or attributes of that name."""
    if isinstance(place, ast.Name):
        yield from facts.derived(Names).values(place)
        return
    for each in facts.source.members.get(place.attr, ()):
        match facts.parents.get(each):
            case ast.Assign(value=value) if isinstance(each.ctx, ast.Store):
                yield value


def _has_name(facts: Facts, value: ast.expr) -> bool:
    """`self.total = start`, `self.row = table[0]`: someone else has the tensor too."""
    match value:
        case ast.Name() | ast.Attribute():
            return facts.reading.type(value).is_tensor
        case ast.Subscript(value=owner, slice=index):
            return facts.reading.type(index).kind not in ("tensor", "list") and facts.reading.type(owner).is_tensor
        case ast.Call(func=ast.Attribute(attr=method, value=owner)):
            return method in SHARING and _has_name(facts, owner)
    return False


def _is_filled_with_named(facts: Facts, holder: ast.expr) -> bool:
    """`kept.append(x)`."""
    match facts.parents.get(holder):
        case ast.Attribute(attr="append" | "insert" | "setdefault") as method:
            call = facts.parents.get(method)
            return isinstance(call, ast.Call) and any(_has_name(facts, each) for each in call.args[-1:])
    return False


def _holds_named(facts: Facts, value: ast.expr) -> bool:
    match value:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
            return any(_has_name(facts, each) or _holds_named(facts, each) for each in parts)
        case ast.BinOp(left=ast.List(), op=ast.Mult()):
            return True
        case ast.ListComp(elt=made) | ast.DictComp(value=made):
            return isinstance(made, ast.Name | ast.Attribute | ast.Subscript)
        case ast.Call(func=ast.Name(id=name), args=[_, *_]):
            return name in COPIES
    return False


def _is_kept(facts: Facts, use: ast.expr, is_container: bool) -> bool:
    """Whether what is read there, or a view of it, gets another name."""
    node, is_tensor = use, not is_container
    while True:
        parent = facts.parents.get(node)
        match parent:
            case ast.Subscript(value=value, slice=index, ctx=ast.Load()) if value is node:
                if is_tensor and facts.reading.type(index).kind in ("tensor", "list"):
                    return False
                is_tensor = is_tensor or not isinstance(index, ast.Slice)
            case ast.Attribute(attr=member, value=value) if value is node:
                if member not in (SHARING if is_tensor else PARTS):
                    return False
                is_tensor = True
            case ast.Call(func=function) if function is node:
                pass
            case ast.Call(func=ast.Attribute(attr=method)) if node is not parent.func:
                return is_tensor and method in KEEPING
            case ast.Call(func=ast.Name(id=name)):
                if name not in COPIES:
                    return False
                is_tensor = True
            case ast.Tuple() | ast.List() | ast.Dict() | ast.Starred() | ast.Set():
                is_tensor = True
            case ast.Assign(value=value, targets=targets):
                is_own = any(ast.dump(each) == ast.dump(_stored(use)) for each in targets)
                return is_tensor and value is node and not is_own
            case ast.Return() | ast.Yield():
                return is_tensor
            case _:
                return False
        assert isinstance(parent, ast.expr)
        node = parent


def _stored(use: ast.expr) -> ast.expr:
    match use:
        case ast.Name(id=name):
            return ast.Name(name, ast.Store())
        case ast.Attribute(value=owner, attr=name):
            return ast.Attribute(owner, name, ast.Store())
    return use
