"""What is changed in place in a file, and what becomes of each change.

A local name is bound again, so gradients flow. What others hold (a parameter, a buffer, an entry of a list) is written to:
`set_data`, `ops.assign`, an indexed assignment, or a helper that keeps gradients. Where another name sees the same tensor, a warning says so.
"""

from __future__ import annotations

import ast
import bisect
from dataclasses import dataclass, field

from .... import findings
from ....apis._lookup import api_of
from ....read.framework import Role
from ....read.guesses import looks_like_parameter
from ....read.types import TENSOR, Type
from ....read.uses import Use
from ...facts import BoundAgain, Facts
from ...plan import Change, claim
from .. import hold_leaf_parameters
from ..bindings import CERTAIN_VIEWS, Names, is_held_by_network
from .arguments import is_given_true, tensor_argument
from .candidates import COLLECTIVES, may_change
from .data_attribute import is_data_of_gradient, is_data_of_parameter, is_parameter, strip_data
from .places import is_shared, may_be_number
from .ways import How, is_in_forward, is_written_through, shared_with, way

MARKS_ONLY = frozenset({"requires_grad_", "share_memory_"})  # the numbers stay


HOW_IN_TUPLES = {"tuple": How.OVERWRITE}  # its items can't be assigned to


@dataclass(frozen=True, slots=True)
class InPlaceChange:
    """One call that changes `target` in place."""

    call: ast.Call
    target: ast.expr
    how: How
    value: str = ""  # instead of the converted call
    suffix: str = ""  # of the target's text


@dataclass(slots=True)
class InPlace:
    """All that a file changes in place."""

    changes: list[InPlaceChange] = field(default_factory=list)
    flags: list[tuple[ast.Call, ast.expr]] = field(default_factory=list)  # p.requires_grad_(False), and what p is
    statements: list[tuple[ast.Assign | ast.AugAssign, How]] = field(default_factory=list)  # p.data -= g
    planned: list[Change] = field(default_factory=list)  # known at once


def find_in_place(facts: Facts) -> InPlace:
    found = InPlace()
    inner: set[ast.Call] = set()
    for node in may_change(facts):
        if isinstance(node, ast.Attribute):
            if node.attr == "data":
                found.planned += strip_data(facts, node)
            elif node.attr == "grad" and facts.reading.type(node.value).is_tensor:
                _check_gradient(facts, found, facts.derived(Names), node)
            continue
        if isinstance(node, ast.Expr):
            if isinstance(node.value, ast.Call):
                _plan_flag(facts, found, node.value)
            continue
        changed = _changed(facts, node)
        if changed is None:
            continue
        names = facts.derived(Names)
        if isinstance(node, ast.Call) and node not in inner:
            chain, base = _chain(facts, node, changed)
            inner |= set(chain)
            _plan(facts, found, names, chain, base)
        elif isinstance(node, ast.AugAssign):
            _plan_augmented(facts, found, names, node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            found.statements.append((node, How.SET_DATA))
        elif isinstance(node, ast.Assign):
            _warn_of_views(facts, found, names, node)
    return found


def _changed(facts: Facts, node: ast.AST) -> ast.expr | None:
    """What the node changes in place, if it is a tensor; `p.grad.data *= 2` binds p.grad again."""
    if isinstance(node, ast.Assign | ast.AugAssign) and is_data_of_gradient(node):
        return None
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in COLLECTIVES:
            return tensor_argument(node) if facts.is_use(Use.COLLECTIVE, node.func) else None
        if not name.endswith("_") and not is_given_true(node, "inplace"):
            return None
        api, receiver, _ = api_of(node.func, facts.reading, facts.rules)
        if facts.framework.is_in_place(api) and api.rpartition(".")[2] not in MARKS_ONLY:
            return receiver if receiver is not None else node.args[0] if node.args else None
        if facts.uses.has(Use.FUNCTIONAL, api) and node.args and is_given_true(node, "inplace"):
            return node.args[0]
        return None
    if isinstance(node, ast.AugAssign) and (
        facts.reading.type(node.target).is_tensor
        or is_held_by_network(facts, node.target)
        or is_data_of_parameter(node.target)
    ):
        return node.target
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Subscript) or (isinstance(target, ast.Attribute) and target.attr == "data"):
            return target.value if facts.reading.type(target.value).is_tensor or is_parameter(target.value) else None
    return None


