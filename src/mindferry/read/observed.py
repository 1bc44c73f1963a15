"""What a watched run showed, as types for the reader: they decide where the text alone does not."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..observation import Observation, SeenType, digest_of
from .types import EMPTY, MODULE, NDARRAY, NONE, SIZE, TENSOR, UNKNOWN, Type, instance, join, ref

Span = tuple[int, int, int, int]  # line, column, end line, end column
PLAIN = {"tensor": TENSOR, "ndarray": NDARRAY, "size": SIZE, "none": NONE}


@dataclass(frozen=True, slots=True)
class ObservedTypes:
    """By file and place, and by class and attribute. A place where runs disagree is not in here."""

    sites: dict[str, dict[Span, Type]] = field(default_factory=dict)
    attributes: dict[str, dict[str, Type]] = field(default_factory=dict)

    def of_file(self, path: str, lines: list[int] | None = None) -> dict[Span, Type]:
        """The places of a file; `lines` says which line each of its lines was, where statements were put on lines of their own."""
        sites = self.sites.get(path, {})
        if not lines or not sites:
            return sites
        now: dict[int, list[int]] = {}
        for number, before in enumerate(lines, 1):
            now.setdefault(before, []).append(number)
        moved = {}
        for (line, column, end, end_column), kind in sites.items():
            if len(now.get(line, ())) == 1 and len(now.get(end, ())) == 1:  # a line that was cut has other columns
                moved[now[line][0], column, now[end][0], end_column] = kind
        return moved

    def attribute(self, classes: Iterable[str], name: str) -> Type:
        for qual in classes:
            found = self.attributes.get(qual, {}).get(name)
            if found is not None:
                return found
        return UNKNOWN


def observed_types(
    observation: Observation, files: dict[str, bytes], classes: Iterable[str]
) -> tuple[ObservedTypes, tuple[str, ...]]:
    """(what was seen in the files that are as they were, the files that are not).

    `files` holds the project's text by path, `classes` the dotted names of the classes that it defines.
    """
    known = _Classes(classes)
    changed = tuple(
        file.path for file in observation.files if file.path in files and digest_of(files[file.path]) != file.digest
    )
    sites = {}
    for file in observation.files:
        if file.path not in changed and file.path in files:
            kinds = {
                (site.line, site.column, site.end_line, site.end_column): known.settle(site.types)
                for site in file.sites
            }
            sites[file.path] = {span: kind for span, kind in kinds.items() if kind.kind != "unknown"}
    attributes = {}
    for each in observation.classes if not changed else ():
        held = {name: known.settle(kinds) for name, kinds in each.attributes.items()}
        attributes[known.qual(each.name)] = {name: kind for name, kind in held.items() if kind.kind != "unknown"}
    return ObservedTypes(sites, attributes), changed


class _Classes:
    """The project's classes under the names that the reader has for them; a script's own are `__main__`'s when it runs."""

    def __init__(self, quals: Iterable[str]) -> None:
        self.quals = frozenset(quals)
        self.by_name: dict[str, list[str]] = {}
        for qual in self.quals:
            self.by_name.setdefault(qual.rpartition(".")[2], []).append(qual)

    def qual(self, name: str) -> str:
        if name in self.quals:
            return name
        module, _, last = name.rpartition(".")
        near = [each for each in self.by_name.get(last, []) if module == "__main__" or each.endswith(f".{name}")]
        return near[0] if len(near) == 1 else name

    def settle(self, kinds: Iterable[SeenType]) -> Type:
        """What all of them are; unknown where they disagree."""
        found = [self.type(kind) for kind in kinds]
        real = [kind for kind in dict.fromkeys(found) if kind.kind != "none"]
        if len(real) > 1 and all(kind.kind == "instance" for kind in real):
            return MODULE if all(_is_network(kind) for kind in kinds if kind.kind != "none") else UNKNOWN
        return UNKNOWN if UNKNOWN in real else join(*found)

    def type(self, seen: SeenType) -> Type:
        if seen.kind in PLAIN:
            return PLAIN[seen.kind]
        if seen.kind == "instance":
            qual = self.qual(seen.name)
            if any(base.endswith(".FunctionCtx") for base in seen.bases):
                return UNKNOWN  # the ctx of an autograd function: what it holds is the project's own
            is_told = qual in self.quals or qual.startswith(("torch.", "torchvision."))
            return instance(qual) if is_told or not _is_network(seen) else MODULE
        if seen.kind == "ref":
            qual = self.qual(seen.name)
            is_told = qual in self.quals or (qual.startswith("torch.") and "._" not in qual)
            return ref(qual) if is_told else UNKNOWN
        if seen.kind in ("list", "set", "dict"):
            if seen.name == "empty":
                return EMPTY if seen.kind == "list" else Type(seen.kind)
            element = self.settle(seen.items)
            return Type(seen.kind, "", () if element == UNKNOWN else (element,))
        if seen.kind == "tuple":
            return Type("tuple", "", tuple(self.type(each) for each in seen.items))
        return Type(seen.kind) if seen.kind in ("int", "float", "bool", "str") else UNKNOWN


def _is_network(seen: SeenType) -> bool:
    return "torch.nn.Module" in (seen.name, *seen.bases)


def span_of(node: ast.AST) -> Span:
    return (
        getattr(node, "lineno", 0),
        getattr(node, "col_offset", 0),
        getattr(node, "end_lineno", 0),
        getattr(node, "end_col_offset", 0),
    )
