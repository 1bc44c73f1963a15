"""What the converted files of a project use of the helpers: every call with its arguments, and every attribute that is named."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ...read.source import NEGATIVE_INFINITIES, is_negative_infinity
from ...read.walk import by_kind
from .extended_helpers import bases_in
from .fold_constants import NOTHING, constant

UNKNOWN = "?"
STATE = {"state_dict", "load_state_dict"}
GROUPS = ("state", "defaults")
OPENERS = {"open", "BytesIO", "TemporaryFile", "NamedTemporaryFile", "SpooledTemporaryFile", "fdopen"}
FILES = {"f", "fp", "fh", "fd", "file", "fileobj", "buffer", "buf", "stream", "handle", "bio", "out", "output", "io"}
SHOWN = {"print", "repr", "str", "format", "info", "debug", "warning", "log", "write"}
BY_NAME = {
    "getattr",
    "setattr",
    "hasattr",
    "attrgetter",
    "methodcaller",
}  # functions that are given an attribute's name
SELECTING = {"masked_select", "boolean_mask", "nonzero", "argwhere"}
ASKED = (
    ast.Attribute,
    ast.Constant,
    ast.Call,
    ast.keyword,
    ast.Import,
    ast.ImportFrom,
    ast.ClassDef,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Assign,
    ast.AugAssign,
    ast.BinOp,
    ast.UnaryOp,
    ast.Dict,
    ast.Subscript,
    ast.arguments,
    ast.withitem,
    ast.FormattedValue,
)


@dataclass(frozen=True, slots=True)
class CallShape:
    """What one call gives: the text of literals, UNKNOWN for anything else."""

    positions: tuple[str, ...]
    keywords: Mapping[str, str]
    is_open: bool  # *args or **kwargs
    owner: str  # the helper in which it stands; '' for the project
    first: str = ""  # the text of the first argument


@dataclass(slots=True)
class ProjectUse:
    """What the converted files use of the helpers, and every attribute and short string that they mention."""

    calls: dict[str, list[CallShape]] = field(default_factory=dict)
    values: set[str] = field(default_factory=set)
    passed_on: set[str] = field(default_factory=set)  # values that are more than the only base of a class
    heirs: dict[str, str] = field(default_factory=dict)  # by class of the project's, the helper that it is made as
    mentioned: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    unset: set[str] = field(default_factory=set)  # names that are given None somewhere
    given: set[str] = field(default_factory=set)  # methods that are called with arguments, or passed on
    added: set[str] = field(
        default_factory=set
    )  # the last words of what is added: `train_set` of `self.train_set + other`
    is_subscripted: bool = False  # a helper is given type arguments
    saves_state_only: bool = True  # every save() is given what a state_dict() returned
    loads_objects: bool = False  # what load() returns is asked for a part by name: checkpoint["epoch"]
    saved_states: set[str] = field(default_factory=set)  # whose own state_dict() is given to save(), as text
    assigned: set[str] = field(default_factory=set)  # attributes that are set: `p.requires_grad = False`, setattr(p, …)
    state_owners: set[str] = field(default_factory=set)  # whose state_dict() or load_state_dict() is called, as text
    defined: set[str] = field(default_factory=set)  # functions and methods of the project's
    bases: set[str] = field(default_factory=set)  # what classes of the project's derive from
    records: set[str] = field(default_factory=set)  # classes without bases that aren't called: they may be batches
    shown: set[str] = field(default_factory=set)  # the last words of what is printed, formatted or logged
    takes_files: bool = False  # save() or load() may be given an open file
    looks_into_state: bool = False  # what load() returns is more than handed to a network
    group_owners: set[str] = field(default_factory=set)  # whose .state or .defaults is asked for, as text
    keys: set[str] = field(default_factory=set)  # strings in brackets: "lr" of group["lr"]
    networks: set[str] = field(default_factory=set)  # those of them that are known to be networks
    writes_negative_infinity: bool = False
    selects: bool = False  # parts of tensors by a mask, of which nothing may be left
    is_library: bool = False
    has_exact_optimizers: bool = False  # MindSpore's own optimizers and schedules stand where they compute the same
    words: frozenset[str] | None = None  # the project's texts, where helpers are looked up by name

    def add(self, other: ProjectUse) -> None:
        """What another file of the project uses."""
        for name, shapes in other.calls.items():
            self.calls.setdefault(name, []).extend(shapes)
        for name in NAME_SETS:
            getattr(self, name).update(getattr(other, name))
        self.heirs |= other.heirs
        self.is_subscripted |= other.is_subscripted
        self.takes_files |= other.takes_files
        self.writes_negative_infinity |= other.writes_negative_infinity
        self.selects |= other.selects
        self.looks_into_state |= other.looks_into_state
        self.loads_objects |= other.loads_objects
        self.saves_state_only &= other.saves_state_only

    def called_otherwise(self) -> set[str]:
        """Helpers that may be called with arguments that no call shows."""
        return self.passed_on | {helper for name, helper in self.heirs.items() if name in self.mentioned}


NAME_SETS = tuple(each.name for each in fields(ProjectUse) if each.default_factory is set)


def use_of(files: Iterable[str | ProjectUse], module: str, is_library: bool) -> ProjectUse:
    """Of files that are given as text, or as what they are known to use. `module` is what the helpers are called."""
    use = ProjectUse(is_library=is_library)
    for file in files:
        use.add(_use_of_text(file, module) if isinstance(file, str) else file)
    return use


def _use_of_text(text: str, module: str) -> ProjectUse:
    """A text that can't be parsed mentions all of its words."""
    try:
        return use_of_tree(ast.parse(text), module)
    except (SyntaxError, ValueError, RecursionError):
        words = set(re.findall(r"\w+", text))
        use = ProjectUse(is_subscripted=True, takes_files=True, looks_into_state=True, saves_state_only=False)
        use.loads_objects = True
        use.state_owners = words & STATE
        use.writes_negative_infinity = use.selects = True
        for each in (
            use.mentioned,
            use.stored,
            use.values,
            use.passed_on,
            use.unset,
            use.given,
            use.added,
            use.assigned,
        ):
            each |= words
        for each in (use.keys, use.defined, use.shown, use.bases, use.records):
            each |= words
        return use


