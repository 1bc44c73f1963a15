"""Registries: `@register_model def resnet18(...)`, which a project asks for by a text, as in `create_model("resnet18")`."""

from __future__ import annotations

import re

from .sources import Sources

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
