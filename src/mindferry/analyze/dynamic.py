"""Shapes that depend on data, told from shape arithmetic that is static, with a way round each."""

from __future__ import annotations

import ast
import re

from ..artifacts import Place
from ..read.framework import Framework
from ..read.uses import Use
from . import variable_sizes
from .evidence import root
from .scan import FUNCTIONS, CallSite, FileScan, argument, line_of

MASK = "multiply by the mask or use where(mask, x, 0), so that the shape stays; gather at the end, on the host"
FIXED = "compute a fixed upper bound, pad to it, and mask what is over"
BRANCH = "compute both sides and choose with where, or keep this function out of the graph (PyNative)"
OPERATORS = {
    **dict.fromkeys(("nonzero", "argwhere", "masked_select", "boolean_mask", "remove_small_boxes"), MASK),
    "bincount": "give the number of classes (ops.bincount pads to minlength), or count on the host",
    "unique": "pad to a fixed number (ops.unique_with_pad), or count on the host",
    "unique_consecutive": "pad to a fixed number (ops.unique_with_pad), or count on the host",
    "nms": "ops.NMSWithMask keeps all boxes and returns a mask: the shape stays",
    "batched_nms": "ops.NMSWithMask keeps all boxes and returns a mask: the shape stays",
    "qnms": "ops.NMSWithMask keeps all boxes and returns a mask: the shape stays",
    **dict.fromkeys(
        ("pack_padded_sequence", "pad_packed_sequence"), "keep sequences padded and give their lengths as seq_length"
    ),
    "pad_sequence": "pad every batch to the same length, or to a few (buckets)",
}
ANYWHERE = re.compile(
    r"((batched|soft|multi_?class|fast|matrix)_)*nms(_(rotated|numpy|cpu|cuda))?|non_max_suppression\w*|remove_small_boxes"
)  # names that mean the same wherever they come from
SIZES = re.compile(
    r"size|shape|pad|stride|kernel|window|dims?$|split|chunk|channel|slice", re.IGNORECASE
)  # parameters that hold settings
LENGTHS = {"numel", "size", "nelement", "dim"}
SIZED = {
    "arange",
    "zeros",
    "ones",
    "full",
    "empty",
    "rand",
    "randn",
    "linspace",
    "reshape",
    "view",
    "expand",
    "repeat",
    "narrow",
    "split",
    "topk",
    "new_zeros",
    "new_ones",
    "interpolate",
    "pad",
    "randperm",
    "eye",
    "one_hot",
    "tile",
    "randint",
}
TO_HOST = {"item", "tolist"}
MASKS = {
    "gt",
    "lt",
    "ge",
    "le",
    "eq",
    "ne",
    "isnan",
    "isinf",
    "isfinite",
    "logical_and",
    "logical_or",
    "logical_not",
    "logical_xor",
    "bool",
}


def dynamic_shapes(scan: FileScan) -> list[Place]:
    if not any(map(scan.reading.source.mentions, scan.framework.roots)):
        return []
    places: list[Place] = []
    random = _random_calls(scan)
    names = _names(scan, random, frozenset())
    choosing = frozenset(home.rpartition(".")[2] for home, known in names.items() if known.returns_ragged)
    if choosing:  # what calls them is ragged too
        names = _names(scan, random, choosing)
    for call in scan.calls:
        places += _from_call(call, scan, names.get(call.home) or names[scan.module])
    loops = _training_functions(scan)
    for node in scan.reading.source.nodes:
        known = names.get(scan.homes[node]) or names[scan.module]
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            places += _from_index(node, scan, known)
        elif (
            isinstance(node, ast.If | ast.While | ast.IfExp)
            and scan.homes[node] not in loops
            and known.is_data(node.test)
        ):
            kind = "loop" if isinstance(node, ast.While) else "branch"
            places.append(Place(f"data-dependent {kind}", scan.text(node.test), scan.path, node.lineno, BRANCH))
    return sorted({(each.line, each.topic): each for each in places}.values(), key=lambda each: each.line)