def _chain(facts: Facts, call: ast.Call, changed: ast.expr) -> tuple[list[ast.Call], ast.expr]:
    """`p.mul_(a).add_(b)`: all calls, outermost first, and what they change."""
    chain, base = [call], changed
    while isinstance(base, ast.Call) and (deeper := _changed(facts, base)) is not None:
        chain.append(base)
        base = deeper
    return chain, base


def _check_gradient(facts: Facts, found: InPlace, names: Names, node: ast.Attribute) -> None:
    """Training steps keep gradients on parameters; on nothing else."""
    owner = facts.enclosing(node, ast.ClassDef)
    role = facts.reading.symbols.role(facts.reading.owners.get(owner, "")) if owner is not None else Role.NONE
    is_optimizer = role in (Role.OPTIMIZER, Role.SCHEDULER)
    holder = node.value.value if isinstance(node.value, ast.Attribute) and node.value.attr == "data" else node.value
    is_named = isinstance(holder, ast.Name) and (looks_like_parameter(holder.id) or names.binding(holder).is_parameter)
    if is_optimizer or is_named or is_parameter(holder) or _is_held(facts, holder) or _is_of_network(facts, holder):
        parent = facts.parents.get(node)
        is_operand = isinstance(parent, ast.Attribute | ast.Subscript | ast.BinOp | ast.UnaryOp | ast.AugAssign)
        if is_operand or (isinstance(parent, ast.Call) and _changed(facts, parent) is not None):
            found.planned.append(claim(node))  # p.grad.norm(): it is there, or torch fails too
        return
    if isinstance(node.ctx, ast.Load):
        found.planned.append(claim(node))
        message = f"{facts.source.text(node)}: only parameters keep gradients, and only in a training step"
        advice = "take the gradient by ms.grad(fn, position)(inputs)"
        found.planned.append(facts.found(node, findings.MF142, message, advice))


def _is_of_network(facts: Facts, node: ast.expr) -> bool:
    """`net.scale`, an attribute of a network of the project's own: it has a gradient if it is a parameter, as in torch."""
    if not isinstance(node, ast.Attribute):
        return False
    owner = facts.reading.type(node.value)
    return owner.kind == "instance" and facts.reading.symbols.is_module(owner.qual)


def _is_held(facts: Facts, node: ast.expr) -> bool:
    """`params["w"]`: what lies in a container of such tensors, or in one that a caller gives."""
    while isinstance(node, ast.Subscript):
        node = node.value
        is_named = isinstance(node, ast.Name) and looks_like_parameter(node.id)
        if is_named or hold_leaf_parameters.holds(facts, node) == hold_leaf_parameters.MANY:
            return True
    return False


def _plan(facts: Facts, found: InPlace, names: Names, chain: list[ast.Call], base: ast.expr) -> None:
    """Decide what becomes of `base` once the calls' value is computed out of place."""
    call = chain[0]
    if any(
        _mentions(facts, argument, base)
        for link in chain[:-1]
        for argument in (*link.args, *(key.value for key in link.keywords))
    ):
        _refuse(
            facts,
            found,
            chain,
            f"{facts.source.text(base)} is read while the chain changes it",
            "write one statement for each change",
        )
        return
    is_bare = isinstance(facts.parents.get(call), ast.Expr)
    while isinstance(base, ast.Call) and isinstance(base.func, ast.Attribute) and base.func.attr == "detach":
        base = base.func.value
    match base:
        case ast.Attribute(attr="data", value=ast.Attribute(attr="grad") as gradient):
            base = gradient
        case ast.Attribute(attr="data", value=ast.Call() as made) if not is_bare and not _is_view(facts, made):
            return  # torch.ones_like(x).data.normal_(): nobody else has the tensor, and the value is all that counts
        case ast.Attribute(attr="data", value=ast.Subscript(value=held) as part) if facts.reading.type(held).is_tensor:
            base = part  # bias[a:b].data.zero_()
    if is_bare and isinstance(base, ast.Attribute) and base.attr == "grad":
        found.changes.append(InPlaceChange(call, base.value, How.BIND, suffix=".grad"))
        return
    is_data = isinstance(base, ast.Attribute) and base.attr == "data"
    if is_bare and (is_data or is_parameter(base)):
        is_certain = is_data or not isinstance(base, ast.Attribute) or _is_held_by_module(facts, base)
        found.changes.append(InPlaceChange(call, base, How.SET_DATA if is_certain else How.OVERWRITE))
    elif isinstance(base, ast.Name):
        _plan_name(facts, found, names, call, base)
    elif isinstance(base, ast.Subscript):
        _plan_item(facts, found, chain, base, is_bare)
    elif (
        isinstance(base, ast.Attribute) and facts.parents.get(base) is not None and not isinstance(base.ctx, ast.Store)
    ):
        is_held = _is_held_by_module(facts, base)
        is_bound = not is_held and getattr(facts.parents.get(call), "targets", None)  # `noise = self.noise = ...`
        if is_bare or is_bound or (is_held and _is_filled_by_numbers(facts, chain)):
            how = How.ASSIGN if is_held else How.OVERWRITE if is_bare and is_shared(facts, base) else How.BIND
            found.changes.append(InPlaceChange(call, base, how))
        else:
            reason = f"{facts.source.text(base)} is changed and its value used at once"
            _refuse(facts, found, chain, reason, "write two statements")
    elif isinstance(base, ast.Call) and (is_bare or _is_view(facts, base)):
        viewed = facts.source.text(base.func.value) if isinstance(base.func, ast.Attribute) else facts.source.text(base)
        if _is_view(facts, base):
            _refuse(
                facts,
                found,
                chain,
                f"{viewed} is changed through a view",
                f"assign to {viewed} itself, with ops.assign or an index",
            )