def use_of_tree(tree: ast.Module, module: str) -> ProjectUse:
    """What one file uses."""
    use = ProjectUse()
    found = _by_kind(tree)
    bound = _bound_to(found, module)
    helpers = {each for each in found[ast.Attribute] if type(each.value) is ast.Name and each.value.id in bound}
    _add_names(found, helpers, use)
    values = _add_project_calls(found, bound, helpers, use)
    _add_heirs(tree, found, helpers, values, use)
    _add_values(found, use)
    return use


Nodes = dict[type, list[Any]]


def _by_kind(tree: ast.Module) -> Nodes:
    """The nodes that are asked for, each after its parent: a project's files are walked once, not once for each question."""
    found = by_kind(tree)
    return {kind: found.get(kind, []) for kind in ASKED}


def _bound_to(nodes: Nodes, module: str) -> set[str]:
    found = {module}
    for node in (*nodes[ast.Import], *nodes[ast.ImportFrom]):
        found |= {alias.asname for alias in node.names if alias.asname and alias.name.endswith(module)}
    return found


def _add_project_calls(
    nodes: Nodes, bound: set[str], helpers: set[ast.Attribute], use: ProjectUse
) -> set[ast.Attribute]:
    """Returns where helpers are more than called."""
    called = set()
    direct: set[ast.expr] = set()
    loads: set[ast.expr] = set()
    opened: set[str] | None = None
    use.is_subscripted |= any(node.value in helpers for node in nodes[ast.Subscript])
    for node in nodes[ast.Call]:
        if node.func in helpers:
            helper = node.func.attr
            called.add(node.func)
            use.calls.setdefault(helper, []).append(shape_of(node, ""))
            if helper == "save" and node.args and _is_own_state(node.args[0]):
                use.saved_states.add(ast.unparse(node.args[0].func.value))
            elif helper == "save" and not _is_state(node):
                use.saves_state_only = False
            if helper in ("save", "load"):
                opened = _opened(nodes) if opened is None else opened
                place = 1 if helper == "save" else 0
                given = [*node.args[place : place + 1], *(each.value for each in node.keywords if each.arg == "f")]
                use.takes_files |= not given or any(looks_like_file(each, opened) for each in given)
            if helper == "load":
                loads.add(node)
            elif helper == "load_state_dict":
                direct |= {each for each in node.args[1:2] if len(node.args) == 2 and not node.keywords}
    use.loads_objects |= bool(loads - direct) and _asks_for_parts(nodes, loads)
    use.looks_into_state |= bool(loads - direct) or not all(each in loads or _is_own_state(each) for each in direct)
    use.looks_into_state |= any(
        len(shape.positions) != 2 or bool(shape.keywords) for shape in use.calls.get("load_state_dict", ())
    )
    for node in nodes[ast.ImportFrom]:
        if (node.module or "").endswith(tuple(bound)):
            use.values |= {alias.name for alias in node.names}
            use.passed_on |= {alias.name for alias in node.names}
    use.values |= {node.attr for node in helpers - called}
    return helpers - called


def _add_heirs(
    tree: ast.Module, nodes: Nodes, helpers: set[ast.Attribute], values: set[ast.Attribute], use: ProjectUse
) -> None:
    """Calls by way of the project's own classes."""
    members = {node.value for node in nodes[ast.Attribute] if not node.attr.startswith("__")}
    known = set()
    for name, base, calls in bases_in(tree, nodes, helpers) if values else ():
        known.add(base)
        use.calls.setdefault(base.attr, []).extend(shape_of(each, "") for each in calls)
        if name:
            use.heirs[name] = base.attr
    use.passed_on |= {node.attr for node in values - members - known}


