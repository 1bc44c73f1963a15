"""`x.add_(y)` becomes `x = x + y`: MindSpore's in-place methods leave the tensor as it was on a CPU, without a word.

A local name is bound again, so gradients flow. What others hold (a parameter, a buffer, an entry of a list) is written to:
`set_data`, `ops.assign`, an indexed assignment, or a helper that keeps gradients. Where another name sees the same tensor, a warning says so.
"""

from __future__ import annotations

import ast
import weakref
from dataclasses import dataclass

from ... import findings
from ...apis._lookup import api_of, is_in_place
from ...apis._own_memory import owned
from ...read.framework import Role
from ...read.source import Source
from ...read.types import TENSOR
from ..context import Context
from .bindings import CERTAIN_VIEWS, Names

MARKS_ONLY = frozenset({"requires_grad_", "share_memory_"})  # the numbers stay
COLLECTIVES = frozenset(
    {"all_reduce", "broadcast", "reduce"}
)  # of torch.distributed: the result goes into the first argument
WRITERS = {"assign": "mindspore.ops.assign", "overwrite": "compat.overwrite"}
PLAIN_TYPES = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Call)


@dataclass(slots=True)
class Change:
    """One statement that changes `target` in place."""

    call: ast.Call
    target: ast.expr
    how: str  # bind, assign, overwrite, set_data, item
    value: str = ""  # instead of the converted call
    suffix: str = ""  # of the target's text


CHANGING = frozenset({ast.Attribute, ast.Expr, ast.Call, ast.AugAssign, ast.Assign})
_changes: dict[int, list[Change]] = {}


def prepare(context: Context) -> None:
    _undo(context)
    changes = _changes.setdefault(id(context), [])
    names: Names | None = None
    inner: set[ast.Call] = set()
    for node in [each for each in context.source.nodes if type(each) in CHANGING]:
        if isinstance(node, ast.Attribute):
            if node.attr == "data":
                _strip_data(context, node)
            elif node.attr == "grad" and context.reading.type(node.value).is_tensor:
                names = names or Names(context)
                _check_gradient(context, names, node)
            continue
        if isinstance(node, ast.Expr):
            if isinstance(node.value, ast.Call):
                _plan_flag(context, node.value)
            continue
        changed = _changed(context, node)
        if changed is None:
            continue
        names = names or Names(context)
        if isinstance(node, ast.Call) and node not in inner:
            chain, base = _chain(context, node, changed)
            inner |= set(chain)
            _plan(context, names, changes, chain, base)
        elif isinstance(node, ast.AugAssign):
            _plan_augmented(context, names, node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            _late(context, node, SET_DATA)
        elif isinstance(node, ast.Assign):
            _warn_of_views(context, names, node)
    for change in changes:
        context.captured[change.target] = ""


def _changed(context: Context, node: ast.AST) -> ast.expr | None:
    """What the node changes in place, if it is a tensor."""
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in COLLECTIVES:
            return _tensor_of(node) if context.api(node.func) == f"torch.distributed.{name}" else None
        if not name.endswith("_") and not _is_true(node, "inplace"):
            return None
        api, receiver = api_of(node.func, context.reading, context.rules)
        if is_in_place(api) and api.rpartition(".")[2] not in MARKS_ONLY:
            return receiver if receiver is not None else node.args[0] if node.args else None
        if api.startswith("torch.nn.functional.") and node.args and _is_true(node, "inplace"):
            return node.args[0]
        return None
    if isinstance(node, ast.AugAssign) and context.reading.type(node.target).is_tensor:
        return node.target
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Subscript) or (isinstance(target, ast.Attribute) and target.attr == "data"):
            return target.value if context.reading.type(target.value).is_tensor or _is_parameter(target.value) else None
    return None


def _tensor_of(call: ast.Call) -> ast.expr | None:
    return call.args[0] if call.args else next((key.value for key in call.keywords if key.arg == "tensor"), None)


