"""`f"{loss:.4f}"` and `"{:.4f}".format(loss)`: a MindSpore Tensor takes no format, its number does; asked at run time where it may be one."""

from __future__ import annotations

import ast
import builtins
import string
from collections.abc import Iterator
from functools import partial

from ...read.fstrings import is_located
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, InsertAfter, InsertBefore, ReplaceNode, ReplaceSpan, Texts

NUMERIC = frozenset("bcdeEfFgGnoxX%")
CLOCKS = frozenset({"time", "perf_counter", "monotonic", "process_time", "time_ns", "default_timer"})
NUMBERS = frozenset({"len", "int", "float", "round", "item", "numel", "getsize", "accuracy_score", "f1_score"})
METRICS = "torchmetrics.functional."
BEFORE_A_DOT = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


def plan(facts: Facts) -> Iterator[Change]:
    yield AtEnd(partial(_write, facts))


def _write(facts: Facts, texts: Texts) -> Iterator[Edit]:
    for field in facts.source.of(ast.FormattedValue):
        if isinstance(field.format_spec, ast.JoinedStr) and is_located(field.value):
            yield from _take_number(facts, field.value, _formats_number(field.format_spec), texts)
    for node in facts.source.calls_named("format"):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
                for each, spec in _with_format(text, node):
                    yield from _take_number(facts, each, _is_numeric(spec), texts)
                if any(keyword.arg is None for keyword in node.keywords):
                    yield from _format_at_run_time(facts, node, texts)
            case ast.Call(func=ast.Name(id="format"), args=[value, ast.Constant(value=str(spec))]) if spec:
                yield from _take_number(facts, value, _is_numeric(spec), texts)
            case ast.Call(func=ast.Attribute(value=ast.expr() as text, attr="format")) if _is_text(facts, text, node):
                yield from _format_at_run_time(facts, node, texts)


def _formats_number(spec: ast.JoinedStr) -> bool:
    """`.4f` or `{width}d`: told by its last letter."""
    last = spec.values[-1] if spec.values else None
    return isinstance(last, ast.Constant) and _is_numeric(str(last.value))


def _is_numeric(spec: str) -> bool:
    """`.4f`, and `,`, which separates thousands: no text takes such a format."""
    return spec[-1:] in NUMERIC or "," in spec


def _is_text(facts: Facts, text: ast.expr, call: ast.Call) -> bool:
    """A template kept in a name, or put together: `('{' + fmt + '}').format(**vars(self))`."""
    if isinstance(text, ast.Constant | ast.JoinedStr) or facts.reading.type(call.func).kind == "ref":
        return False
    is_string = facts.reading.type(text).kind in ("str", "unknown")
    return is_string and any(_may_be_tensor(facts, each) for each in _given(call))


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _format_at_run_time(facts: Facts, node: ast.Call, texts: Texts) -> Iterator[Edit]:
    """Which argument gets a format is known when it runs, and so is what it holds."""
    assert isinstance(node.func, ast.Attribute)
    source, text = facts.source, node.func.value
    before = texts.of(node)
    opening = source.find_token(b"(", source.end(node.func), source.end(node)) + 1
    yield InsertBefore(node, f"{texts.name('compat.format_numbers')}(")
    dot = source.find_token(b".", source.end(text), source.end(node.func))  # a text in parentheses keeps them
    yield ReplaceSpan(dot, opening, ", ")
    yield facts.record(node, "format", before, texts.of(node))


def _may_be_tensor(facts: Facts, value: ast.expr) -> bool:
    """Whether nothing tells that it is something else: an argument, an attribute, what a dict holds, or a sum of these."""
    match value:
        case ast.BinOp(left=left, right=right):
            if _is_clock(left) or _is_clock(right):
                return False
            return _may_be_tensor(facts, left) or _may_be_tensor(facts, right)
        case ast.UnaryOp(operand=operand):
            return _may_be_tensor(facts, operand)
        case ast.Starred(value=inner):
            return _may_be_tensor(facts, inner)
        case ast.Call(func=ast.Name(id="vars")):
            return True
        case ast.Call(func=ast.Attribute(attr="avg" | "mean" | "average" | "result") as method):
            return facts.reading.type(method).kind != "ref"  # np.mean
        case ast.Call(func=ast.Attribute(attr="compute") as method):  # a metric's, which any file may have made
            return facts.reading.type(method).kind != "ref"
        case ast.Call(func=ast.Name() | ast.Attribute() as function):
            return _is_speaking(facts) and _gives_unknown(facts, value, function)
        case ast.Subscript() if _is_rate(value):
            return False
        case ast.Name() if not _is_speaking(facts):
            return False  # an attribute may hold what another file put there, a local name holds what this one makes
        case ast.Name(id=name) if _is_only_number(facts, name):
            return False
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return facts.reading.type(value).kind in ("unknown", "tensor", "dict", "list", "tuple")
    return False


