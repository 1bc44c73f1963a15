"""One file as the tables see it: every call with its full name, every node with the function that holds it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ..apis import Table
from ..apis._lookup import api_of, rule_of
from ..read.framework import Framework
from ..read.infer import Reading
from ..read.uses import Use, Uses
from .evidence import root, tensor_names

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class CallSite:
    name: str  # torch's, the project's or another package's dotted name; ".method" where the receiver is not known
    node: ast.Call
    home: str  # dotted name of the function that it stands in, or of the module

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]


@dataclass(slots=True)
class FileScan:
    path: str
    reading: Reading
    own: str  # the name of the project's folder, which may be the package that its files import
    calls: list[CallSite] = field(default_factory=list)
    apis: list[tuple[str, ast.expr]] = field(default_factory=list)  # every mention of a torch API that counts as a use
    homes: dict[ast.AST, str] = field(default_factory=dict)
    functions: dict[str, ast.AST] = field(default_factory=dict)
    tensors: dict[str, frozenset[str]] = field(
        default_factory=dict
    )  # function -> names that its code shows to be tensors

    @property
    def module(self) -> str:
        return self.reading.module

    @property
    def framework(self) -> Framework:
        return self.reading.symbols.framework

    @property
    def uses(self) -> Uses:
        return self.reading.symbols.framework.uses

    def is_own(self, package: str) -> bool:
        """Whether a top-level package is the project's, even if a part of it is not here or is left out."""
        symbols = self.reading.symbols
        return (
            package == self.own
            or package in symbols.roots
            or any(each.partition(".")[0] == package for each in symbols.excluded)
        )

    def is_tensor(self, node: ast.expr) -> bool:
        """By its type, or by what the function does with the name."""
        kind = self.reading.type(node)
        return kind.is_tensor or (kind.kind == "unknown" and root(node) in self.tensors[self.homes[node]])

    def text(self, node: ast.AST) -> str:
        return " ".join(self.reading.source.text(node).split())


def scan(reading: Reading, path: str, rules: Table, own: str) -> FileScan:
    result = FileScan(path, reading, own)
    homes, parents, owners = result.homes, reading.source.parents, reading.owners
    called: set[ast.AST] = set()
    inner: set[ast.AST] = set()
    grouped: dict[str, list[ast.AST]] = {}  # the nodes of each function
    for node in reading.source.nodes:  # each after its parent, but for comparison signs, which `ast` shares
        parent = parents.get(node)
        home = homes.get(parent, reading.module) if parent is not None else reading.module
        if isinstance(node, FUNCTIONS) and node in owners:
            if home == reading.module or home in reading.symbols.classes:
                home = owners[node]
                result.functions[home] = node
        elif isinstance(node, ast.ClassDef) and home == reading.module:
            home = owners.get(node, home)
        homes[node] = home
        grouped.setdefault(home, []).append(node)
        if isinstance(node, ast.Call):
            called.add(node.func)
        elif isinstance(node, ast.Attribute):
            inner.add(node.value)
    has_numpy = b"import numpy" in reading.source.data
    result.tensors = {home: tensor_names(nodes, has_numpy) for home, nodes in grouped.items()}
    for node in reading.source.nodes:
        if isinstance(node, ast.Call):
            result.calls.append(CallSite(callee(node, reading, rules), node, homes[node]))
        elif isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
            api = _used_api(node, reading, rules, node in called, node in inner) or _without_entry(result, node)
            if api:
                result.apis.append((api, node))
    return result


def _without_entry(scan: FileScan, node: ast.Attribute | ast.Name) -> str:
    """A tensor's method that no entry answers for, of something that the function shows to be a tensor."""
    if not isinstance(node, ast.Attribute) or scan.reading.type(node.value).kind != "unknown":
        return ""
    api = scan.framework.of_tensor(node.attr)
    return api if scan.uses.has(Use.NO_ENTRY, api) and scan.is_tensor(node.value) else ""


def callee(node: ast.Call, reading: Reading, rules: Table) -> str:
    """The dotted name of what is called."""
    api = api_of(node.func, reading, rules).api
    if api:
        return api
    kind = reading.type(node.func)
    if kind.kind in ("ref", "value", "method") and kind.qual and not kind.qual.startswith("."):
        return reading.symbols.origin(kind.qual)
    return f".{node.func.attr}" if isinstance(node.func, ast.Attribute) else ""


def _used_api(node: ast.Attribute | ast.Name, reading: Reading, rules: Table, is_called: bool, is_inner: bool) -> str:
    """The torch API that is used here, or '' for attributes that stay and for the `torch.nn` in `torch.nn.Linear`."""
    api, receiver, _ = api_of(node, reading, rules)
    framework = reading.symbols.framework
    if not framework.has(api):
        return ""
    home, _, name = api.rpartition(".")
    if home in framework.annotations and home not in framework.tensor_classes:  # torch.LongTensor.view
        api = framework.of_tensor(name)
    if receiver is None:
        return "" if is_inner and not rules.is_api(api) else api
    assert isinstance(node, ast.Attribute)
    if rules.attribute(api) is None and (not is_called or reading.type(node).kind != "method"):
        return ""
    if (
        framework.is_of_tensor(api)
        and not framework.uses.has(Use.NO_ENTRY, api)
        and rule_of(api, rules) is None
        and rules.attribute(api) is None
    ):
        return ""
    return (
        "" if reading.symbols.has_attribute(reading.type(receiver).qual, node.attr) else api
    )  # the project's own: `self.conv1(x)`


def line_of(node: ast.AST) -> int:
    return getattr(node, "lineno", 1)


def argument(call: ast.Call, position: int, *names: str) -> ast.expr | None:
    """An argument by its keyword, or by its place."""
    for keyword in call.keywords:
        if keyword.arg in names:
            return keyword.value
    plain = call.args[: position + 1]
    return (
        plain[position]
        if 0 <= position < len(plain) and not any(isinstance(each, ast.Starred) for each in plain)
        else None
    )
