"""Writes what a tensor gets instead of being changed in place, once the rules have converted the value."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....apis._own_memory import owned
from ....read.guesses import looks_like_parameter
from ....read.uses import Use
from ...facts import Facts
from ...plan import LAYER_PARAMETER, Edit, InsertAfter, InsertBefore, ReplaceNode, ReplaceSpan, Texts
from ..bindings import Names
from .candidates import COLLECTIVES
from .find import InPlaceChange
from .shapes import may_have_another_shape
from .ways import How

WRITERS = {
    How.ASSIGN: "mindspore.ops.assign",
    How.OVERWRITE: "compat.overwrite",
    How.WRITE_THROUGH: "compat.write_through",
    How.WRITTEN: "compat.written",
}
PLAIN_TYPES = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Call)


def changed(facts: Facts, change: InPlaceChange, texts: Texts) -> Iterator[Edit]:
    source = facts.source
    before = source.text(change.call)
    start, end = source.start(change.call), source.end(change.call)
    is_assigned = change.how in (How.BIND, How.ITEM)
    target = (_assignable(facts, change.target, texts) if is_assigned else texts.kept(change.target)) + change.suffix
    if _is_left(facts, change.call, texts):
        return
    copied = change.call.args[0] if _copies(change.call) else None
    how = _certain(facts, change.how, change.target)
    if change.how is How.ENTRY:
        yield from _written_entry(facts, change, texts)
    elif change.how is How.ITEM and change.value:
        filled = texts.of(change.call.args[0]) if change.call.args else ""
        text = f"{target} = {change.value.replace('{0}', filled)}"
        yield ReplaceSpan(*_outside_parentheses(facts, change.call), text, swallows=True)
    elif how is How.SET_DATA and copied is not None and not may_have_another_shape(facts, copied):
        yield ReplaceSpan(start, end, f"{target}.set_data({owned(texts.of(copied), is_copy=True)})", swallows=True)
    elif is_assigned:
        yield from _unwrap(change.call, texts)
        yield InsertBefore(_outside_parentheses(facts, change.call)[0], f"{target} = ")
    else:
        yield from _unwrap(change.call, texts)
        yield InsertBefore(change.call, _opening(how, change.target, target, texts))
        yield InsertAfter(change.call, ")")
    yield facts.record(change.call, "in place", before, texts.span(start, end))


def _written_entry(facts: Facts, change: InPlaceChange, texts: Texts) -> Iterator[Edit]:
    """`state[name].copy_(w)` is `ms_compat.write_entry(state, name, w)`: a parameter stays the same one."""
    target = change.target
    assert isinstance(target, ast.Subscript)
    filled = texts.of(change.call.args[0]) if change.call.args else ""
    value = change.value.replace("{0}", filled) if change.value else texts.of(change.call)
    holder, key = texts.kept(target.value), texts.kept(target.slice)
    text = f"{texts.name('compat.write_entry')}({holder}, {key}, {value})"
    yield ReplaceSpan(*_outside_parentheses(facts, change.call), text, swallows=True)


def _certain(facts: Facts, how: How, target: ast.expr) -> How:
    """set_data() is for what is a Parameter; `q.data.copy_(p)` may be about a copy that a class or a list keeps."""
    match target:
        case ast.Attribute(attr="data", value=ast.Name() as owner) if how is How.SET_DATA:
            is_parameter = facts.derived(Names).binding(owner).is_parameter or looks_like_parameter(owner.id)
            return how if is_parameter else How.OVERWRITE
        case ast.Attribute(attr="data", value=ast.Attribute(attr="weight", value=layer)) if how is How.SET_DATA:
            base = facts.reading.symbols.torch_base(facts.reading.type(layer).qual) or facts.reading.type(layer).qual
            return How.OVERWRITE if facts.uses.has(Use.FLAT_CONVOLUTION, base) else how
    return how


def _opening(how: How, target: ast.expr, text: str, texts: Texts) -> str:
    is_computed = texts.calls(target, LAYER_PARAMETER)  # a weight that weight_norm computes is no Parameter
    if how is How.SET_DATA and is_computed:
        how = How.OVERWRITE
    return f"{text}.set_data(" if how is How.SET_DATA else f"{texts.name(WRITERS[how])}({text}, "


def _assignable(facts: Facts, target: ast.expr, texts: Texts) -> str:
    """The target as it was converted, or as it was: nothing can be assigned to a helper's result."""
    text = texts.kept(target)
    try:
        ast.parse(f"{text} = 0")
    except SyntaxError:
        return facts.source.text(target)
    return text


def _outside_parentheses(facts: Facts, call: ast.Call) -> tuple[int, int]:
    """The call's span, or its statement's where that is nothing but the call in parentheses: an assignment can't stand in them."""
    source, parent = facts.source, facts.parents[call]
    start, end = source.start(call), source.end(call)
    is_whole = isinstance(parent, ast.stmt) and not source.data[source.start(parent) : start].strip(b"( \t\f\r\n")
    return (source.start(parent), source.end(parent)) if is_whole else (start, end)


def _unwrap(call: ast.Call, texts: Texts) -> Iterator[Edit]:
    """`x = (x + y)` needs no parentheses."""
    text = texts.of(call)
    if text.startswith("(") and text.endswith(")"):
        try:
            ast.parse(text[1:-1], mode="eval")
        except SyntaxError:
            return
        yield ReplaceNode(call, text[1:-1])


def _is_left(facts: Facts, call: ast.Call, texts: Texts) -> bool:
    """No rule converted the call; a finding says so."""
    method = facts.source.text(call.func).rpartition(".")[2]
    if method in COLLECTIVES:
        return texts.of(call).endswith(facts.source.text(call))  # after a comment that says why
    return method.endswith("_") and f"{method}(" in texts.of(call)


def _copies(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "copy_"
        and bool(call.args)
        and not isinstance(call.func.value, ast.Call)
    )


def flag(facts: Facts, call: ast.Call, receiver: ast.expr, texts: Texts) -> Iterator[Edit]:
    """`p.requires_grad_(False)` as a statement sets the parameter's attribute."""
    value = texts.of(call.args[0]) if call.args else next((texts.of(key.value) for key in call.keywords), "True")
    before, after = facts.source.text(call), f"{texts.of(receiver)}.requires_grad = {value}"
    yield ReplaceNode(call, after)
    yield facts.record(call, facts.uses.name(Use.REQUIRES_GRADIENT), before, after)


def statement(facts: Facts, node: ast.Assign | ast.AugAssign, how: How, texts: Texts) -> Iterator[Edit]:
    """`p.data -= g` is `p.set_data(p - g)`, `p.data = w` is `p.set_data(w)`."""
    source = facts.source
    written = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    target, before, how = texts.kept(written), source.text(node), _certain(facts, how, written)
    equals = source.data.index(b"=", source.end(written))
    operator = source.data[source.end(written) : equals].decode("utf-8").strip().lstrip(")").lstrip()  # (p.data) += g
    left, right = (f"{target} {operator} ", "") if operator else ("", "")
    if operator and not isinstance(node.value, PLAIN_TYPES):
        left, right = left + "(", ")"
    opening = _opening(how, written, target, texts)
    if how is How.WRITTEN:
        opening = f"{_assignable(facts, written, texts)} = {opening}"
    if not operator and how is How.SET_DATA and (text := texts.of(node.value)) != owned(text):
        yield ReplaceNode(node.value, owned(text))
    yield ReplaceSpan(source.start(node), source.skip_trivia(equals + 1), opening + left, swallows=True)
    yield InsertAfter(node, right + ")")
    yield facts.record(node, "in place", before, texts.of(node))
