"""Where a name got its value, and whether anything else refers to the same tensor."""

from __future__ import annotations

import ast
import bisect
from dataclasses import dataclass

from ...read.guesses import looks_like_loader
from ..facts import Facts
from . import hold_leaf_parameters, make_leaf_parameters

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# Methods and attributes that share memory with the tensor they are of.
VIEWS = frozenset(
    "view view_as reshape transpose t permute unsqueeze squeeze expand expand_as narrow select chunk split unbind detach flatten unfold "
    "diagonal movedim swapaxes swapdims contiguous data T mT real imag unflatten tensor_split to cpu cuda float type ravel".split()
)
PERHAPS_VIEWS = frozenset(
    "to cpu cuda float type contiguous reshape flatten ravel from_numpy as_tensor asarray".split()
)
SPREAD = frozenset("expand expand_as broadcast_to transpose t permute swapaxes movedim T mT unfold".split())
CERTAIN_VIEWS = VIEWS - PERHAPS_VIEWS
PARAMETERS = frozenset("parameters named_parameters trainable_params get_parameters parameters_and_names".split())


@dataclass(frozen=True, slots=True)
class Binding:
    """How: fresh (its own tensor), alias or view (of `other`), shared (a container, attribute or loop holds it), argument.

    A fresh one with an `other` shares its memory in torch if that has the dtype, device or layout asked for.
    """

    how: str
    other: str = ""
    is_parameter: bool = False  # certainly a network's parameter
    is_of_shared: bool = False  # a view of what a container, attribute or loop holds


FRESH = Binding("fresh")