def _names(scan: FileScan, random: set[ast.AST], choosing: frozenset[str]) -> dict[str, _Names]:
    names = {home: _Names(node, scan, home, random, choosing) for home, node in scan.functions.items()}
    names[scan.module] = _Names(scan.reading.source.tree, scan, scan.module, random, choosing)
    return names


def _random_calls(scan: FileScan) -> set[ast.AST]:
    """Calls that give another number each time: Python's and numpy's generators, and the file's functions that ask them."""
    asking: set[str] = set()
    calls: set[ast.AST] = set()
    while True:
        before = len(calls)
        for call in scan.calls:
            if call.name.startswith(("numpy.random.", "random.")) or call.name in asking:
                calls.add(call.node)
                if call.home != scan.module and not call.home.endswith("__init__"):
                    asking.add(call.home)
        if len(calls) == before:
            return calls


def _training_functions(scan: FileScan) -> set[str]:
    """Where Python drives the steps: a branch there is none of the graph's."""
    network, uses = scan.framework.of_network, scan.uses
    driving = (uses.name(Use.BACKWARD), uses.name(Use.STEP), network("train"), network("eval"))
    return {scan.module, *(call.home for call in scan.calls if call.name in driving)}


def _from_call(call: CallSite, scan: FileScan, names: _Names) -> list[Place]:
    last, node = call.last, call.node
    here = (scan.path, line_of(node))
    if is_dynamic_operator(call.name, scan.framework) and argument(node, -1, "minlength") is None:
        return [Place(last, scan.text(node), *here, OPERATORS.get(last, OPERATORS["nms"]))]
    if scan.uses.has(Use.SEARCH_BY_CONDITION, call.name) and len(node.args) == 1 and not node.keywords:
        return [Place("nonzero", scan.text(node), *here, MASK)]
    if scan.uses.has(Use.REPEAT, call.name):
        repeats = argument(node, 0 if scan.framework.is_of_tensor(call.name) else 1, "repeats")
        if repeats is not None and names.is_data(repeats):
            return [Place("repeat_interleave by data", scan.text(node), *here, FIXED)]
    if scan.uses.has(Use.GROW, call.name) and node.args and _grows(node, scan):
        return [
            Place(
                "tensor that grows in a loop",
                scan.text(node),
                *here,
                "allocate the final length before the loop and write into it",
            )
        ]
    if (
        (scan.uses.has(Use.JOIN, call.name) or scan.uses.has(Use.STACK, call.name))
        and node.args
        and isinstance(node.args[0], ast.ListComp)
        and node.args[0].generators[0].ifs
    ):
        return [Place("as many tensors as data says", scan.text(node), *here, FIXED)]
    if scan.framework.has(call.name) and last in SIZED:
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        if any(names.is_number_from_data(each) for each in arguments):
            what = "topk with computed k" if last == "topk" else f"{last} with a size from data"
            return [Place(what, scan.text(node), *here, FIXED)]
    return variable_sizes.from_call(call, scan, names)


def is_dynamic_operator(name: str, framework: Framework) -> bool:
    last = name.rpartition(".")[2]
    return (
        ANYWHERE.fullmatch(last) is not None
        or (last in OPERATORS and framework.has(name))
        or name in (".nonzero", ".masked_select")
    )


def _grows(node: ast.Call, scan: FileScan) -> bool:
    """`x = torch.cat((x, y))` inside a loop that counts; one over layers runs as often in every step."""
    parents = scan.reading.source.parents
    parent = parents.get(node)
    if not isinstance(parent, ast.Assign):
        return False
    parts = (
        node.args[0].elts
        if isinstance(node.args[0], ast.Tuple | ast.List)
        else [node.args[0]]
        if scan.text(node.func).endswith("pad")
        else []
    )
    targets = {scan.text(target) for target in parent.targets}
    while (parent := parents.get(parent)) is not None and not isinstance(parent, FUNCTIONS):
        if isinstance(parent, ast.While) or (isinstance(parent, ast.For) and "range(" in scan.text(parent.iter)):
            return any(scan.text(each) in targets for each in parts)
    return False