def _is_true(node: ast.Call, name: str) -> bool:
    return any(
        key.arg == name and isinstance(key.value, ast.Constant) and key.value.value is True for key in node.keywords
    )


def _chain(context: Context, call: ast.Call, changed: ast.expr) -> tuple[list[ast.Call], ast.expr]:
    """`p.mul_(a).add_(b)`: all calls, outermost first, and what they change."""
    chain, base = [call], changed
    while isinstance(base, ast.Call) and (deeper := _changed(context, base)) is not None:
        chain.append(base)
        base = deeper
    return chain, base


def _strip_data(context: Context, node: ast.Attribute) -> None:
    """`w.data` is the tensor itself where it is written to, measured or shown; elsewhere it is cut off from gradients."""
    parent = context.parents.get(node)
    is_changed = isinstance(parent, ast.Attribute) and parent.attr in context.reading.symbols.framework.members.in_place
    if not (is_changed or context.reading.type(node.value).is_tensor or _is_parameter(node.value)):
        return
    while isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Load):
        parent = context.parents.get(parent)
    is_written = isinstance(node.ctx, ast.Store) or (
        isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store)
    )
    is_method = isinstance(parent, ast.Attribute) and (parent.attr.endswith("_") or parent.attr in MEASURES)
    call = context.parents.get(node)
    is_initialised = isinstance(call, ast.Call) and context.api(call.func).startswith(
        ("torch.nn.init.", "torch.distributed.")
    )
    if is_written or is_method or is_initialised:
        source = context.source
        dot = source.find_token(b".", source.end(node.value), source.end(node))
        context.edits.replace(dot, source.end(node), "")
        context.handled.add(node)


def _check_gradient(context: Context, names: Names, node: ast.Attribute) -> None:
    """Training steps keep gradients on parameters; on nothing else."""
    owner = context.enclosing(node, ast.ClassDef)
    role = context.reading.symbols.role(context.reading.owners.get(owner, "")) if owner is not None else Role.NONE
    is_optimizer = role in (Role.OPTIMIZER, Role.SCHEDULER)
    holder = node.value.value if isinstance(node.value, ast.Attribute) and node.value.attr == "data" else node.value
    is_named = isinstance(holder, ast.Name) and (
        holder.id == "p" or "param" in holder.id or names.binding(holder).is_parameter
    )
    if is_optimizer or is_named or _is_parameter(holder):
        parent = context.parents.get(node)
        is_operand = isinstance(parent, ast.Attribute | ast.Subscript | ast.BinOp | ast.UnaryOp | ast.AugAssign)
        if is_operand or (isinstance(parent, ast.Call) and _changed(context, parent) is not None):
            context.handled.add(node)  # p.grad.norm(): it is there, or torch fails too
        return
    if isinstance(node.ctx, ast.Load):
        context.handled.add(node)
        context.find(
            node,
            findings.MF142,
            f"{context.source.text(node)}: only parameters keep gradients, and only in a training step",
            "take the gradient by ms.grad(fn, position)(inputs)",
        )


MEASURES = frozenset("size shape dim ndim ndimension numel nelement dtype device cpu numpy tolist item is_cuda".split())