def _mentions(facts: Facts, node: ast.expr, base: ast.expr) -> bool:
    """Whether the tensor that is changed is read in `node`, under the same name."""
    if isinstance(base, ast.Attribute) and base.attr == "data":
        base = base.value
    name = ast.dump(base)
    return isinstance(base, ast.Name | ast.Attribute) and any(
        ast.dump(each) == name for each in ast.walk(node) if type(each) is type(base)
    )


def _is_view(facts: Facts, node: ast.Call) -> bool:
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr in CERTAIN_VIEWS
        and facts.reading.type(node.func.value).is_tensor
    )


def _is_filled_by_numbers(facts: Facts, chain: list[ast.Call]) -> bool:
    """`noise = self.noise.normal_(0., std=0.1)`: no gradient goes through what it gives, so `ops.assign`, which gives it, will do."""
    first = chain[0]
    method = first.func.attr if isinstance(first.func, ast.Attribute) else ""
    is_filled = len(chain) == 1 and facts.uses.has(Use.STARTING_VALUE, facts.framework.of_tensor(method))
    is_alone = isinstance(facts.parents.get(first), ast.Assign | ast.Return | ast.Call)  # nothing is taken from it
    values = [*first.args, *(each.value for each in first.keywords)]
    return is_filled and is_alone and all(facts.reading.type(value).kind in ("int", "float") for value in values)


def _is_held_by_module(facts: Facts, node: ast.Attribute) -> bool:
    owner = facts.reading.type(node.value)
    return owner.kind != "instance" or facts.reading.symbols.is_module(owner.qual)


def _refuse(facts: Facts, found: InPlace, chain: list[ast.Call], message: str, advice: str) -> None:
    is_functional = isinstance(chain[0].func, ast.Name | ast.Attribute) and facts.is_use(Use.FUNCTIONAL, chain[0].func)
    if is_functional and not facts.api(chain[0].func).endswith(
        "_"
    ):  # inplace=True saves memory; that it is relied on is rare
        return
    found.planned.append(facts.found(chain[0], findings.MF140, f"in place: {message}", advice))
    found.planned.append(claim(*(each for link in chain for each in (link, link.func))))


def _plan_item(facts: Facts, found: InPlace, chain: list[ast.Call], base: ast.Subscript, is_bare: bool) -> None:
    owner, index = facts.reading.type(base.value), facts.reading.type(base.slice)
    if owner.is_tensor and index.kind in ("tensor", "list"):
        _refuse(
            facts,
            found,
            chain,
            "an index by tensor makes a copy, so nothing changes in torch either",
            "assign to the index: x[mask] = ...",
        )
    elif whole := _parted(facts, base):
        _refuse(facts, found, chain, f"{whole} is changed through a part of it", f"assign to an index of {whole}")
    elif is_bare:
        is_entry = _may_hold_parameters(owner, base.slice) or is_shared(facts, base)
        how = How.ENTRY if is_entry else HOW_IN_TUPLES.get(owner.kind, How.ITEM)
        is_filled = owner.is_tensor or how is How.ENTRY  # an entry of a list is a tensor, and stays one
        value = _filling(facts, chain[0]) if is_filled else ""
        found.changes.append(InPlaceChange(chain[0], base, how, value))
    else:
        _refuse(
            facts,
            found,
            chain,
            f"{facts.source.text(base)} is changed and its value used at once",
            "write two statements",
        )


