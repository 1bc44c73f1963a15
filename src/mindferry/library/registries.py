"""Registries: `@register_model def resnet18(...)`, asked for by a text, and tables of names, as behind `AutoModel`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .sources import Module, Sources

_REGISTERED = re.compile(r"^@[\w.]*register\w*.*\n(?:@.*\n)*(?:def|class) (\w+)", re.MULTILINE)


class Registries:
    """Which module registers a name, read from the packages' texts."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._found: dict[str, str] | None = None  # name -> module

    def home(self, name: str) -> str:
        """The module that registers it, or ''."""
        if self._found is None:
            self._found = self._read()
        return self._found.get(name, "")

    def _read(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for package in self._sources.packages.values():
            if package.root.is_file():
                continue
            for path in sorted(package.root.rglob("*.py")):
                text = self._sources.text(path) if path.stat().st_size < LARGEST else ""
                if "register" in text:
                    inner = path.relative_to(package.root).with_suffix("").parts
                    module = ".".join([package.name, *(part for part in inner if part != "__init__")])
                    found.update((name, module) for name in _REGISTERED.findall(text) if name not in found)
        return found


LARGEST = 2**20  # bytes of a file that is looked into


def named_places(statement: ast.stmt, module: Module, sources: Sources) -> Iterator[tuple[str, str]]:
    """(package, name in it) for `TABLE = OrderedDict([("gpt2", "GPT2Model"), …])`, whose keys are packages beside the module."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return
    above = module.name.split(".")[:-1]
    for key, name in _pairs(statement.value):
        inner = key.replace("-", "_")
        for count in range(len(above), 0, -1) if inner.isidentifier() else ():
            place = ".".join([*above[:count], inner])
            if sources.path(place) is not None:
                yield place, name
                break


def _pairs(value: ast.expr) -> Iterator[tuple[str, str]]:
    for node in ast.walk(value):
        found: list[tuple[ast.expr | None, ast.expr]] = []
        if isinstance(node, ast.Dict):
            found = list(zip(node.keys, node.values, strict=True))
        elif isinstance(node, ast.Tuple) and len(node.elts) == 2:
            found = [(node.elts[0], node.elts[1])]
        for key, inner in found:
            for each in _alternatives(inner):
                texts = [
                    part.value for part in (key, each) if isinstance(part, ast.Constant) and isinstance(part.value, str)
                ]
                if len(texts) == 2 and texts[1].isidentifier():
                    yield texts[0], texts[1]


def _alternatives(value: ast.expr) -> Iterator[ast.expr]:
    """The texts of `("SlowTokenizer", "FastTokenizer" if is_tokenizers_available() else None)`."""
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    for part in parts:
        yield from (part.body, part.orelse) if isinstance(part, ast.IfExp) else (part,)