def _is_speaking(facts: Facts) -> bool:
    """Whether the file speaks of the framework at all."""
    return any(map(facts.source.mentions, _spoken(facts)))


def _gives_unknown(facts: Facts, call: ast.Call, function: ast.Name | ast.Attribute) -> bool:
    """`evaluate(net)`, `self.net.loss(x)`: a function of the project's, of which nothing tells what it returns."""
    name = _called(call)
    if name in CLOCKS | NUMBERS or (isinstance(function, ast.Name) and hasattr(builtins, name)):
        return False
    if facts.reading.type(call).kind != "unknown":
        return False
    called = facts.reading.type(function)
    return called.kind != "ref" or called.qual.startswith(METRICS)


def _spoken(facts: Facts) -> tuple[str, ...]:
    framework = facts.reading.symbols.framework
    return (framework.name,) if framework.name == "torch" else framework.roots


def _is_rate(value: ast.Subscript) -> bool:
    """`optimizer.param_groups[0]["lr"]`, `scheduler.get_last_lr()[0]`: settings are numbers."""
    match value:
        case ast.Subscript(value=ast.Subscript(value=ast.Attribute(attr="param_groups"))):
            return True
        case ast.Subscript(value=ast.Call(func=ast.Attribute(attr="get_last_lr" | "get_lr"))):
            return True
    return False


def _with_format(text: str, call: ast.Call) -> list[tuple[ast.expr, str]]:
    """The arguments that the text gives a format, and which."""
    try:
        fields = [(name, spec) for _, name, spec, _ in string.Formatter().parse(text) if name is not None]
    except ValueError:
        return []
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    found: dict[ast.expr, str] = {}
    for index, (name, spec) in enumerate(fields):
        position = index if not name else int(name) if name.isdigit() else -1
        given = call.args[position] if 0 <= position < len(call.args) else keywords.get(name)
        if spec and given is not None:
            found.setdefault(given, spec)
    return list(found.items()) if not any(isinstance(each, ast.Starred) for each in call.args) else []


def _called(node: ast.expr) -> str:
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
    return ""


def _is_clock(node: ast.expr) -> bool:
    return _called(node) in CLOCKS


def _is_only_number(facts: Facts, name: str, seen: frozenset[str] = frozenset()) -> bool:
    """Whether everything that the file gives the name is a clock's time, a length, a tensor's number, or made of these."""
    values = [node.value for node in facts.source.assigned.get(name, ())]
    return bool(values) and all(_is_number(facts, each, seen | {name}) for each in values)


def _is_number(facts: Facts, value: ast.expr, seen: frozenset[str]) -> bool:
    match value:
        case ast.Constant():
            return True
        case ast.BinOp(left=left, right=right):
            return _is_number(facts, left, seen) and _is_number(facts, right, seen)
        case ast.Subscript():
            return _is_rate(value)
        case ast.Attribute(value=ast.Name(id="args" | "opt" | "config" | "cfg" | "hparams")):
            return True  # settings come from a command line or a file
        case ast.Name(id=name):
            return name in seen or _is_only_number(facts, name, seen)
    kind = facts.reading.type(value).kind
    return kind in ("int", "float") or _called(value) in CLOCKS | NUMBERS


def _take_number(facts: Facts, value: ast.expr, is_number: bool, texts: Texts) -> Iterator[Edit]:
    is_unknown = is_number and _may_be_tensor(facts, value) and not facts.reading.type(value).is_tensor
    if is_unknown or (isinstance(value, ast.Name) and _is_both(facts, value)):
        before = texts.of(value)
        yield ReplaceNode(value, f"{texts.name('compat.plain_number')}({before})")
        yield facts.record(value, "format", before, texts.of(value))
        return
    if not facts.reading.type(value).is_tensor:
        return
    start, end = facts.source.start(value), facts.source.end(value)
    before = texts.of(value)
    if isinstance(value, BEFORE_A_DOT):
        yield InsertAfter(end, ".item()")
    else:
        yield InsertBefore(start, "(")
        yield InsertAfter(end, ").item()")
    yield facts.record(value, "format", before, texts.of(value))


def _is_both(facts: Facts, value: ast.Name) -> bool:
    """`best = 0.0`, and a tensor later: in some round of the loop it is one."""
    scope = facts.enclosing(value, ast.FunctionDef, ast.AsyncFunctionDef) or facts.source.tree
    kinds = {facts.reading.type(node).kind for node in facts.bound_within(value.id, scope)}
    return "tensor" in kinds and bool(kinds & {"int", "float"})