def _asks_for_parts(nodes: Nodes, loads: set[ast.expr]) -> bool:
    """Whether a part of what load() returns is asked for by a name that no parameter has: `load(path)["epoch"]`."""
    names = {_last_word(each) for node in nodes[ast.Assign] if node.value in loads for each in node.targets} - {""}
    asked = [(node.value, node.slice) for node in nodes[ast.Subscript]]
    asked += [
        (node.func.value, node.args[0])
        for node in nodes[ast.Call]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args
    ]
    return any(
        isinstance(key, ast.Constant) and isinstance(key.value, str) and "." not in key.value
        for owner, key in asked
        if owner in loads or _last_word(owner) in names
    )


def _opened(nodes: Nodes) -> set[str]:
    """Names of open files."""
    bound = [(each, node.value) for node in nodes[ast.Assign] for each in node.targets]
    bound += [(node.optional_vars, node.context_expr) for node in nodes[ast.withitem] if node.optional_vars]
    return {_last_word(name) for name, value in bound if _last_word(value) in OPENERS}


def looks_like_file(node: ast.expr, opened: set[str]) -> bool:
    """Whether save() or load() may be given an open file here. A wrong guess is a TypeError."""
    return _last_word(node) in OPENERS | FILES | opened


def _is_own_state(node: ast.expr) -> bool:
    """network.state_dict(), under MindSpore's names."""
    match node:
        case ast.Call(func=ast.Attribute(attr="state_dict"), args=[], keywords=[]):
            return True
    return False


def _is_state(call: ast.Call) -> bool:
    """save(ms_compat.state_dict(network), …): nothing but tensors by name. An optimizer's own state_dict() holds more."""
    match call.args[0] if call.args else None:
        case ast.Call(func=ast.Attribute(attr="state_dict"), args=[_], keywords=[]):
            return True
    return False


def shape_of(call: ast.Call, owner: str) -> CallShape:
    return CallShape(
        tuple(literal_of(each) for each in call.args),
        {each.arg: literal_of(each.value) for each in call.keywords if each.arg},
        any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords),
        owner,
        _text_of(call.args[0]) if call.args and not owner else "",
    )


def _text_of(node: ast.expr) -> str:
    """As `ast.unparse` writes it, which takes long for what most calls are given."""
    return node.id if type(node) is ast.Name else ast.unparse(node)


def literal_of(node: ast.AST | None) -> str:
    if type(node) is ast.Constant and type(node.value) in (int, bool, type(None)):
        return repr(node.value)
    return UNKNOWN if node is None or constant(node) is NOTHING else ast.unparse(node).replace("'", '"')


def _add_names(nodes: Nodes, helpers: set[ast.Attribute], use: ProjectUse) -> None:
    # ms_compat.state_dict is a function, and nobody's method
    members: dict[type[ast.expr_context], dict[str, list[ast.Attribute]]] = {ast.Load: {}, ast.Store: {}, ast.Del: {}}
    for each in nodes[ast.Attribute]:
        if each not in helpers and not _is_own_grad(each):
            members[type(each.ctx)].setdefault(each.attr, []).append(each)
    use.mentioned.update(members[ast.Load])
    use.stored.update(members[ast.Store], members[ast.Del])
    use.assigned.update(members[ast.Store])
    for by_name in members.values():
        use.state_owners |= {ast.unparse(each.value) for name in STATE for each in by_name.get(name, ())}
        use.group_owners |= {ast.unparse(each.value) for name in GROUPS for each in by_name.get(name, ())}
    keys = [constant(node.slice) for node in nodes[ast.Subscript]]
    use.keys |= {key for key in keys if isinstance(key, str)}
    called = [(_last_word(node.func), node) for node in nodes[ast.Call]]
    for word, node in called:
        if word in BY_NAME and isinstance(node.func, ast.Name | ast.Attribute):
            named = {each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)}
            use.assigned |= named if word == "setattr" else set()
            use.state_owners |= named & STATE
    texts = {node.value for node in nodes[ast.Constant] if isinstance(node.value, str)}
    words = {text for text in texts if text.isidentifier()}
    use.mentioned |= words
    use.stored |= words | {node.arg for node in nodes[ast.keyword] if node.arg}
    given = (node for node in nodes[ast.keyword] if node.arg == "requires_grad")
    use.assigned |= {"requires_grad" for node in given if constant(node.value) is not True}
    for node in (*nodes[ast.FunctionDef], *nodes[ast.AsyncFunctionDef]):
        use.mentioned.add(node.name)  # a class of the project's may override it
        use.defined.add(node.name)
    use.shown |= {_last_word(node.value) for node in nodes[ast.FormattedValue]}
    use.shown |= {_last_word(each) for word, node in called if word in SHOWN for each in node.args}
    use.mentioned |= {alias.name for node in nodes[ast.ImportFrom] for alias in node.names}
    use.bases |= {_last_word(base) for node in nodes[ast.ClassDef] for base in node.bases}
    use.records |= {node.name for node in nodes[ast.ClassDef] if _is_record(node)}
    _add_unset(nodes, use)
    _add_methods(nodes, use)


