"""What `torch.no_grad` cut off from gradients, in a function that a loss may be computed by: `ops.stop_gradient` says so."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

from ...read.differentiated_arguments import called_name
from ...read.framework import Role
from ...read.guesses import looks_like_loader
from ...read.uses import Use
from ...read.walk import walk
from ..facts import Facts, OriginalTexts
from ..plan import Edit, InsertAfter, InsertBefore, ReplaceNode, Texts

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
NUMBERS = frozenset(
    "int float bool str none instance ref module ndarray size dtype device".split()
)  # kinds without a gradient


def after_block(facts: Facts, node: ast.With, switch: ast.expr, texts: Texts) -> Iterator[Edit]:
    """The names that the block sets and others read; what it returns."""
    region = _region(facts, node)
    stop = chosen(facts, switch, texts) or _switched(facts, switch, texts)
    if region is None or not stop:
        return
    inside = set(walk(node))
    for statement in inside:
        if isinstance(statement, ast.Return):
            yield from _stop_return(facts, statement, stop, texts)
    everywhere, here = facts.derived(_Parts).loads(region), _loads(inside)
    bound = {each.id for each in inside if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)}
    read = {name for name in bound if everywhere[name] > here[name]}
    for statement in inside:
        if isinstance(statement, ast.Assign | ast.AugAssign):
            yield from _stop_assignment(facts, statement, read, stop, texts)


class _Parts:
    """What is asked of a function or loop for each of the blocks in it, told once."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._loads: dict[ast.AST, Counter[str]] = {}
        self._trains: dict[ast.AST, bool] = {}
        self._may_train = facts.source.mentions("backward") or facts.hands_losses_on
        self._handed = frozenset(each.function for each in facts.reading.symbols.differentiated)
        self._drives: dict[ast.AST, bool] = {}

    def loads(self, part: ast.AST) -> Counter[str]:
        """How often it reads each name."""
        if part not in self._loads:
            self._loads[part] = _loads(walk(part))
        return self._loads[part]

    def trains(self, part: ast.AST) -> bool:
        if part not in self._trains:
            self._trains[part] = self._may_train and trains(part, self._handed)
        return self._trains[part]

    def is_driver(self, function: ast.AST) -> bool:
        if function not in self._drives:
            self._drives[function] = _is_driver(self._facts, function)
        return self._drives[function]


def _loads(nodes: Iterable[ast.AST]) -> Counter[str]:
    return Counter(each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load))


def in_function(facts: Facts, function: ast.FunctionDef | ast.AsyncFunctionDef, texts: Texts) -> Iterator[Edit]:
    """`@torch.no_grad()`: what the function returns."""
    if not _is_driver(facts, function):
        for statement in _own(function):
            if isinstance(statement, ast.Return):
                yield from _stop_return(facts, statement, "{stop}", texts)


def is_chosen(facts: Facts, switch: ast.expr) -> bool:
    """Whether `with torch.no_grad() if frozen else nullcontext()` chooses, also by way of a variable."""
    return bool(chosen(facts, switch, OriginalTexts(facts.source)))


