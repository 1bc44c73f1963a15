"""The module tree as written, entry points and datasets."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from ..artifacts import ModuleClass, Part
from ..read.framework import Role
from ..read.uses import Use
from .scan import FileScan, line_of

ROLES = (
    ("head", {"head", "heads", "classifier", "predictor"}),
    ("neck", {"neck", "fpn", "pan", "pafpn", "bifpn", "pyramid"}),
    ("backbone", {"backbone", "trunk", "darknet", "cspdarknet", "body"}),
)
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
NETWORK = re.compile(r"(Model|Module|Net|Network|Backbone|Encoder|Decoder|Layer|Block|Head)$")
WHOLE = ("keras.Model", "keras.Sequential")  # what a function returns that makes a network of layers
DATA = (Role.DATASET, Role.LOADER, Role.DATA)


def module_classes(scan: FileScan) -> list[ModuleClass]:
    symbols = scan.reading.symbols
    return [
        ModuleClass(
            node.name, scan.path, node.lineno, symbols.classes[qual].bases[0] if symbols.classes[qual].bases else ""
        )
        for node, qual in scan.reading.owners.items()
        if isinstance(node, ast.ClassDef) and symbols.is_module(qual)
    ]


def parts(scan: FileScan) -> list[Part]:
    """Networks with their children, datasets and entry points of one file."""
    symbols = scan.reading.symbols
    found = []
    for node, qual in scan.reading.owners.items():
        if not isinstance(node, ast.ClassDef):
            continue
        if symbols.is_module(qual) or is_built_on_network(node, qual, scan):
            found.append(Part("network", node.name, scan.path, node.lineno, role(node.name), _children(node, scan)))
        elif symbols.role(qual) in DATA:
            found.append(Part("dataset", node.name, scan.path, node.lineno))
    found += _made_by_functions(scan)
    ready = [call for call in scan.calls if scan.uses.has(Use.READY_DATASET, call.name) and call.last[:1].isupper()]
    found += {
        call.last: Part("dataset", call.last, scan.path, line_of(call.node)) for call in reversed(ready)
    }.values()  # the first of each
    entry = _entry_line(scan)
    if not entry and scan.path.endswith("__main__.py"):
        entry = next((node.lineno for node in scan.reading.source.tree.body if isinstance(node, ast.FunctionDef)), 1)
    return [*found, Part("entry point", scan.path, scan.path, entry)] if entry else found


def _made_by_functions(scan: FileScan) -> list[Part]:
    """Functions that put a network together and return it, as Keras' functional style has it."""
    symbols, found = scan.reading.symbols, []
    for node in scan.functions.values():
        if not isinstance(node, ast.FunctionDef) or scan.framework.lists_of_networks:
            continue  # where networks are classes, a function that returns one is no part of its own
        kinds = [
            scan.reading.type(each.value) for each in ast.walk(node) if isinstance(each, ast.Return) and each.value
        ]
        is_whole = any(each.kind == "instance" and symbols.origin(each.qual) in WHOLE for each in kinds)
        if is_whole:
            made = [_layer(each, scan) for each in ast.walk(node) if isinstance(each, ast.Call)]
            layers = tuple(dict.fromkeys(each for each in made if each and each not in ("Model", "Sequential")))
            found.append(Part("network", node.name, scan.path, node.lineno, role(node.name), layers))
    return found


def is_built_on_network(node: ast.ClassDef, qual: str, scan: FileScan) -> bool:
    """A class that holds layers or parameters and derives from one of another package that is named like a network, or runs `forward`."""
    symbols = scan.reading.symbols
    bases = [base for base in symbols.bases(qual)[1:] if base not in symbols.classes and not scan.framework.has(base)]
    if not bases:
        return False
    has_forward = any(isinstance(each, ast.FunctionDef) and each.name == "forward" for each in node.body)
    is_named = any(NETWORK.search(base.rpartition(".")[2]) for base in bases)
    return (is_named or has_forward) and (bool(_children(node, scan)) or "nn.Parameter(" in scan.text(node))


