"""Which parameters a loss trains: those of its networks, of leaves of the user's own, or of the optimizer that steps after it."""

from __future__ import annotations

import ast
import bisect

from ....read.walk import walk_again as walk
from ...facts import Facts, OriginalTexts
from ..hold_leaf_parameters import MANY
from ..make_leaf_parameters import is_local
from . import flow, optional_optimizers, sources
from .draft import Draft
from .looped_networks import as_given, is_looped
from .steps import Backward, is_optimizer, is_optimizer_method, may_wrap_optimizer

GUESS = "its parameters"


def names_parameters(facts: Facts, each: Backward) -> bool:
    """Whether it can be told which parameters the loss trains."""
    return GUESS not in trained_parameters(Draft(facts, OriginalTexts(facts.source)), each)


def trained_parameters(draft: Draft, each: Backward) -> str:
    if each.only is not None:
        return _chosen(draft, each.only)
    statements = [*each.lifted, *each.others, each.loss]
    leaves = sources.own_leaves(draft, statements)
    own = [
        f"*{draft.texts.name('compat.leaves_in')}({name})" if held == MANY else name for name, held in leaves.items()
    ]
    known = _of_networks(draft, each, statements)
    if known is not None and (known or own):
        parts = [*known, *own]
    else:
        near = _handed_optimizers(draft, each) or _optimizers(draft, each, each.scope)
        is_stepped = bool(near) and _is_stepped(draft, each)
        called = sources.unknown_networks(draft, statements) if not is_stepped else []
        given = [as_given(draft, name, statements) for name in called]
        asked = [_asked(draft, [text for text in given if text])] if called and None not in given else []
        of_file = _optimizers(draft, each, draft.source.tree) if each.handed is None else []
        parts = [*(asked or near or of_file or [GUESS]), *own]
    if len(parts) == 1 and not own:
        return parts[0]
    return "[" + ", ".join(part if part in own else f"*{part}" for part in parts) + "]"


def _of_networks(draft: Draft, each: Backward, statements: list[ast.AST]) -> list[str] | None:
    """The parameters of all networks that the loss is computed by; None if that can't be told."""
    found = sources.networks(draft, statements)
    if found is None:
        return None
    looped = {name: as_given(draft, name, statements) for name in found if is_looped(draft, name, statements)}
    if None in looped.values():
        return None
    plain = [_trained(draft, name, each.scope) for name in found if name not in looped]
    return [*plain, _asked(draft, [text for text in looped.values() if text])] if looped else plain


def _asked(draft: Draft, given: list[str]) -> str:
    return f"{draft.texts.name('compat.parameters_of')}({', '.join(given)})"


def _trained(draft: Draft, name: str, scope: ast.AST) -> str:
    """A network's parameters; it may be an argument that is left out."""
    given = f"{name}.trainable_params()"
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        return given
    arguments = scope.args
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = dict(zip(reversed([each.arg for each in positional]), reversed(arguments.defaults), strict=False))
    with_default |= {
        each.arg: value for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value
    }
    default = with_default.get(name)
    is_optional = isinstance(default, ast.Constant) and default.value is None
    return f"({given} if {name} is not None else [])" if is_optional else given


def _chosen(draft: Draft, only: ast.expr) -> str:
    """The parameters that `backward(inputs=...)` names: one, or several of them."""
    text = draft.texts.of(only)
    is_single = isinstance(only, ast.Name | ast.Attribute) and draft.reading.type(only).kind not in ("list", "tuple")
    return f"[{text}]" if is_single else text


def _optimizers(draft: Draft, each: Backward, outermost: ast.AST) -> list[str]:
    """Parameters of those that step or are cleared in the nearest loop or function that has any, and exist by then."""
    region: ast.AST | None = each.statement
    while region is not None:
        there = [
            optimizer
            for optimizer in _stepping_within(draft, region)
            if _is_visible(draft, each, optimizer) and not _is_made_later(draft, each, optimizer)
        ]
        sometimes = [optimizer for optimizer in there if _is_made_sometimes(draft, each, optimizer)]
        found = [_parameters_of(draft, each, optimizer) for optimizer in there if optimizer not in sometimes]
        if found:
            found += [optional_optimizers.if_made(draft, each, one) or GUESS for one in sometimes]
            return list(dict.fromkeys(found))
        around = draft.enclosing(region, ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)
        region = around if region is not outermost else None
    if outermost is not draft.source.tree:
        return []
    is_known = "optimizer" in draft.source.named or "optimizer" in draft.derived(_argument_names)
    is_sure = not _is_made_later_or_never(draft, each) and not any(
        _is_made_sometimes(draft, each, optimizer)
        for optimizer in draft.derived(_stepping_optimizers)
        if isinstance(optimizer, ast.Name) and optimizer.id == "optimizer"
    )
    return ["optimizer.parameters"] if is_known and is_sure else []


def _handed_optimizers(draft: Draft, each: Backward) -> list[str]:
    """Those that the function which differentiates the loss is given with it."""
    if each.handed is None:
        return []
    outer = draft.parents[each.handed]
    call = outer if isinstance(outer, ast.Call) else draft.parents[outer]
    given = [*call.args, *(key.value for key in call.keywords)] if isinstance(call, ast.Call) else []
    return [f"{draft.texts.of(one)}.parameters" for one in given if is_optimizer(draft, one)]


