"""What a converted project's source says about its layers: `self.norm = nn.LayerNorm(...)`. Read, never imported."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..foreign import tree_of
from .layers import INSIDE, LAYERS, Layer, layer_of, short

CONTAINERS = ("nn.SequentialCell", "nn.CellList")


@dataclass(slots=True)
class Sources:
    """Attribute -> the classes that the project assigns to it, and class -> its bases."""

    attributes: dict[str, set[str]] = field(default_factory=dict)
    bases: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def layer_at(self, owner: str) -> Layer | None:
        """The layer at a dotted path, where every assignment in the project agrees on it."""
        key = _key(owner)
        found = self.attributes.get(key) or self.attributes.get(f"{key.rpartition('.')[0]}.*", set())
        if len(found) == 1 and (classes := self._classes(next(iter(found)))):
            return layer_of(classes)[0]
        parent, _, child = owner.rpartition(".")
        above = self.attributes.get(_key(parent), set()) if parent else set()
        inside = INSIDE.get(next(iter(above)), {}) if len(above) == 1 else {}
        return LAYERS.get(inside[child], Layer()) if child in inside else None

    def _classes(self, name: str) -> tuple[str, ...]:
        """A class and its bases, nearest first; nothing where one of them is not known."""
        chain = [name]
        while not chain[-1].startswith("nn."):
            bases = self.bases.get(chain[-1], ())
            if len(bases) != 1 or bases[0] in chain:
                return ()
            chain.append(bases[0])
        return tuple(chain)


def read_sources(files: Iterable[Path]) -> Sources | None:
    """None where a file can't be read: then nothing is certain."""
    sources = Sources()
    for file in files:
        tree = tree_of(file)
        if tree is None:
            return None
        _File(tree, sources).read()
    return sources


class _File:
    def __init__(self, tree: ast.Module, sources: Sources) -> None:
        self.tree, self.sources = tree, sources
        self.imports = {"nn": "mindspore.nn"}

    def read(self) -> None:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                self.imports.update({alias.asname: alias.name for alias in node.names if alias.asname})
            elif isinstance(node, ast.ImportFrom):
                module = node.module or ""
                self.imports.update({a.asname or a.name: f"{module}.{a.name}".lstrip(".") for a in node.names})
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef):
                bases = tuple(self._named(base) for base in node.bases)
                # Two classes of one name in a project: which is meant is not known.
                self.sources.bases[node.name] = bases if self.sources.bases.get(node.name, bases) == bases else ()
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    self._assigned(target, node.value)

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Attribute):
            self._note(target.attr, value)
        elif isinstance(target, ast.Tuple):
            values = value.elts if isinstance(value, ast.Tuple) else []
            for number, part in enumerate(target.elts):
                self._assigned(part, values[number] if len(values) == len(target.elts) else value)

    def _note(self, key: str, value: ast.expr) -> None:
        """A call of a class names it; a call of anything else is a name without bases, which tells nothing."""
        name = self._named(value.func) if isinstance(value, ast.Call) else "?"
        self.sources.attributes.setdefault(key, set()).add(name)
        if isinstance(value, ast.Call) and name in CONTAINERS:
            self._note_members(key, value.args)

    def _note_members(self, key: str, members: list[ast.expr]) -> None:
        if len(members) == 1 and isinstance(members[0], ast.List | ast.Tuple):
            members = members[0].elts
        elif len(members) == 1 and isinstance(members[0], ast.ListComp):
            self._note(f"{key}.*", members[0].elt)
            return
        if not any(isinstance(member, ast.Starred) for member in members):
            for number, member in enumerate(members):
                self._note(f"{key}.{number}", member)

    def _named(self, node: ast.expr) -> str:
        """`nn.LayerNorm` for MindSpore's, the bare name for a class of the project, `?` for anything computed."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return "?"
        full = ".".join([self.imports.get(node.id, node.id), *reversed(parts)])
        return short(full) if full.startswith("mindspore.") else full.rpartition(".")[2]


def _key(owner: str) -> str:
    """`blocks.3.norm` -> `norm`; `net.0` -> `net.0`: an attribute, and the numbers behind it."""
    parts = owner.split(".")
    start = len(parts) - 1
    while start > 0 and parts[start].isdigit():
        start -= 1
    return ".".join(parts[start:])
