"""A new network trains in torch and evaluates in MindSpore: it is told so where it is made, unless the next line does."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Iterator
from functools import partial

from ...read.guesses import looks_like_network
from ...read.networks import is_mode_call
from ...read.types import Type
from ...read.uses import Use
from ...read.walk import walk
from ..facts import Facts
from ..plan import AtEnd, Change, Edit, InsertAfter, InsertBefore, Texts

AFTER = ("remove_idle_statements",)

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# torch's own layers that do something else in training, or hold others that may.
MODAL = ("Sequential", "ModuleList", "ModuleDict", "RReLU", "LSTM", "GRU", "RNN", "MultiheadAttention", "Transformer")
RETURNING = frozenset("to cuda cpu float half double bfloat16 type apply requires_grad_ share_memory".split())
# What can be asked of a network without running it.
QUIET = frozenset(
    "to cuda cpu float half double bfloat16 type apply parameters named_parameters buffers named_buffers modules named_modules "
    "children named_children state_dict load_state_dict requires_grad_ zero_grad share_memory compile module "
    "register_forward_hook register_forward_pre_hook register_full_backward_hook".split()
)

ASKED = ("parameters", "named_parameters")
LISTED = frozenset({"children", "named_children", "modules", "named_modules"})


def plan(facts: Facts) -> Iterator[Change]:
    symbols = facts.reading.symbols
    if "backward" in symbols.mentioned or (symbols.runs_networks and any(map(_is_modal, symbols.mentioned))):
        yield AtEnd(partial(_write, facts))


def _is_modal(name: str) -> bool:
    return "Dropout" in name or "BatchNorm" in name or name in ("training", "dropout", "RReLU", "rrelu")


def _write(facts: Facts, texts: Texts) -> Iterator[Edit]:
    keeps_parts = facts.reading.symbols.sets_inner_mode
    told: set[ast.Call] = set()
    for call in facts.source.of(ast.Call):
        if _is_regrouped(facts, call):
            continue
        if _is_made(facts, call) and not _is_told(facts, call) and not _is_told_next(facts, call):
            if (outer := _moved_around(facts, call)) is not None:
                yield from _tell(facts, outer, True, texts) if outer not in told else ()
                told.add(outer)
                continue
            yield from _tell(facts, _moved(facts, call), keeps_parts or _takes_existing(facts, call), texts)
        elif _may_be_made(facts, call) and not _is_told(facts, call):
            yield from _tell(facts, _moved(facts, call), True, texts)


def _tell(facts: Facts, call: ast.Call, keeps_parts: bool, texts: Texts) -> Iterator[Edit]:
    """`.set_train()`; where networks put parts of themselves in evaluation mode, those stay in it."""
    before, statement = texts.of(call), facts.statement_of(call)
    # `net = DataParallel(net)` can go, `if cuda: net = net.cuda()` is a `pass`: then the network is made elsewhere
    if texts.is_removed(statement) or texts.of(statement) == "pass" or not before.endswith(")"):
        return
    if keeps_parts:
        yield InsertBefore(call, f"{texts.name('compat.in_training')}(")
    yield InsertAfter(call, ")" if keeps_parts else ".set_train()")
    yield facts.record(call, facts.framework.of_network("train"), before, f"{before}.set_train()")


def _takes_existing(facts: Facts, call: ast.Call) -> bool:
    """`nn.Sequential(*list(net.children())[:-1])`, `Head(backbone)`: parts of another network, or a whole one, keep their own mode."""
    return any(_is_existing(facts, each, 0) for each in (*call.args, *(word.value for word in call.keywords)))


def _is_regrouped(facts: Facts, call: ast.Call) -> bool:
    """A container of nothing but parts of other networks, each of which has its mode already."""
    kind = facts.reading.type(call.func)
    name = kind.qual.rpartition(".")[2] if kind.kind == "ref" else ""
    if name not in ("Sequential", "ModuleList") or not facts.uses.has(Use.NETWORK_PART, kind.qual):
        return False
    given = [each.value if isinstance(each, ast.Starred) else each for each in call.args]
    parts = [part for each in given for part in (each.elts if isinstance(each, ast.List | ast.Tuple) else [each])]
    return bool(parts) and all(_is_part_of_another(facts, each) for each in parts)


def _is_part_of_another(facts: Facts, node: ast.expr) -> bool:
    """`net[0]`, `net.layer1`, `list(net.children())[:2]`."""
    root = _root(node)
    if root and root != "self" and isinstance(node, ast.Attribute | ast.Subscript):
        return looks_like_network(root) or _is_existing(facts, node, 0)
    return (not isinstance(node, ast.Name) and _is_existing(facts, node, 0)) or _is_listed(facts, node)


def _is_listed(facts: Facts, node: ast.expr) -> bool:
    """`parts` of `parts = list(net.children())[:2]`."""
    if not isinstance(node, ast.Name):
        return False
    stored = [facts.parents[each] for each in facts.stores(node.id)]
    return (
        len(stored) == 1
        and isinstance(stored[0], ast.Assign)
        and any(isinstance(each, ast.Attribute) and each.attr in LISTED for each in walk(stored[0].value))
    )


def _is_existing(facts: Facts, given: ast.expr, depth: int) -> bool:
    for node in walk(given):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LISTED:
            return True
        if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
            kind = facts.reading.type(node)
            if kind.kind == "instance" and facts.reading.symbols.is_module(kind.qual):
                return True
        if isinstance(node, ast.Name) and depth < 2:
            stored = [facts.parents[each] for each in facts.stores(node.id)]
            if any(isinstance(each, ast.Assign) and _is_existing(facts, each.value, depth + 1) for each in stored):
                return True
    return False


def _moved(facts: Facts, call: ast.Call) -> ast.Call:
    """`Net().to(device)`, the outermost call of these, most of which go."""
    match facts.parents.get(call):
        case ast.Attribute(attr=name) as method if name in RETURNING:
            outer = facts.parents.get(method)
            return _moved(facts, outer) if isinstance(outer, ast.Call) and outer.func is method else call
    return call


def _moved_around(facts: Facts, call: ast.Call) -> ast.Call | None:
    """`prepared(Net()).to(device)`: the moved call is written anew as a whole, so the network is told where that ends."""
    node: ast.expr = _moved(facts, call)
    while isinstance(parent := facts.parents.get(node), ast.Call) and node is not parent.func:
        outer = _moved(facts, parent)
        kind = facts.reading.type(outer)
        if outer is not parent and kind.kind == "instance" and facts.reading.symbols.is_module(kind.qual):
            return None if _is_told(facts, outer) else outer
        node = parent
    return None


def _is_made(facts: Facts, call: ast.Call) -> bool:
    """A network that is not part of another one; not a loss, nor a layer that has no mode."""
    kind, made, symbols = facts.reading.type(call.func), facts.reading.type(call), facts.reading.symbols
    if made.kind != "instance" or not symbols.is_module(made.qual) or symbols.torch_base(made.qual).endswith("Loss"):
        return False
    if kind.kind != "ref" or symbols.origin(kind.qual) in symbols.results:
        return False  # a function of the project, which tells it where it makes it
    if facts.uses.has(Use.NETWORK_PART, kind.qual) and not _has_mode(facts, call, kind.qual.rpartition(".")[2]):
        return False
    return not (_is_within_network(facts, call) or _is_part(facts, call) or _is_in_list_of_parts(facts, call))


def _has_mode(facts: Facts, call: ast.Call, name: str) -> bool:
    is_held = isinstance(facts.parents.get(call), ast.Assign) and name.startswith(("Linear", "Conv", "Embedding"))
    return is_held or name.startswith(MODAL) or _is_modal(name)


def _is_in_list_of_parts(facts: Facts, call: ast.Call) -> bool:
    """In `layers`, which is only ever filled and then given to what makes a network: that is told as a whole."""
    name = _list_of(facts, call)
    if not name:
        return False
    scope = facts.enclosing(call, *FUNCTIONS) or facts.source.tree
    uses = [node for node in _reads(facts, scope, name, 0) if not _is_filled(facts, node)]
    return bool(uses) and all(_is_part(facts, node) for node in uses)


def _list_of(facts: Facts, call: ast.Call) -> str:
    """The list that it is put in: `layers` in `layers = [Net()]`, `layers += [Net()]` and `layers.append(Net())`."""
    node = facts.parents.get(call)
    if isinstance(node, ast.List | ast.BinOp):
        while isinstance(node, ast.List | ast.BinOp):
            node = facts.parents.get(node)
    elif not isinstance(node, ast.Call):
        return ""  # `a, b = Net(), Net()` are networks of their own
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)):
            return name
        case ast.Call(func=ast.Attribute(attr="append" | "extend" | "insert", value=ast.Name(id=name))):
            return name
    return ""


def _is_filled(facts: Facts, node: ast.Name) -> bool:
    match facts.parents.get(node):
        case ast.Attribute(attr="append" | "extend" | "insert"):
            return True
        case ast.BinOp() as longer:  # layers = layers + [...]
            outer = facts.parents.get(longer)
            return isinstance(outer, ast.Assign) and [ast.unparse(each) for each in outer.targets] == [node.id]
    return False


def _is_within_network(facts: Facts, call: ast.Call) -> bool:
    """In a method of a network, where parts of it are made; a class method makes whole ones."""
    function = facts.enclosing(call, *FUNCTIONS)
    owner = facts.enclosing(call, ast.ClassDef)
    if owner is None or not facts.reading.symbols.is_module(facts.reading.owners.get(owner, "")):
        return False
    marks = getattr(function, "decorator_list", [])
    return not any(isinstance(mark, ast.Name) and mark.id in ("classmethod", "staticmethod") for mark in marks)


def _is_part(facts: Facts, given: ast.expr) -> bool:
    """Given to what makes a network: that is told as a whole."""
    symbols, node = facts.reading.symbols, facts.parents.get(given)
    while isinstance(node, ast.expr | ast.keyword | ast.comprehension):
        kind = facts.reading.type(node)
        if isinstance(node, ast.Call) and kind.kind == "instance" and symbols.is_module(kind.qual):
            made = facts.reading.type(node.func)
            if made.kind == "ref" and symbols.origin(made.qual) not in symbols.results:
                return True
        node = facts.parents.get(node)
    return False


def _may_be_made(facts: Facts, call: ast.Call) -> bool:
    """`net = classes[name](...)`: nothing is known of what is called, but the result is asked for its parameters."""
    kind = facts.reading.type(call.func)
    if isinstance(call.func, ast.Name) and call.func.id == "cls":
        owner = facts.enclosing(call, ast.ClassDef)
        is_network = facts.reading.symbols.is_module(facts.reading.owners.get(owner, "")) if owner else False
        return is_network and not _is_within_network(facts, call)
    if not _is_open(facts, call, kind) or _is_within_network(facts, call):
        return False
    match facts.parents.get(_moved(facts, call)):
        case ast.Return():
            return not isinstance(call.func, ast.Attribute)  # a registry's `return obj_cls(**args)`
        case ast.Assign(targets=[ast.Attribute(attr=name, value=ast.Name(id="self"))]):
            return looks_like_network(name)
        case ast.Assign(targets=[ast.Name(id=name)]):
            scope = facts.enclosing(call, *FUNCTIONS) or facts.source.tree
            return any(facts.is_within(node, scope) for node in facts.derived(_asked).get(name, ()))
    return False


def _asked(facts: Facts) -> dict[str, list[ast.Attribute]]:
    """By the name of a network or whatever it is, the places where it or a part of it is asked for its parameters."""
    found: dict[str, list[ast.Attribute]] = {}
    for node in (each for attribute in ASKED for each in facts.source.members.get(attribute, ())):
        found.setdefault(_root(node.value), []).append(node)
    return found


def _is_open(facts: Facts, call: ast.Call, kind: Type) -> bool:
    """Nothing is known of what is called, nor of what it makes."""
    return kind.kind == "unknown" and facts.reading.type(call).kind == "unknown"


def _root(node: ast.expr) -> str:
    """net in `net.encoder.layers[0]`: what a part belongs to."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_told(facts: Facts, call: ast.Call) -> bool:
    """`Net().to(device).eval()`."""
    node: ast.AST = call
    while isinstance(parent := facts.parents.get(node), ast.Attribute) and isinstance(
        outer := facts.parents.get(parent), ast.Call
    ):
        if parent.attr in ("train", "eval"):
            return True
        node = outer
    return False