def _is_record(node: ast.ClassDef) -> bool:
    """A class without bases that is neither called, nor a dataset's, which has lost its own."""
    methods = {each.name: each.args for each in node.body if isinstance(each, ast.FunctionDef)}
    has_base = not {_last_word(base) for base in node.bases} <= {"object", "ABC", "Generic", "Protocol"}
    given = [each.arg for each in methods["__getitem__"].args[1:]] if "__getitem__" in methods else []
    is_numbered = "__len__" in methods and any(re.search(r"ind|idx|\A[ijkn]\Z|item|num", name) for name in given)
    return not has_base and not is_numbered and "__call__" not in methods


def _is_own_grad(node: ast.Attribute) -> bool:
    """ms.grad(…), which differentiates; a parameter's .grad holds what came of it."""
    return node.attr == "grad" and type(node.value) is ast.Name and node.value.id in ("ms", "mindspore")


def _add_values(nodes: Nodes, use: ProjectUse) -> None:
    """What tensors may hold that MindSpore's own losses can't take."""
    texts = (node.value for node in nodes[ast.Constant] if type(node.value) is str)
    use.writes_negative_infinity = (
        any(text.strip().lower() in NEGATIVE_INFINITIES for text in texts)
        or any(node.attr == "NINF" for node in nodes[ast.Attribute])
        or any(is_negative_infinity(node) for kind in (ast.UnaryOp, ast.BinOp) for node in nodes[kind])
    )
    use.selects = bool(SELECTING & use.mentioned) or any(looks_like_mask(each.slice) for each in nodes[ast.Subscript])


def looks_like_mask(index: ast.expr) -> bool:
    """Whether an index may be a mask. Where it is one and looks like none, MindSpore refuses an empty batch."""
    match index:
        case ast.Compare() | ast.UnaryOp(op=ast.Invert()) | ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
            return True
    return any(word in _last_word(index).lower() for word in ("mask", "keep", "valid", "active", "select"))


def _add_methods(nodes: Nodes, use: ProjectUse) -> None:
    """How methods are called, and what is added to what."""
    calls = [node for node in nodes[ast.Call] if isinstance(node.func, ast.Attribute)]
    use.given |= {node.func.attr for node in calls if node.args or node.keywords}
    called = {id(node.func) for node in calls}
    use.given |= {node.attr for node in nodes[ast.Attribute] if id(node) not in called}
    sums = [(node.left, node.right) for node in nodes[ast.BinOp] if isinstance(node.op, ast.Add)]
    sums += [(node.target, node.value) for node in nodes[ast.AugAssign] if isinstance(node.op, ast.Add)]
    use.added |= {_last_word(each) for pair in sums for each in pair if all(map(_last_word, pair))}
    use.added |= {_last_word(part) for node in nodes[ast.Call] if _is_sum(node) for part in ast.walk(node)}


def _is_sum(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in ("sum", "reduce")


def _last_word(node: ast.AST) -> str:
    while True:
        kind = type(node)
        if kind is ast.Name:
            return node.id  # type: ignore[attr-defined, no-any-return]
        if kind is ast.Attribute:
            return node.attr  # type: ignore[attr-defined, no-any-return]
        if kind is not ast.Call and kind is not ast.Subscript:
            return ""
        node = node.func if kind is ast.Call else node.value  # type: ignore[attr-defined]


def _add_unset(nodes: Nodes, use: ProjectUse) -> None:
    """Variables, arguments and entries that are None somewhere."""
    for node in nodes[ast.keyword]:
        if node.arg and constant(node.value) is None:
            use.unset.add(node.arg)
    for node in nodes[ast.Assign]:
        if constant(node.value) is None:
            use.unset |= {_last_word(each) for each in node.targets}
    for node in nodes[ast.arguments]:
        named = [*node.posonlyargs, *node.args]
        pairs = [
            *zip(reversed(named), reversed(node.defaults), strict=False),
            *zip(node.kwonlyargs, node.kw_defaults, strict=True),
        ]
        use.unset |= {each.arg for each, default in pairs if default is not None and constant(default) is None}
    for node in nodes[ast.Dict]:
        use.unset |= {
            str(constant(key)) for key, value in zip(node.keys, node.values, strict=True) if constant(value) is None
        }