def _is_stepped(draft: Draft, each: Backward) -> bool:
    """Whether an optimizer steps after the backward(), or in a loop around it; one that stepped before is another network's."""
    outer: ast.AST = each.statement
    loop = draft.enclosing(each.statement, ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)
    while isinstance(loop, ast.For | ast.While):
        outer, loop = loop, draft.enclosing(loop, ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef)
    start = draft.source.start(outer)
    return any(draft.source.start(optimizer) > start for optimizer in _stepping_within(draft, each.scope))


def _argument_names(draft: Draft) -> set[str]:
    return {node.arg for node in draft.source.of(ast.arg)}


def _is_visible(draft: Draft, each: Backward, optimizer: ast.expr) -> bool:
    """Not another function's variable, nor another class's attribute."""
    home = draft.enclosing(optimizer, ast.FunctionDef, ast.AsyncFunctionDef)
    if home is None or draft.is_within(each.statement, home):
        return True
    root = optimizer
    while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
        root = root.func if isinstance(root, ast.Call) else root.value
    name = root.id if isinstance(root, ast.Name) else ""
    if name == "self":
        owner = draft.enclosing(optimizer, ast.ClassDef)
        return owner is not None and draft.enclosing(each.statement, ast.ClassDef) is owner
    while home is not None and not draft.is_within(each.statement, home):  # a closure may name what is around it
        if is_local(draft, home, name):
            return False
        home = draft.enclosing(home, ast.FunctionDef, ast.AsyncFunctionDef)
    return True


def _is_made_sometimes(draft: Draft, each: Backward, optimizer: ast.expr) -> bool:
    """`if args.use_optimizer:` makes it and steps it, another branch trains by hand: then there may be none."""
    if not isinstance(optimizer, ast.Name) or _branch_beside(draft, each, optimizer) is None:
        return False
    stores = draft.stores(optimizer.id)
    return bool(stores) and all(_branch_beside(draft, each, node) is not None for node in stores)


def _branch_beside(draft: Draft, each: Backward, node: ast.Name) -> ast.If | None:
    """The `if` around the node that the backward() is outside of, if its other branch does not name the same."""
    branch = draft.enclosing(node, ast.If)
    while isinstance(branch, ast.If) and not draft.is_within(each.statement, branch):
        parts = [part for part in (branch.body, branch.orelse) if not any(draft.is_within(node, one) for one in part)]
        named = {name.id for part in parts for one in part for name in walk(one) if isinstance(name, ast.Name)}
        if node.id not in named:
            return branch
        branch = draft.enclosing(branch, ast.If)
    return None


def _is_made_later_or_never(draft: Draft, each: Backward) -> bool:
    """Whether no `optimizer` exists yet where the loss is computed."""
    stores = draft.stores("optimizer")
    is_local = bool(stores) and all(draft.is_within(node, each.scope) for node in stores)
    return is_local and all(draft.source.start(node) > draft.source.start(each.place) for node in stores)


def _stepping_optimizers(draft: Draft) -> list[ast.expr]:
    """What step() and zero_grad() are called of, all over the file."""
    return [
        call.func.value
        for call in draft.source.of(ast.Call)
        if isinstance(call.func, ast.Attribute)
        and (is_optimizer_method(draft, call, "step") or is_optimizer_method(draft, call, "zero_grad"))
        and not may_wrap_optimizer(draft, call.func.value)
    ]


def _stepping_within(draft: Draft, region: ast.AST) -> list[ast.expr]:
    source, everywhere = draft.source, draft.derived(_stepping_in_order)
    if region is source.tree:
        return draft.derived(_stepping_optimizers)
    start, end = (
        bisect.bisect_left(everywhere, at, key=source.start) for at in (source.start(region), source.end(region))
    )
    return source.in_tree_order(everywhere[start:end])


def _stepping_in_order(draft: Draft) -> list[ast.expr]:
    return sorted(draft.derived(_stepping_optimizers), key=draft.source.start)


def _parameters_of(draft: Draft, each: Backward, optimizer: ast.expr) -> str:
    """`opt.parameters`; of all of them where `for opt in opts: opt.step()` goes through several."""
    text = f"{draft.source.text(optimizer)}.parameters"
    if optional_optimizers.may_be_none(draft, optimizer):
        return f"({text} if {draft.source.text(optimizer)} is not None else [])"
    names = {node.id for node in walk(optimizer) if isinstance(node, ast.Name)}
    loops = []
    loop = draft.enclosing(optimizer, ast.For)
    while isinstance(loop, ast.For) and not draft.is_within(each.statement, loop):
        if flow.writes(loop.target) & names:
            loops.append(f"for {draft.source.text(loop.target)} in {draft.texts.of(loop.iter)}")
            names |= flow.reads(loop.iter)
        loop = draft.enclosing(loop, ast.For)
    return f"(p {' '.join(reversed(loops))} for p in {text})" if loops else text


def _is_made_later(draft: Draft, each: Backward, optimizer: ast.expr) -> bool:
    name = optimizer.id if isinstance(optimizer, ast.Name) else ""
    stores = [node for node in draft.bound_within(name, each.scope) if not _is_loop_target(draft, node)]
    return bool(stores) and all(draft.source.start(node) > draft.source.start(each.statement) for node in stores)


def _is_loop_target(draft: Draft, node: ast.Name) -> bool:
    loop = draft.enclosing(node, ast.stmt)
    return isinstance(loop, ast.For) and draft.is_within(node, loop.target)