def chosen(facts: Facts, switch: ast.expr, texts: Texts) -> str:
    """How `with torch.no_grad() if frozen else nullcontext()` cuts a value off, also by way of a variable; '' if it doesn't."""
    if isinstance(switch, ast.Name):
        scope = facts.enclosing(switch, *FUNCTIONS) or facts.source.tree
        assigned = facts.source.assigned_within(switch.id, scope)
        values = [each.value for each in assigned if _is_name(each.targets[0], switch.id)]
        if len(values) != 1:
            return ""
        switch = values[0]
        if _is_off(facts, switch):
            return _switched(facts, switch, texts)
    if not isinstance(switch, ast.IfExp) or _is_off(facts, switch.body) == _is_off(facts, switch.orelse):
        return ""
    text = texts.of(switch.test)
    return f"{{stop}} if {text} else {{value}}" if _is_off(facts, switch.body) else f"{{value}} if {text} else {{stop}}"


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_off(facts: Facts, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and facts.api(node.func).endswith((".no_grad", ".inference_mode"))


def is_without_gradients(facts: Facts, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Decorated by no_grad."""
    marks = [facts.api(each.func if isinstance(each, ast.Call) else each) for each in function.decorator_list]
    return any(mark.endswith(("no_grad", "inference_mode")) for mark in marks)


def _region(facts: Facts, node: ast.With) -> ast.AST | None:
    """The part of the program that may be differentiated as a whole: a function; where a backward() stands, a loop without it.

    Or the block itself, where it works on what a network of the same loss gave.
    """
    scope = facts.enclosing(node, *FUNCTIONS) or facts.source.tree
    parts = facts.derived(_Parts)
    if not parts.trains(scope):
        return None if scope is facts.source.tree or parts.is_driver(scope) else scope
    if _works_on_graph(facts, node, scope) or _is_lifted(facts, node):
        return scope
    found, current = None, facts.parents.get(node)
    while current is not None and current is not scope and not parts.trains(current):
        found = current if isinstance(current, ast.For | ast.While) else found
        current = facts.parents.get(current)
    return found


def _is_lifted(facts: Facts, node: ast.With) -> bool:
    """Whether the function that a loss is computed by has the block in it; one that a variable switches is on when there is a backward()."""
    if any(_is_switched(facts, item.context_expr) for item in node.items):
        return False
    lifted = facts.derived(_lifted_statements)
    current: ast.AST | None = node
    while current is not None and current not in lifted:
        current = facts.parents.get(current)
    return current is not None


def _is_switched(facts: Facts, block: ast.expr) -> bool:
    match block:
        case ast.Call(func=function, args=[argument]):
            return facts.is_use(Use.GRADIENT_SWITCH, function) and not isinstance(argument, ast.Constant)
    return False


def _lifted_statements(facts: Facts) -> set[ast.AST]:
    from .training import steps

    return {statement for each in facts.derived(steps.find).lifted for statement in each.lifted}


def _works_on_graph(facts: Facts, node: ast.With, scope: ast.AST) -> bool:
    from .training import flow, sources

    read = flow.reads(node) - {name for each in node.body for name in flow.writes(each)}
    for name in read:
        for target in facts.bound_within(name, scope):
            statement = facts.statement_of(target)
            maker = facts.as_read(statement)
            if not isinstance(maker, ast.Assign) or facts.reading.type(target).kind in NUMBERS:
                continue
            if not facts.is_within(statement, node) and sources.carries(facts, maker.value):
                return True
    return False


def trains(node: ast.AST, handed: frozenset[str] = frozenset()) -> bool:
    """Whether it takes a loss's gradients, or hands it to one of the functions that do."""
    return any(
        (isinstance(each, ast.Attribute) and each.attr in ("backward", "manual_backward"))
        or (isinstance(each, ast.Call) and called_name(each) in handed)
        for each in walk(node)
    )


def _is_driver(facts: Facts, function: ast.AST) -> bool:
    """It evaluates (goes through a loader, switches a network's mode), initialises or updates. No loss is computed by calling it."""
    name, owner = getattr(function, "name", ""), facts.enclosing(function, ast.ClassDef)
    role = facts.reading.symbols.role(facts.reading.owners.get(owner, "")) if owner is not None else Role.NONE
    if role in (Role.OPTIMIZER, Role.SCHEDULER) or (name.endswith("_") and not name.endswith("__")):
        return True
    for node in walk(function):
        if isinstance(node, ast.Attribute) and node.attr == "eval" and isinstance(facts.parents.get(node), ast.Call):
            return True
        if isinstance(node, ast.For) and any(looks_like_loader(word) for word in _words(node.iter)):
            return True
    return False


def _words(node: ast.AST) -> Iterator[str]:
    for each in walk(node):
        yield str(getattr(each, "id", getattr(each, "attr", ""))).lower()


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """What it consists of, without the functions inside it."""
    stack = list(ast.iter_child_nodes(function))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            stack.extend(ast.iter_child_nodes(node))


def _stop_assignment(
    facts: Facts, statement: ast.Assign | ast.AugAssign, read: set[str], stop: str, texts: Texts
) -> Iterator[Edit]:
    """The value, if a name that others read gets it. `y = x` makes no new tensor, so x keeps its gradient in torch too."""
    targets, value = [statement.target] if isinstance(statement, ast.AugAssign) else statement.targets, statement.value
    target = targets[-1]
    parts = [part for each in targets for part in (each.elts if isinstance(each, ast.Tuple | ast.List) else [each])]
    names = [
        part
        for part in parts
        if isinstance(part, ast.Name) and part.id in read and facts.reading.type(part).kind not in NUMBERS
    ]
    is_written_here = facts.source.start(value) >= facts.source.end(
        target
    )  # not an in-place method, which is bound again
    if (
        not names
        or not is_written_here
        or texts.is_kept(target)
        or isinstance(value, ast.Name | ast.Attribute | ast.Constant)
    ):
        return
    if isinstance(value, ast.Tuple) and not any(isinstance(part, ast.Starred) for part in value.elts):
        for part in value.elts:  # `a, b = f(x), g(x)` has no parentheses
            if not isinstance(part, ast.Name | ast.Attribute | ast.Constant):
                yield from _wrap(facts, part, facts.reading.type(part).is_tensor, stop, texts)
        return
    yield from _wrap(facts, value, facts.reading.type(value).is_tensor, stop, texts)


def _switched(facts: Facts, switch: ast.expr, texts: Texts) -> str:
    """How a value is cut off, `{stop}` being the cut: always, never (''), or by the flag of set_grad_enabled and inference_mode."""
    name = facts.api(switch.func) if isinstance(switch, ast.Call) else ""
    if not isinstance(switch, ast.Call) or name.endswith(".no_grad") or not (switch.args or switch.keywords):
        return "{stop}"
    is_enabling = name.endswith("set_grad_enabled")
    flag = switch.args[0] if switch.args else switch.keywords[0].value
    if isinstance(flag, ast.Constant):
        return "" if bool(flag.value) == is_enabling else "{stop}"
    text = texts.of(flag)
    if isinstance(flag, ast.Starred):  # set_grad_enabled(*flags)
        text = f"[{text}][0]"
    elif not switch.args and switch.keywords[0].arg is None:  # set_grad_enabled(**flags)
        text = f"({text})['mode']"
    return f"{{value}} if {text} else {{stop}}" if is_enabling else f"{{stop}} if {text} else {{value}}"


def _wrap(facts: Facts, value: ast.expr, is_tensor: bool, stop: str, texts: Texts) -> Iterator[Edit]:
    function = texts.name("mindspore.ops.stop_gradient" if is_tensor else "compat.detached")
    if stop == "{stop}":
        yield InsertBefore(value, f"{function}(")
        yield InsertAfter(value, ")")
    else:
        text = texts.of(value)
        yield ReplaceNode(value, stop.replace("{stop}", f"{function}({text})").replace("{value}", f"({text})"))


def _stop_return(facts: Facts, statement: ast.Return, stop: str, texts: Texts) -> Iterator[Edit]:
    value = statement.value
    for part in value.elts if isinstance(value, ast.Tuple) else [value]:
        if part is None or (
            isinstance(part, ast.Name | ast.Attribute | ast.Constant | ast.Starred) and not _is_computed(facts, part)
        ):
            continue
        kind = facts.reading.type(part)
        if kind.kind in NUMBERS or (
            isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "item"
        ):
            continue
        yield from _wrap(facts, part, kind.is_tensor, stop, texts)


def _is_computed(facts: Facts, node: ast.expr) -> bool:
    """A local name; an argument or an attribute keeps its gradient."""
    scope = facts.enclosing(node, *FUNCTIONS)
    return (
        isinstance(node, ast.Name) and scope is not None and any(each.id == node.id for each in facts.stores_in(scope))
    )