class Names:
    """Loads and stores of every name, scope by scope."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._uses: dict[str, dict[ast.AST, list[ast.Name]]] = {}  # of the names that were asked for, by scope
        self._nested: dict[ast.AST, list[ast.AST]] | None = None  # functions directly within each scope
        self._chosen: dict[tuple[ast.AST, str, type[ast.expr_context]], list[ast.Name]] = {}
        self._within: dict[tuple[ast.AST, str], tuple[list[ast.Name], list[int]]] = {}
        self._bound: dict[tuple[ast.AST, str], tuple[list[ast.Name], list[int]]] = {}
        self._values: dict[tuple[ast.AST, str], list[ast.expr]] = {}
        self._assigned: dict[str, dict[int, list[int]]] = {}  # by name and block: places of plain assignments

    def scope(self, node: ast.AST) -> ast.AST:
        """The function, or the module, that its names are of."""
        parents, tree = self.facts.parents, self.facts.source.tree
        while (above := parents.get(node, tree)) is not tree and type(above) not in FUNCTIONS:
            node = above
        return above

    def _uses_in(self, scope: ast.AST, name: str) -> list[ast.Name]:
        if name not in self._uses:
            found = self._uses[name] = {}
            for node in self.facts.source.named.get(name, ()):
                found.setdefault(self.scope(node), []).append(node)
        return self._uses[name].get(scope, [])

    def _functions_in(self, scope: ast.AST) -> list[ast.AST]:
        if self._nested is None:
            self._nested = {}
            for node in (node for kind in FUNCTIONS for node in self.facts.source.of(kind)):
                self._nested.setdefault(self.scope(node), []).append(node)
        return self._nested.get(scope, [])

    def stores(self, scope: ast.AST, name: str) -> list[ast.Name]:
        return self._of_context(scope, name, ast.Store)

    def loads(self, scope: ast.AST, name: str) -> list[ast.Name]:
        return self._of_context(scope, name, ast.Load)

    def _of_context(self, scope: ast.AST, name: str, kind: type[ast.expr_context]) -> list[ast.Name]:
        key = scope, name, kind
        if key not in self._chosen:
            self._chosen[key] = [use for use in self._uses_in(scope, name) if isinstance(use.ctx, kind)]
        return self._chosen[key]

    def is_loaded_after(self, name: str, node: ast.expr) -> bool:
        """Whether the name is read once `node` has been evaluated: further down, or in the next round of a loop."""
        source = self.facts.source
        end, scope = source.end(node), self.scope(node)
        statement = self.facts.statement_of(node)
        if isinstance(statement, ast.Return):  # further on in what it returns
            return any(end <= source.start(use) < source.end(statement) for use in self.loads(scope, name))
        loop = self.facts.enclosing(node, ast.For, ast.While, ast.AsyncFor)
        if loop is not None and self.facts.enclosing(loop, *FUNCTIONS) is not self.facts.enclosing(node, *FUNCTIONS):
            loop = None
        uses, starts = self._uses_within(scope, name)
        after = bisect.bisect_left(starts, end)
        if loop is not None and not self.facts.is_bound_within(name, loop):
            before = map(uses.__getitem__, range(bisect.bisect_left(starts, source.start(loop)), after))
            if any(isinstance(use.ctx, ast.Load) and not self._inside(use, node) for use in before):
                return True
        following = map(uses.__getitem__, range(after, len(uses)))
        read = next((use for use in following if isinstance(use.ctx, ast.Load)), None)
        return read is not None and not self._rebound_before(name, node, read)

    def _uses_within(self, scope: ast.AST, name: str) -> tuple[list[ast.Name], list[int]]:
        """In source order, with where each starts; nested functions may read the name too."""
        if (scope, name) not in self._within:
            found, waiting = [], [scope]
            if scope is self.facts.source.tree:
                found, waiting = list(self.facts.source.named.get(name, ())), []
            while waiting:
                current = waiting.pop()
                found += self._uses_in(current, name)
                waiting += self._functions_in(current)
            self._within[scope, name] = self.in_order(found)
        return self._within[scope, name]

    def in_order(self, nodes: list[ast.Name]) -> tuple[list[ast.Name], list[int]]:
        """As the text has them, and where each starts."""
        start = self.facts.source.start
        ordered = sorted(nodes, key=start)
        return ordered, [start(each) for each in ordered]

    def _rebound_before(self, name: str, node: ast.expr, use: ast.Name) -> bool:
        """`y = x.add_(1); x = 3; print(x)`: a plain assignment in the same block comes first."""
        statement, blocks = self.facts.statement_of(node), self.facts.source.blocks
        if statement not in blocks:
            return False
        block, place = blocks[statement]
        reading: ast.AST | None = use  # the statement of the same block that reads it
        while reading is not None and (reading not in blocks or blocks[reading][0] is not block):
            reading = self.facts.parents.get(reading)
        if reading is statement:
            return isinstance(statement, ast.Assign) and not self._inside(use, statement.value)
        places = self._assigned_places(block, name)
        following = bisect.bisect_left(places, place)
        return following < len(places) and (reading is None or places[following] < blocks[reading][1])

    def _assigned_places(self, block: list[ast.stmt], name: str) -> list[int]:
        """Where plain assignments to the name stand in a block of statements."""
        if name not in self._assigned:
            found = self._assigned[name] = {}
            for store in self.facts.source.stored.get(name, ()):
                statement = self.facts.parents.get(store)
                if isinstance(statement, ast.Assign) and statement in self.facts.source.blocks:
                    around, place = self.facts.source.blocks[statement]
                    bisect.insort(found.setdefault(id(around), []), place)
        return self._assigned[name].setdefault(id(block), [])

    def note_assigned(self, statement: ast.stmt, name: str) -> None:
        """From here on the statement is read as one that assigns to the name."""
        block, place = self.facts.source.blocks[statement]
        bisect.insort(self._assigned_places(block, name), place)

    def _inside(self, node: ast.AST, outer: ast.AST) -> bool:
        current: ast.AST | None = node
        while current is not None and current is not outer:
            current = self.facts.parents.get(current)
        return current is outer

    def binding(self, name: ast.Name, at: int = -1) -> Binding:
        """How the name's tensor came to be, judged by its last assignment above, or above a place in the text."""
        is_leaf = make_leaf_parameters.is_leaf(self.facts, name)
        if is_leaf or hold_leaf_parameters.holds(self.facts, name) == hold_leaf_parameters.ONE:
            return Binding("fresh", is_parameter=True)
        scope = self.scope(name)
        stores, starts = self._bound_in(scope, name.id)
        if earlier := bisect.bisect_left(starts, self.facts.source.start(name) if at < 0 else at):
            return self._that_may_hold(name, stores[:earlier])
        arguments = getattr(scope, "args", None)
        if isinstance(arguments, ast.arguments):
            listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
            if any(each is not None and each.arg == name.id for each in listed):
                return Binding("argument")
        return Binding("shared")

    def _above(self, name: ast.Name) -> Binding:
        """What the name was bound to before its statement: in `x = x.view(-1)` that is another x."""
        return self.binding(name, self.facts.source.start(self.facts.statement_of(name)))

    def _that_may_hold(self, name: ast.Name, stores: list[ast.Name]) -> Binding:
        """The last assignment; behind one in a branch that may not have run, an earlier one that shares its tensor."""
        last = self._of_store(stores[-1])
        for store in reversed(stores):
            found = last if store is stores[-1] else self._of_store(store)
            if found.how != "fresh":
                return found
            if not self._is_in_other_branch(store, name):
                break
        return last

    def _is_in_other_branch(self, store: ast.Name, name: ast.Name) -> bool:
        """`w = p`, `if half: w = w.float()`, `w.add_(g)`: the use stands outside of the branch."""
        branch = self.facts.enclosing(store, ast.If, *FUNCTIONS)
        return isinstance(branch, ast.If) and not self._inside(name, branch)

    def _bound_in(self, scope: ast.AST, name: str) -> tuple[list[ast.Name], list[int]]:
        """Where the scope gives the name a value, `x += 1` apart."""
        if (scope, name) not in self._bound:
            parents = self.facts.parents
            stores = self.stores(scope, name)
            bound = [each for each in stores if not isinstance(parents.get(each), ast.AugAssign)]
            self._bound[scope, name] = self.in_order(bound)
        return self._bound[scope, name]

    def last_bound(self, name: ast.Name) -> int:
        """Where the last assignment above it stands, -1 without one."""
        starts = self._bound_in(self.scope(name), name.id)[1]
        earlier = bisect.bisect_left(starts, self.facts.source.start(name))
        return starts[earlier - 1] if earlier else -1

    def values(self, name: ast.Name) -> list[ast.expr]:
        """What assignments in its scope give the name."""
        key = self.scope(name), name.id
        if key not in self._values:
            given = [self._given(store) for store in self.stores(*key)]
            self._values[key] = [each for each in given if each is not None]
        return self._values[key]

    def _given(self, store: ast.Name) -> ast.expr | None:
        statement = self.facts.parents.get(store)
        return statement.value if isinstance(statement, ast.Assign) else own_value(store, statement, self.facts.parents)

    def is_gradient(self, name: ast.Name) -> bool:
        """`d_p = p.grad.data`: what it shares is the gradient's memory, not the parameter's."""
        parents = [self.facts.parents.get(use) for use in self.stores(self.scope(name), name.id)]
        values = [each.value for each in parents if isinstance(each, ast.Assign)]
        return any(
            isinstance(part, ast.Attribute) and part.attr == "grad" for each in values for part in ast.walk(each)
        )

    def _of_store(self, store: ast.Name) -> Binding:
        statement: ast.AST | None = self.facts.parents.get(store)
        is_part = isinstance(statement, ast.Tuple | ast.List | ast.Starred)
        if (own := own_value(store, statement, self.facts.parents)) is not None:
            return self._of_value(own)
        while isinstance(statement, ast.Tuple | ast.List | ast.Starred):
            statement = self.facts.parents.get(statement)
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.NamedExpr) and statement.value is not None:
            return self._of_value(statement.value, is_part)
        if isinstance(statement, ast.For | ast.comprehension):
            source = _zipped(store, statement)
            return FRESH if _names_batches(source) else Binding("shared", is_parameter=_names_parameters(source))
        return FRESH if isinstance(statement, ast.With | ast.withitem) else Binding("shared")

    def _of_value(self, value: ast.expr, is_part: bool = False) -> Binding:
        match value:
            case ast.Name(id=other):
                held = self._above(value)
                return held if held.how == "shared" else Binding("alias", other)
            case ast.Call(func=ast.Attribute(attr=name, value=owner)) if self.facts.reading.type(owner).is_tensor:
                if name == "contiguous" and is_of_layout(owner):
                    return FRESH  # a copy
                if name in CERTAIN_VIEWS | PERHAPS_VIEWS:
                    return self._view_of(owner, name in CERTAIN_VIEWS)
                return self._of_value(owner) if name.endswith("_") and not name.startswith("_") else FRESH
            case ast.Call(func=function, args=[owner, *_]) if (api := self.facts.api(function)).startswith(
                f"{self.facts.framework.name}."
            ):
                name = api.removeprefix(f"{self.facts.framework.name}.")
                return self._view_of(owner, name in CERTAIN_VIEWS) if name in CERTAIN_VIEWS | PERHAPS_VIEWS else FRESH
            case ast.Call(func=ast.Name(id=name), args=given) if (place := self._handed_back(name)) is not None:
                return self._of_value(given[place]) if place < len(given) else FRESH
            case ast.Attribute(attr=name, value=owner) if self.facts.reading.type(owner).is_tensor:
                return self._view_of(owner) if name in VIEWS else Binding("shared")
            case ast.Attribute(attr=name):
                return Binding("shared", is_parameter=name in ("weight", "bias"))
            case ast.Subscript(value=owner, slice=index):
                if not self.facts.reading.type(owner).is_tensor:
                    return Binding("shared")
                return FRESH if self.facts.reading.type(index).kind in ("tensor", "list") else self._view_of(owner)
            case ast.IfExp(body=body, orelse=orelse):
                parts = [self._of_value(body), self._of_value(orelse)]
                return next((each for each in parts if each.how != "fresh"), FRESH)
            case ast.Call(func=function, args=given) if self._is_taken_out(function, given, is_part):
                return Binding("shared")
            case ast.Tuple() if is_part:
                return Binding("shared")
        return FRESH

    def _is_taken_out(self, function: ast.expr, given: list[ast.expr], is_part: bool) -> bool:
        """`kept.get("a")`, `x, y = kept.values()`, `max(found, key=size)`: a container goes on holding what it gives."""
        match function:
            case ast.Attribute(attr="get" | "setdefault"):
                return True
            case ast.Attribute(attr="values"):
                return is_part
            case ast.Name(id="max" | "min" | "getattr"):
                return len(given) == 1 or function.id == "getattr"
            case ast.Name(id="next"):
                source = given[0] if given else function
                inner = source.args[0] if isinstance(source, ast.Call) and source.args else source
                return not (is_part or _names_batches(inner))
        return False

    def _handed_back(self, name: str) -> int | None:
        """Which of its arguments a function of this file gives back: 0 for `def scale(x): x.mul_(2); return x`."""
        defined = [each for each in self.facts.source.of(ast.FunctionDef) if each.name == name]
        if len(defined) != 1:
            return None
        function = defined[0]
        listed = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        for node in ast.walk(function):
            match node:
                case ast.Return(value=ast.Name(id=given)) if given in listed:
                    if self.scope(node) is function and not self.stores(function, given):
                        return listed.index(given)
        return None

    def _view_of(self, owner: ast.expr, is_certain: bool = True) -> Binding:
        """The name, or the attribute of self, whose memory is shared; fresh if a call in between made a new tensor."""
        while isinstance(owner, ast.Attribute | ast.Subscript | ast.Call):
            if isinstance(owner, ast.Call):
                if not isinstance(owner.func, ast.Attribute) or owner.func.attr not in VIEWS:
                    return FRESH
                owner = owner.func
            elif isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name) and owner.value.id == "self":
                return Binding("view" if is_certain else "fresh", f"self.{owner.attr}")
            owner = owner.value
        if not isinstance(owner, ast.Name):
            return FRESH
        is_of_shared = is_certain and self._above(owner).how == "shared"
        return Binding("view" if is_certain else "fresh", owner.id, is_of_shared=is_of_shared)