def _parted(facts: Facts, part: ast.expr) -> str:
    """`parts[0]`, where `parts = x.split(2)`: x, whose memory it shares in torch."""
    match part:
        case ast.Subscript(value=ast.Name() as parts) if not facts.reading.type(parts).is_tensor:
            binding = facts.derived(Names).binding(parts)
            return binding.other if binding.how == "view" else ""
    return ""


def _may_hold_parameters(owner: Type, key: ast.expr) -> bool:
    """Whether it is a state dict, or something that nothing is known about and that is not sliced."""
    if isinstance(key, ast.Slice | ast.Tuple):
        return False
    return owner.kind == "unknown" or (owner.kind == "dict" and bool(owner.qual))


def _filling(facts: Facts, call: ast.Call) -> str:
    """`x[i].zero_()` is `x[i] = 0`."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return {"zero_": "0", "fill_": "{0}", "copy_": "{0}"}.get(name, "") if len(call.args) == (name != "zero_") else ""


def _plan_name(facts: Facts, found: InPlace, names: Names, call: ast.Call, base: ast.Name) -> None:
    statement = facts.parents.get(call)
    is_read_later = names.is_loaded_after(base.id, call)
    if isinstance(statement, ast.Expr):
        how = way(facts, names, base, is_read_later)
        found.changes.append(InPlaceChange(call, base, how))
        _warn_of_shared(facts, found, names, call, base, how)
        if how == How.BIND:
            _bind_again(facts, names, statement, base)
            _warn_of_others(facts, found, names, call, base)
    elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        if is_read_later and all(not isinstance(each, ast.Name) or each.id != base.id for each in statement.targets):
            found.changes.append(InPlaceChange(call, base, How.BIND))
            _bind_again(facts, names, statement, base)
    elif is_read_later or (isinstance(statement, ast.Lambda) and names.binding(base).how == "argument"):
        _refuse(
            facts,
            found,
            [call],
            f"{base.id} is changed inside an expression and read again below, or by a caller",
            f"write {base.id} = ... in a statement of its own first",
        )


def _warn_of_others(facts: Facts, found: InPlace, names: Names, node: ast.expr, base: ast.Name) -> None:
    binding = names.binding(base)
    if binding.other == base.id or is_written_through(facts, names, base, binding):  # v = v.view(-1)
        return
    is_used = names.is_loaded_after(binding.other, node) or (
        binding.other.startswith("self.") and binding.how != "fresh"
    )
    if binding.other and is_used:
        shares = {"alias": "is the same tensor", "view": "shares its memory in torch"}.get(
            binding.how, "may share its memory in torch"
        )
        is_lost = binding.how in ("alias", "view") and not isinstance(facts.parents.get(base), ast.Subscript)
        is_certain = is_lost and facts.reading.type(base).is_tensor and not names.is_gradient(base)
        found.planned.append(
            facts.found(
                node,
                findings.MF141,
                f"{base.id} is bound to a new tensor here; {binding.other} {shares} and no longer changes with it",
                f"assign to {binding.other} too if that is meant",
                severity="error" if is_certain else "",
            )
        )
    elif binding.how == "argument" and not is_in_forward(facts, base) and facts.enclosing(base, ast.FunctionDef):
        found.planned.append(
            facts.found(
                node,
                findings.MF141,
                f"{base.id} is bound to a new tensor here; the caller's tensor no longer changes",
                "return it, and use what is returned",
                severity="note",
            )
        )


def _warn_of_shared(facts: Facts, found: InPlace, names: Names, node: ast.expr, base: ast.Name, how: How) -> None:
    """`flat = x.view(-1); x.add_(1)`: flat changes with x in torch."""
    other = shared_with(facts, names, base)
    if other and how is How.BIND:
        message = f"{base.id} gets new numbers here; {other} shares its memory in torch and no longer changes with it"
        found.planned.append(
            facts.found(node, findings.MF141, message, f"make {other} anew after this line if that is meant")
        )
    elif other and how is How.WRITE_THROUGH:
        message = f"{other} changes with {base.id} here, as in torch, but not while MindSpore records gradients"
        advice = f"if a gradient is taken through this function, make {other} anew after this line"
        found.planned.append(facts.found(node, findings.MF141, message, advice))


def _bind_again(facts: Facts, names: Names, statement: ast.Assign | ast.Expr, base: ast.Name) -> None:
    """`x.add_(1)` is read as `x = x.add_(1)`, and `y = x.add_(1)` as `y = x = x.add_(1)`: the name gets a value there."""
    again = facts.derived(BoundAgain)
    stored = ast.copy_location(ast.Name(base.id, ast.Store()), base)
    facts.reading.types[stored] = TENSOR
    facts.parents[stored] = statement
    bisect.insort(again.names.setdefault(base.id, []), stored, key=facts.source.start)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    again.statements[statement] = ast.copy_location(ast.Assign([*targets, stored], statement.value), statement)
    names.note_assigned(statement, base.id)


def _plan_flag(facts: Facts, found: InPlace, call: ast.Call) -> None:
    """`p.requires_grad_(False)` as a statement sets the parameter's attribute."""
    is_mark = isinstance(call.func, ast.Attribute) and call.func.attr == "requires_grad_"
    if not is_mark or hold_leaf_parameters.marks(facts, call):
        return
    api, receiver, _ = api_of(call.func, facts.reading, facts.rules)
    if facts.uses.has(Use.REQUIRES_GRADIENT, api) and isinstance(receiver, ast.Name | ast.Attribute | ast.Subscript):
        if isinstance(receiver, ast.Name) and facts.derived(Names).binding(receiver).how == "fresh":
            return
        found.flags.append((call, receiver))
        found.planned.append(claim(call, call.func))