def _is_told_next(facts: Facts, call: ast.Call) -> bool:
    """The first that happens to the network, other than being asked for something, is train() or eval()."""
    statement = facts.statement_of(call)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            scope = facts.enclosing(statement, *FUNCTIONS) or facts.source.tree
            return _is_first_told(facts, scope, name, facts.source.end(statement))
    return False


def _is_first_told(facts: Facts, scope: ast.AST, name: str, after: int, depth: int = 0) -> bool:
    for node in _reads(facts, scope, name, after):
        parent = facts.parents.get(node)
        if isinstance(parent, ast.Attribute) and parent.attr in QUIET:
            continue
        call = facts.parents.get(parent) if parent is not None else None
        if isinstance(parent, ast.Attribute) and isinstance(call, ast.Call) and parent.attr in ("train", "eval"):
            return is_mode_call(call) and not _is_conditional(facts, call, scope)
        if (
            isinstance(parent, ast.Call)
            and node in parent.args
            and depth < 2
            and not _is_conditional(facts, parent, scope)
        ):
            function = _function(facts, parent.func)
            if function is None or parent.args.index(node) >= len(function.args.args):
                return False
            argument = function.args.args[parent.args.index(node)].arg
            return _is_first_told(facts, function, argument, 0, depth + 1)
        return False
    return False


def _reads(facts: Facts, scope: ast.AST, name: str, after: int) -> Iterator[ast.Name]:
    """Where the name is read from an offset on, in the order of the text."""
    places = facts.source.named_within(name, scope)
    first = bisect.bisect_left(places, after, key=facts.source.start)
    following = map(places.__getitem__, range(first, len(places)))
    return (node for node in following if isinstance(node.ctx, ast.Load))


def _is_conditional(facts: Facts, node: ast.AST, scope: ast.AST) -> bool:
    current: ast.AST | None = node
    while current is not None and current is not scope:
        current = facts.parents.get(current)
        if isinstance(current, ast.If) and not _is_main(current):
            return True
        if isinstance(current, (*FUNCTIONS, ast.Lambda, ast.Try)) and current is not scope:
            return True
    return False


def _is_main(node: ast.If) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "__name__" for each in walk(node.test))


def _function(facts: Facts, called: ast.expr) -> ast.FunctionDef | None:
    if not isinstance(called, ast.Name):
        return None
    return facts.derived(_functions).get(called.id)


def _functions(facts: Facts) -> dict[str, ast.FunctionDef]:
    """By name, the first of each."""
    return {each.name: each for each in reversed(facts.source.of(ast.FunctionDef))}