def is_of_layout(node: ast.expr) -> bool:
    """`x.expand(2, 3)`, `x.t()`: what does not lie in memory in one piece, so that contiguous() copies it."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name)) | ast.Attribute(attr=name):
            return name in SPREAD
    return False


def own_value(store: ast.Name, targets: ast.AST | None, parents: dict[ast.AST, ast.AST]) -> ast.expr | None:
    """`ones(1)` for b in `a, b = zeros(1), ones(1)`."""
    if not isinstance(targets, ast.Tuple | ast.List) or not isinstance(assigned := parents.get(targets), ast.Assign):
        return None
    if not isinstance(assigned.value, ast.Tuple | ast.List) or len(assigned.value.elts) != len(targets.elts):
        return None
    if not any(isinstance(each, ast.Starred) for each in (*assigned.value.elts, *targets.elts)):
        return assigned.value.elts[targets.elts.index(store)]
    return None


def is_held_by_network(facts: Facts, node: ast.expr) -> bool:
    """`for k, v in ema.state_dict().items(): v *= 0.9`: a network's own tensors, whatever is known of the network."""
    if not isinstance(node, ast.Name) or facts.reading.type(node).kind != "unknown":
        return False
    loop = facts.enclosing(node, ast.For)
    while isinstance(loop, ast.For):
        if any(isinstance(each, ast.Name) and each.id == node.id for each in ast.walk(loop.target)):
            return _is_tensor_of(loop.target, loop.iter, node.id)
        loop = facts.enclosing(loop, ast.For)
    return False