def _from_index(node: ast.Subscript, scan: FileScan, names: _Names) -> list[Place]:
    if isinstance(node.slice, ast.Slice) and any(
        names.is_computed_part(each) for each in (node.slice.lower, node.slice.upper)
    ):
        return [
            Place("slice by data", scan.text(node), scan.path, node.lineno, FIXED)
        ]  # even of a list: how many steps there are
    home = scan.homes[node]
    is_network = scan.reading.symbols.is_module(home.rpartition(".")[0])
    is_unknown = scan.reading.type(node.value).kind == "unknown"
    is_masked = (
        is_unknown
        and isinstance(node.slice, ast.Name)
        and names.is_mask(node.slice)
        and not isinstance(node.value, ast.Attribute)
    )
    if not (
        scan.is_tensor(node.value) or is_masked or (is_unknown and is_network)
    ):  # what a network indexes by a mask is a tensor
        return []
    elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for each in elements:
        if isinstance(each, ast.Slice):
            bounds = [bound for bound in (each.lower, each.upper) if bound is not None]
            if any(names.is_random(bound) for bound in bounds):
                return [Place("slice by random numbers", scan.text(node), scan.path, node.lineno, FIXED)]
            if any(names.is_given_part(each) or variable_sizes.is_variable(each, home, scan, names) for each in bounds):
                return [Place("slice by data", scan.text(node), scan.path, node.lineno, FIXED)]
        elif names.is_mask(each):
            return [Place("index by mask", scan.text(node), scan.path, node.lineno, MASK)]
    return []