def _is_parameter(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("weight", "bias")


def _plan(context: Context, names: Names, changes: list[Change], chain: list[ast.Call], base: ast.expr) -> None:
    """Decide what becomes of `base` once the calls' value is computed out of place."""
    call = chain[0]
    if any(
        _mentions(context, argument, base)
        for link in chain[:-1]
        for argument in (*link.args, *(key.value for key in link.keywords))
    ):
        _refuse(
            context,
            chain,
            f"{context.source.text(base)} is read while the chain changes it",
            "write one statement for each change",
        )
        return
    is_bare = isinstance(context.parents.get(call), ast.Expr)
    while isinstance(base, ast.Call) and isinstance(base.func, ast.Attribute) and base.func.attr == "detach":
        base = base.func.value
    if (
        isinstance(base, ast.Attribute)
        and base.attr == "data"
        and isinstance(base.value, ast.Attribute)
        and base.value.attr == "grad"
    ):
        base = base.value
    match base:
        case ast.Attribute(attr="data", value=ast.Subscript(value=held) as part) if context.reading.type(
            held
        ).is_tensor:
            base = part  # bias[a:b].data.zero_()
    if is_bare and isinstance(base, ast.Attribute) and base.attr == "grad":
        changes.append(Change(call, base.value, "bind", suffix=".grad"))
        return
    is_data = isinstance(base, ast.Attribute) and base.attr == "data"
    if is_bare and (is_data or (_is_parameter(base) and not isinstance(base, ast.Name))):
        changes.append(Change(call, base, "set_data"))
    elif isinstance(base, ast.Name):
        _plan_name(context, names, changes, call, base)
    elif isinstance(base, ast.Subscript):
        _plan_item(context, changes, chain, base, is_bare)
    elif (
        isinstance(base, ast.Attribute)
        and context.parents.get(base) is not None
        and not isinstance(base.ctx, ast.Store)
    ):
        if is_bare:
            changes.append(Change(call, base, "assign" if _is_held_by_module(context, base) else "bind"))
        else:
            _refuse(
                context,
                chain,
                f"{context.source.text(base)} is changed and its value used at once",
                "write two statements",
            )
    elif isinstance(base, ast.Call) and (is_bare or _is_view(context, base)):
        viewed = (
            context.source.text(base.func.value) if isinstance(base.func, ast.Attribute) else context.source.text(base)
        )
        if _is_view(context, base):
            _refuse(
                context,
                chain,
                f"{viewed} is changed through a view",
                f"assign to {viewed} itself, with ops.assign or an index",
            )


def _mentions(context: Context, node: ast.expr, base: ast.expr) -> bool:
    """Whether the tensor that is changed is read in `node`, under the same name."""
    if isinstance(base, ast.Attribute) and base.attr == "data":
        base = base.value
    name = ast.dump(base)
    return isinstance(base, ast.Name | ast.Attribute) and any(
        ast.dump(each) == name for each in ast.walk(node) if type(each) is type(base)
    )


def _is_view(context: Context, node: ast.Call) -> bool:
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr in CERTAIN_VIEWS
        and context.reading.type(node.func.value).is_tensor
    )


def _is_held_by_module(context: Context, node: ast.Attribute) -> bool:
    owner = context.reading.type(node.value)
    return owner.kind != "instance" or context.reading.symbols.is_module(owner.qual)


def _refuse(context: Context, chain: list[ast.Call], message: str, advice: str) -> None:
    is_functional = isinstance(chain[0].func, ast.Name | ast.Attribute) and context.api(chain[0].func).startswith(
        "torch.nn.functional."
    )
    if is_functional and not context.api(chain[0].func).endswith(
        "_"
    ):  # inplace=True saves memory; that it is relied on is rare
        return
    context.find(chain[0], findings.MF140, f"in place: {message}", advice)
    context.handled |= {each for link in chain for each in (link, link.func)}


def _plan_item(
    context: Context, changes: list[Change], chain: list[ast.Call], base: ast.Subscript, is_bare: bool
) -> None:
    owner, index = context.reading.type(base.value), context.reading.type(base.slice)
    if owner.is_tensor and index.kind in ("tensor", "list"):
        _refuse(
            context,
            chain,
            "an index by tensor makes a copy, so nothing changes in torch either",
            "assign to the index: x[mask] = ...",
        )
    elif isinstance(base.value, ast.Subscript) and context.reading.type(base.value.value).is_tensor:
        _refuse(context, chain, "an index of an index makes a copy in MindSpore", "write one index: x[i, j]")
    elif is_bare:
        changes.append(Change(chain[0], base, "item", _filling(context, chain[0])))
    else:
        _refuse(
            context, chain, f"{context.source.text(base)} is changed and its value used at once", "write two statements"
        )