def _is_tensor_of(target: ast.expr, source: ast.expr, name: str) -> bool:
    match source:
        case ast.Call(func=ast.Name(id="zip"), args=parts) if isinstance(target, ast.Tuple):
            return any(_is_tensor_of(each, part, name) for each, part in zip(target.elts, parts, strict=False))
        case ast.Call(func=ast.Attribute(attr="items", value=ast.Call(func=ast.Attribute(attr="state_dict")))):
            return _second(target) == name
        case ast.Call(func=ast.Attribute(attr="named_parameters" | "named_buffers")):
            return _second(target) == name
        case (
            ast.Call(func=ast.Attribute(attr="values", value=ast.Call(func=ast.Attribute(attr="state_dict"))))
            | ast.Call(func=ast.Attribute(attr="parameters" | "buffers"))
        ):
            return isinstance(target, ast.Name) and target.id == name
    return False


def _second(target: ast.expr) -> str:
    match target:
        case ast.Tuple(elts=[_, ast.Name(id=name)]):
            return name
    return ""


def _zipped(store: ast.Name, loop: ast.For | ast.comprehension) -> ast.expr:
    """What a loop takes the name from: `kept` for the second name of `for p, q in zip(net.parameters(), kept)`."""
    match loop.target, loop.iter:
        case ast.Tuple(elts=names), ast.Call(func=ast.Name(id="zip"), args=parts) if store in names:
            if len(names) == len(parts) and not any(isinstance(each, ast.Starred) for each in (*names, *parts)):
                return parts[names.index(store)]
    return loop.iter


def _names_parameters(node: ast.expr) -> bool:
    return any(
        (isinstance(each, ast.Attribute) and each.attr in PARAMETERS)
        or (isinstance(each, ast.Name) and "param" in each.id)
        for each in ast.walk(node)
    )


def _names_batches(node: ast.expr) -> bool:
    """A loader makes new tensors in every round."""
    words = (getattr(each, "id", getattr(each, "attr", "")) for each in ast.walk(node))
    return any(looks_like_loader(word) for word in words if isinstance(word, str))