class _Names:
    """What the names of one function were last set to: a mask, a number taken from a tensor, a tensor that was computed."""

    def __init__(
        self, function: ast.AST, scan: FileScan, home: str, random: set[ast.AST], choosing: frozenset[str]
    ) -> None:
        self.reading, self.random_calls = scan.reading, random
        self.choosing = choosing  # functions of the file that return ragged tensors
        self.returns_ragged = False
        self.evident = scan.tensors.get(home, frozenset())  # names that are used as tensors, where types don't tell
        self.random: set[str] = set()  # numbers that a generator on the host gave
        self.masks: set[str] = set()
        self.numbers: set[str] = set()
        self.computed: set[str] = set()
        self.ragged: set[str] = set()  # tensors whose length depends on data
        self.from_ragged: set[str] = set()  # what a function made of one, on the host
        self.elements: set[str] = set()  # elements of tensors that a loop goes through
        self.listed: set[str] = set()  # elements of lists that were taken to the host
        self.parameters = _plain_parameters(function)
        for node in _own_nodes(function):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._assign(name, value)
                case ast.Assign(targets=[ast.Tuple() as targets], value=value):
                    self._assign_tuple(targets, value)
                case ast.For(target=target, iter=source):
                    self._loop(target, source)
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[value]) if (
                    self.is_number_from_data(value)
                ):
                    self.numbers.add(name)
                case ast.Return(value=ast.expr() as value):
                    self.returns_ragged |= self.is_ragged(value)

    def _assign_tuple(self, targets: ast.Tuple, value: ast.expr) -> None:
        names = [each.id for each in targets.elts if isinstance(each, ast.Name)]
        if value in self.random_calls:
            self.random |= {part.id for part in ast.walk(targets) if isinstance(part, ast.Name)}
        elif isinstance(value, ast.Tuple) and len(value.elts) == len(names):
            for name, part in zip(names, value.elts, strict=True):
                self._assign(name, part)
        elif (
            isinstance(value, ast.Call)
            and any(self.is_ragged(each) for each in value.args)
            and not self.reading.type(value).is_tensor
        ):
            self.from_ragged |= set(names)

    def _loop(self, target: ast.expr, source: ast.expr) -> None:
        if isinstance(target, ast.Name) and self.is_number_from_data(source):
            self.numbers.add(target.id)
            self.listed.add(target.id)
        match target, source:
            case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=sources) if len(targets) == len(
                sources
            ):
                for each, origin in zip(targets, sources, strict=True):
                    if (
                        isinstance(each, ast.Name)
                        and isinstance(origin, ast.Name)
                        and self.reading.type(origin).is_tensor
                    ):
                        self.elements.add(each.id)

    def _assign(self, name: str, value: ast.expr) -> None:
        if self.is_mask(value):
            self.masks.add(name)
        if self.is_number_from_data(value):
            self.numbers.add(name)
        if self._is_listed(value):
            self.listed.add(name)
        if self.is_random(value):
            self.random.add(name)
        if self.is_ragged(value):
            self.ragged.add(name)
        is_condition = isinstance(value, ast.BoolOp | ast.Call) and self.is_condition(value)
        if is_condition or (self._is_tensor(value) and not isinstance(value, ast.Name)):
            self.computed.add(name)

    def _is_tensor(self, node: ast.expr) -> bool:
        kind = self.reading.type(node)
        if isinstance(node, ast.BinOp) and kind.kind == "unknown":
            return self._is_tensor(node.left) or self._is_tensor(node.right)
        match node:
            case ast.Attribute(
                attr="values" | "indices",
                value=ast.Call(func=ast.Attribute(attr="max" | "min" | "sort" | "topk", value=inner)),
            ):
                return self._is_tensor(inner)
        is_number = (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in (*TO_HOST, *LENGTHS)
        )
        return kind.is_tensor or (kind.kind == "unknown" and root(node) in self.evident and not is_number)

    def is_condition(self, node: ast.expr) -> bool:
        """`a and x.any()`, `all(...)`: a truth value that asks tensors."""
        match node:
            case ast.BoolOp() | ast.Call(func=ast.Name(id="all" | "any")):
                return self.is_data(node)
        return False

    def is_computed_part(self, node: ast.expr | None) -> bool:
        """`ends[i]`, where `ends` was computed here: a number that only the data tells."""
        return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in self.computed

    def is_given_part(self, node: ast.expr) -> bool:
        """`box[1]` of a parameter that is no setting, or of what a function made of a ragged tensor; and arithmetic on them."""
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=index) if not isinstance(index, ast.Slice):
                return name in self.from_ragged or name in self.parameters
            case ast.BinOp(left=left, right=right):
                return self.is_given_part(left) or self.is_given_part(right)
        return False

    def is_random(self, node: ast.expr) -> bool:
        """A number from a generator on the host, or arithmetic on one."""
        match node:
            case ast.Name(id=name):
                return name in self.random
            case ast.Call(func=ast.Name(id="int" | "round" | "max" | "min" | "float"), args=arguments):
                return any(self.is_random(each) for each in arguments)
            case ast.Call():
                return node in self.random_calls
            case ast.BinOp(left=left, right=right):
                return self.is_random(left) or self.is_random(right)
        return False

    def is_mask(self, node: ast.expr) -> bool:
        """A tensor of truth values: a comparison of tensors, or a name that holds one."""
        match node:
            case ast.Name(id=name):
                return name in self.masks or name.endswith("_mask")
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return self.is_mask(operand)
            case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
                return self.is_mask(left) or self.is_mask(right)
            case ast.Compare():
                return self.reading.type(node).kind in ("tensor", "unknown")
            case ast.Call(func=ast.Attribute(attr="any" | "all"), keywords=[ast.keyword(arg="dim"), *_]):
                return True
            case ast.Call(func=ast.Attribute(attr=name)):
                return name in MASKS and self.reading.type(node).is_tensor
            case ast.Attribute(attr="bool"):
                return False
        return False

    def is_ragged(self, node: ast.expr) -> bool:
        """A tensor whose length depends on data: chosen by mask or index, or the result of such an operator."""
        match node:
            case ast.Name(id=name):
                return name in self.ragged
            case ast.Subscript(value=value, slice=index):
                return (
                    self.is_ragged(value)
                    or self.is_mask(index)
                    or (isinstance(index, ast.Name) and index.id in self.ragged)
                )
            case ast.Call(func=ast.Attribute(attr="where"), args=[_], keywords=[]):
                return True
            case ast.Call(func=ast.Attribute(attr=name, value=value)):
                return _is_choice(name) or self.is_ragged(value)
            case ast.Call(func=ast.Name(id=name)):
                return _is_choice(name) or name in self.choosing
        return False

    def is_number_from_data(self, node: ast.expr) -> bool:
        """`x.item()`, `int(x.max())`, `lengths.tolist()`, and arithmetic on them; `x.shape[0]` is none."""
        match node:
            case ast.Name(id=name):
                return name in self.numbers or name in self.elements
            case ast.Call(func=ast.Attribute(attr=name, value=owner)) if name in TO_HOST:
                return self.reading.type(owner).kind in ("tensor", "unknown")
            case ast.Call(func=ast.Attribute(attr=name, value=owner)) if name in LENGTHS:
                return self.is_ragged(owner)
            case ast.Attribute(attr="shape", value=owner):
                return self.is_ragged(owner)
            case ast.Call(args=[ast.Name(id=first), *_]) if first in self.ragged and self.reading.type(node).kind in (
                "int",
                "unknown",
            ):
                return True  # len(kept), count(kept)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Call() as inner]):
                return self.is_ragged(inner)
            case ast.Call(func=ast.Name(id="int" | "round" | "max" | "min" | "sum"), args=[first, *_]):
                return self.is_number_from_data(first) or (self.reading.type(first).is_tensor and self.is_data(first))
            case ast.BinOp(left=left, right=right):
                return self.is_number_from_data(left) or self.is_number_from_data(right)
            case ast.Subscript(value=value):
                return self.is_number_from_data(value)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return any(self.is_number_from_data(each) for each in elements)
        return False

    def _is_listed(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self.listed

    def is_data(self, node: ast.expr) -> bool:
        """Whether a condition asks a tensor's values. A bare parameter may be a flag, so it has to be computed here."""
        match node:
            case ast.Name(id=name):
                return name in self.computed or name in self.numbers - self.listed
            case ast.BoolOp(values=values):
                return any(self.is_data(each) for each in values)
            case ast.UnaryOp(operand=operand):
                return self.is_data(operand)
            case ast.Compare(left=left, ops=ops, comparators=others):
                if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in ops):
                    return False
                if any(isinstance(each, ast.Constant) and isinstance(each.value, str | bool | None) for each in others):
                    return False
                sides = [each for each in (left, *others) if not self._is_listed(each)]
                is_ordered = any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in ops)
                is_evident = is_ordered and any(
                    isinstance(each, ast.Name) and each.id in self.evident for each in sides
                )
                return is_evident or any(self.is_data(each) or self.is_number_from_data(each) for each in sides)
            case ast.Call(func=ast.Name(id="bool" | "int" | "float" | "any" | "all"), args=[inner]):
                return self.is_data(inner)
            case ast.GeneratorExp(elt=inner):
                return self.is_data(inner) or (isinstance(inner, ast.Compare) and self.reading.type(inner).is_tensor)
            case ast.Call(func=ast.Attribute(attr=name, value=owner)):
                if name in TO_HOST:
                    return self.reading.type(owner).is_tensor
                if name in ("all", "any") and self._is_tensor(owner):
                    return True
                return self.reading.type(node).is_tensor and name not in ("to", "get") and not name.startswith("is_")
            case ast.Call() | ast.BinOp() | ast.Subscript():
                return self.reading.type(node).is_tensor
        return False


def _is_choice(name: str) -> bool:
    """An operator that keeps as many elements as the data says."""
    return ANYWHERE.fullmatch(name) is not None or name in (
        "nonzero",
        "masked_select",
        "argwhere",
        "unique",
        "unique_consecutive",
    )


def _plain_parameters(function: ast.AST) -> set[str]:
    """Parameters that are no settings: without a default and a plain type, and not named like a size."""
    if not isinstance(function, FUNCTIONS):
        return set()
    arguments = function.args.args
    given = arguments[: len(arguments) - len(function.args.defaults)]
    plain = [each.arg for each in given if each.annotation is None or "Tensor" in ast.unparse(each.annotation)]
    return {name for name in plain if name not in ("self", "cls") and not SIZES.search(name)}


def _own_nodes(function: ast.AST) -> list[ast.AST]:
    """The function's nodes without those of functions and classes inside it, in the order of the text."""
    found: list[ast.AST] = []
    waiting = list(reversed(list(ast.iter_child_nodes(function))))
    while waiting:
        node = waiting.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        found.append(node)
        waiting += reversed(list(ast.iter_child_nodes(node)))
    return found