def _filling(context: Context, call: ast.Call) -> str:
    """`x[i].zero_()` is `x[i] = 0`."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return {"zero_": "0", "fill_": "{0}", "copy_": "{0}"}.get(name, "") if len(call.args) == (name != "zero_") else ""


def _plan_name(context: Context, names: Names, changes: list[Change], call: ast.Call, base: ast.Name) -> None:
    statement = context.parents.get(call)
    is_read_later = names.is_loaded_after(base.id, call)
    if isinstance(statement, ast.Expr):
        how = _way(context, names, base, is_read_later)
        changes.append(Change(call, base, how))
        if how == "bind":
            _becomes_assignment(context, statement, base)
            _warn_of_others(context, names, call, base)
    elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        if is_read_later and all(not isinstance(each, ast.Name) or each.id != base.id for each in statement.targets):
            changes.append(Change(call, base, "bind"))
            statement.targets.append(_stored(context, base))
            _added.setdefault(context.source, []).append((statement, None))
    elif is_read_later:
        _refuse(
            context,
            [call],
            f"{base.id} is changed inside an expression and read again below",
            f"write {base.id} = ... in a statement of its own first",
        )


def _way(context: Context, names: Names, base: ast.Name, is_read_later: bool) -> str:
    """Bind the name again, or write to the tensor that others hold too: ops.assign would cut it off from gradients."""
    binding = names.binding(base)
    if binding.is_parameter:
        return "set_data"
    if binding.how == "shared":
        return "overwrite"
    if (
        binding.how == "argument"
        and not _is_in_forward(context, base)
        and (not is_read_later or _is_for_the_caller(context, base))
    ):
        return "overwrite"
    return "bind"


def _is_for_the_caller(context: Context, node: ast.AST) -> bool:
    """Without gradients, or in a function named like trunc_normal_, arguments are changed for the caller to see."""
    function = context.enclosing(node, ast.FunctionDef, ast.AsyncFunctionDef)
    marks: list[ast.expr] = list(getattr(function, "decorator_list", []))
    block = context.enclosing(node, ast.With, ast.FunctionDef, ast.AsyncFunctionDef)
    while isinstance(block, ast.With):
        marks += [item.context_expr for item in block.items]
        block = context.enclosing(block, ast.With, ast.FunctionDef, ast.AsyncFunctionDef)
    apis = {context.api(each.func if isinstance(each, ast.Call) else each) for each in marks}
    name = getattr(function, "name", "")
    return bool(apis & NO_GRADIENTS) or (name.endswith("_") and not name.endswith("__"))


NO_GRADIENTS = frozenset({"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"})


def _is_in_forward(context: Context, node: ast.AST) -> bool:
    function = context.enclosing(node, ast.FunctionDef)
    return isinstance(function, ast.FunctionDef) and function.name == "forward"


def _warn_of_others(context: Context, names: Names, node: ast.expr, base: ast.Name) -> None:
    binding = names.binding(base)
    if binding.other == base.id:  # v = v.view(-1)
        return
    is_used = names.is_loaded_after(binding.other, node) or (
        binding.other.startswith("self.") and binding.how != "fresh"
    )
    if binding.other and is_used:
        shares = {"alias": "is the same tensor", "view": "shares its memory in torch"}.get(
            binding.how, "may share its memory in torch"
        )
        context.find(
            node,
            findings.MF141,
            f"{base.id} is bound to a new tensor here; {binding.other} {shares} and no longer changes with it",
            f"assign to {binding.other} too if that is meant",
        )
    elif binding.how == "argument" and not _is_in_forward(context, base) and context.enclosing(base, ast.FunctionDef):
        context.find(
            node,
            findings.MF141,
            f"{base.id} is bound to a new tensor here; the caller's tensor no longer changes",
            "return it, and use what is returned",
            severity="note",
        )


def _becomes_assignment(context: Context, statement: ast.Expr, base: ast.Name) -> None:
    """Later passes should see that the name is stored here."""
    block = context.block_of(statement)
    assignment = ast.copy_location(ast.Assign(targets=[_stored(context, base)], value=statement.value), statement)
    block[block.index(statement)] = assignment
    context.parents[assignment] = context.parents[statement]
    context.parents[statement.value] = assignment
    context.parents[assignment.targets[0]] = assignment
    _added.setdefault(context.source, []).append((assignment, statement))


def _stored(context: Context, base: ast.Name) -> ast.Name:
    stored = ast.copy_location(ast.Name(base.id, ast.Store()), base)
    context.reading.types[stored] = TENSOR
    return stored


def _undo(context: Context) -> None:
    """A file may be converted twice from one tree: take back the targets that were added the first time."""
    for assignment, statement in _added.pop(context.source, []):
        if statement is None:
            assignment.targets.pop()
        else:
            block = context.block_of(assignment)
            block[block.index(assignment)] = statement
            context.parents[statement.value] = statement


_added: weakref.WeakKeyDictionary[Source, list[tuple[ast.Assign, ast.Expr | None]]] = weakref.WeakKeyDictionary()


def _plan_flag(context: Context, call: ast.Call) -> None:
    """`p.requires_grad_(False)` as a statement sets the parameter's attribute."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "requires_grad_":
        return
    api, receiver = api_of(call.func, context.reading, context.rules)
    if api == "torch.Tensor.requires_grad_" and isinstance(receiver, ast.Name | ast.Attribute | ast.Subscript):
        if isinstance(receiver, ast.Name) and Names(context).binding(receiver).how == "fresh":
            return
        _flags.setdefault(id(context), []).append((call, receiver))
        context.handled |= {call, call.func}