def held(scan: FileScan) -> set[str]:
    """Networks that others are made of: built or named inside another class, or handed over as an argument."""
    symbols, parents, owners = scan.reading.symbols, scan.reading.source.parents, scan.reading.owners
    names = set()
    for node in scan.reading.source.nodes:
        if not isinstance(node, ast.Name | ast.Attribute) or scan.reading.type(node).kind not in ("ref", "value"):
            continue
        qual = symbols.origin(scan.reading.type(node).qual)
        if qual in symbols.classes and symbols.is_module(qual):
            parent: ast.AST | None = parents.get(node)
            is_argument = isinstance(parent, ast.keyword) or (isinstance(parent, ast.Call) and node in parent.args)
            if is_argument and not (isinstance(parent, ast.Call) and scan.text(parent.func) == "super"):
                names.add(qual.rpartition(".")[2])
            while parent is not None and not isinstance(parent, ast.ClassDef):
                parent = parents.get(parent)
            is_network = isinstance(parent, ast.ClassDef) and (
                symbols.is_module(owners.get(parent, "")) or is_built_on_network(parent, owners.get(parent, ""), scan)
            )
            if parent is not None and is_network and owners.get(parent) != qual:
                names.add(qual.rpartition(".")[2])
    for call in scan.calls:
        if call.name in symbols.classes and symbols.is_module(call.name):
            kinds = [
                scan.reading.type(each)
                for each in (*call.node.args, *(keyword.value for keyword in call.node.keywords))
            ]
            names |= {
                kind.qual.rpartition(".")[2]
                for kind in kinds
                if kind.kind == "instance" and symbols.is_module(kind.qual)
            }
    return names


def settle(found: list[Part], names: set[str]) -> list[Part]:
    """A network that another one holds is a block of it."""
    return [replace(part, kind="block") if part.kind == "network" and part.name in names else part for part in found]


def role(name: str) -> str:
    """backbone, neck or head, if a word of the name says so; `YOLOPAFPN` is one word and still a pyramid."""
    words = {word.lower() for word in WORDS.findall(name)}
    words |= {"fpn" for word in words if word.endswith("fpn")}
    return next((kind for kind, known in ROLES if words & known), "")


def _children(node: ast.ClassDef, scan: FileScan) -> tuple[str, ...]:
    """`self.name = Layer(...)` in the order in which it is written."""
    children: dict[str, str] = {}
    for method in node.body:
        if not isinstance(method, ast.FunctionDef):
            continue
        for statement in ast.walk(method):
            match statement:
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value):
                    kind = _layer(value, scan)
                    part = role(kind) or role(name)  # what it is counts, then what it is held as
                    if kind:
                        children.setdefault(name, f"{kind} [{part}]" if part else kind)
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="self"), attr="add_module"),
                    args=[ast.Constant(value=str(name)), value],
                ):
                    children.setdefault(name, _layer(value, scan) or scan.text(value))
    return tuple(f"{name}: {kind}" for name, kind in children.items())


def _layer(value: ast.expr, scan: FileScan) -> str:
    """The class of the layer that an expression builds, or ''. A helper function's name counts if it returns a layer."""
    kind = scan.reading.type(value)
    if kind.kind != "instance" or not scan.reading.symbols.is_module(kind.qual):
        return ""
    name = kind.qual.rpartition(".")[2]
    if name in ("Sequential", "ModuleList", "ModuleDict") and isinstance(value, ast.Call):
        inner = [_layer(each, scan) for each in value.args]
        return f"{name}({', '.join(each for each in inner if each)})" if any(inner) else name
    return name


def _entry_line(scan: FileScan) -> int:
    """Where the file starts to run as a script: its main guard, or a training loop outside of functions."""
    for node in scan.reading.source.tree.body:
        match node:
            case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
                return node.lineno
    return next(
        (line_of(call.node) for call in scan.calls if call.home == scan.module and _is_step(call.name, scan)), 0
    )


def _is_step(name: str, scan: FileScan) -> bool:
    is_fitted = name.rpartition(".")[2] in ("fit", "train_on_batch", "apply_gradients") and scan.framework.leading == 0
    return scan.uses.has(Use.BACKWARD, name) or scan.uses.has(Use.STEP, name) or is_fitted