def _plan_augmented(facts: Facts, found: InPlace, names: Names, node: ast.AugAssign) -> None:
    """`x += y` binds x again in MindSpore: right for a local tensor, not for one that others hold."""
    target = node.target
    if isinstance(target, ast.Attribute) and target.attr == "data":
        found.statements.append((node, How.SET_DATA))
    elif isinstance(target, ast.Name):
        how = way(facts, names, target, names.is_loaded_after(target.id, node.value))
        _warn_of_shared(facts, found, names, node.value, target, how)
        if how is not How.BIND:
            found.statements.append((node, how))
        elif names.binding(target).other:
            _warn_of_others(facts, found, names, node.value, target)
    elif is_shared(facts, target):
        found.statements.append((node, How.WRITTEN if may_be_number(facts, target) else How.OVERWRITE))


def _warn_of_views(facts: Facts, found: InPlace, names: Names, node: ast.Assign) -> None:
    """`row = x[0]; row[1] = 5` changes x in torch."""
    target = node.targets[0]
    assert isinstance(target, ast.Subscript)
    if isinstance(target.value, ast.Name) and names.binding(target.value).other:
        _warn_of_others(facts, found, names, node.value, target.value)
    elif isinstance(target.value, ast.Subscript) and _parted(facts, target.value):
        message = f"{facts.source.text(target.value)} is a copy in MindSpore, so assigning into it changes nothing"
        found.planned.append(facts.found(node, findings.MF141, message, "write one index: x[i, j] = ..."))
    elif isinstance(target.value, ast.Subscript) and _is_several_places(facts, target.value):
        found.planned.append(
            facts.found(
                node,
                findings.MF141,
                f"{facts.source.text(target.value)} is a copy in torch if its index holds several places, and assigning into it "
                f"changes nothing; MindSpore may change {facts.source.text(target.value.value)}",
                "write one index if the change is meant, x[i, j] = ..., and remove the line if not",
            )
        )


def _is_several_places(facts: Facts, part: ast.Subscript) -> bool:
    """`x[rows][0] = 1`: an index by a list or tensor makes a copy in torch; numbers and slices show x itself, in both."""
    index = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
    return facts.reading.type(part.value).is_tensor and any(
        facts.reading.type(each).kind in ("tensor", "list", "ndarray") for each in index
    )