_flags: dict[int, list[tuple[ast.Call, ast.expr]]] = {}


def _write_flag(context: Context, call: ast.Call, receiver: ast.expr) -> None:
    value = (
        context.edits.text(call.args[0])
        if call.args
        else next((context.edits.text(key.value) for key in call.keywords), "True")
    )
    before, after = context.source.text(call), f"{context.edits.text(receiver)}.requires_grad = {value}"
    context.edits.replace_node(call, after)
    context.rewritten(call, "torch.Tensor.requires_grad_", before, after)


def _plan_augmented(context: Context, names: Names, node: ast.AugAssign) -> None:
    """`x += y` binds x again in MindSpore: right for a local tensor, not for one that others hold."""
    target = node.target
    if isinstance(target, ast.Attribute) and target.attr == "data":
        _late(context, node, SET_DATA)
    elif isinstance(target, ast.Name):
        way = _way(context, names, target, names.is_loaded_after(target.id, node.value))
        if way != "bind":
            _late(context, node, SET_DATA if way == "set_data" else f"{context.imports.spell(WRITERS[way])}({{x}}, ")
        elif names.binding(target).other:
            _warn_of_others(context, names, node.value, target)


SET_DATA = "{x}.set_data("
_statements: dict[int, list[tuple[ast.Assign | ast.AugAssign, str]]] = {}


def _late(context: Context, node: ast.Assign | ast.AugAssign, opening: str) -> None:
    """The value is written once the rules have converted it."""
    context.captured[node.target if isinstance(node, ast.AugAssign) else node.targets[0]] = ""
    _statements.setdefault(id(context), []).append((node, opening))


def _warn_of_views(context: Context, names: Names, node: ast.Assign) -> None:
    """`row = x[0]; row[1] = 5` changes x in torch."""
    target = node.targets[0]
    assert isinstance(target, ast.Subscript)
    if isinstance(target.value, ast.Name) and names.binding(target.value).other:
        _warn_of_others(context, names, node.value, target.value)
    elif isinstance(target.value, ast.Subscript) and context.reading.type(target.value.value).is_tensor:
        context.find(
            node,
            findings.MF141,
            f"{context.source.text(target.value)} is a copy in MindSpore, so assigning into it changes nothing",
            "write one index: x[i, j] = ...",
        )


def finish(context: Context) -> None:
    for change in _changes.pop(id(context), []):
        _write(context, change)
    for call, receiver in _flags.pop(id(context), []):
        _write_flag(context, call, receiver)
    for node, opening in _statements.pop(id(context), []):
        _write_statement(context, node, opening)


def _write(context: Context, change: Change) -> None:
    source, edits = context.source, context.edits
    before = source.text(change.call)
    start, end = source.start(change.call), source.end(change.call)
    is_assigned = change.how in ("bind", "item")
    target = (_assignable(context, change.target) if is_assigned else context.captured[change.target]) + change.suffix
    if _is_left(context, change.call):
        return
    copied = change.call.args[0] if _copies(change.call) else None
    if change.how == "item" and change.value:
        filled = edits.text(change.call.args[0]) if change.call.args else ""
        edits.replace(*_outside_parentheses(context, change.call), f"{target} = {change.value.replace('{0}', filled)}")
    elif change.how == "set_data" and copied is not None:
        edits.replace(start, end, f"{target}.set_data({owned(edits.text(copied))})")
    elif change.how in ("bind", "item"):
        _unwrap(context, change.call)
        edits.before(_outside_parentheses(context, change.call)[0], f"{target} = ")
    else:
        opening = (
            f"{target}.set_data("
            if change.how == "set_data"
            else f"{context.imports.spell(WRITERS[change.how])}({target}, "
        )
        _unwrap(context, change.call)
        edits.before(start, opening)
        edits.after(end, ")")
    context.rewritten(change.call, "in place", before, edits.span(start, end))


def _assignable(context: Context, target: ast.expr) -> str:
    """The target as it was converted, or as it was: nothing can be assigned to a helper's result."""
    text = context.captured[target]
    try:
        ast.parse(f"{text} = 0")
    except SyntaxError:
        return context.source.text(target)
    return text


def _outside_parentheses(context: Context, call: ast.Call) -> tuple[int, int]:
    """The call's span, or its statement's where that is nothing but the call in parentheses: an assignment can't stand in them."""
    source, parent = context.source, context.parents[call]
    start, end = source.start(call), source.end(call)
    is_whole = isinstance(parent, ast.stmt) and not source.data[source.start(parent) : start].strip(b"( \t\f\r\n")
    return (source.start(parent), source.end(parent)) if is_whole else (start, end)


def _unwrap(context: Context, call: ast.Call) -> None:
    """`x = (x + y)` needs no parentheses."""
    text = context.edits.text(call)
    if text.startswith("(") and text.endswith(")"):
        try:
            ast.parse(text[1:-1], mode="eval")
        except SyntaxError:
            return
        context.edits.replace_node(call, text[1:-1])


def _is_left(context: Context, call: ast.Call) -> bool:
    """No rule converted the call; a finding says so."""
    method = context.source.text(call.func).rpartition(".")[2]
    if method in COLLECTIVES:
        return context.edits.text(call).endswith(context.source.text(call))  # after a comment that says why
    return method.endswith("_") and f"{method}(" in context.edits.text(call)


def _copies(call: ast.Call) -> bool:
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "copy_"
        and bool(call.args)
        and not isinstance(call.func.value, ast.Call)
    )


def _write_statement(context: Context, node: ast.Assign | ast.AugAssign, opening: str) -> None:
    """`p.data -= g` is `p.set_data(p - g)`, `p.data = w` is `p.set_data(w)`."""
    source, edits = context.source, context.edits
    written = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    target, before = context.captured[written], source.text(node)
    equals = source.data.index(b"=", source.end(written))
    operator = source.data[source.end(written) : equals].decode("utf-8").strip()
    left, right = (f"{target} {operator} ", "") if operator else ("", "")
    if operator and not isinstance(node.value, PLAIN_TYPES):
        left, right = left + "(", ")"
    if not operator and opening == SET_DATA and (text := edits.text(node.value)) != owned(text):
        edits.replace_node(node.value, owned(text))
    edits.replace(source.start(node), source.skip_trivia(equals + 1), opening.replace("{x}", target) + left)
    edits.after(source.end(node), right + ")")
    context.rewritten(node, "in place", before, edits.text(node))
