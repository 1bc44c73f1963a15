"""Where the names of packages are defined, through whatever passes them on."""

from __future__ import annotations

import ast

from .sources import Sources


class Lookup:
    def __init__(self, sources: Sources, left_behind: dict[str, str]) -> None:
        self.sources, self.left_behind = sources, left_behind
        self._stars: dict[tuple[tuple[str, ...], str], str | None] = {}

    def origin(self, module_name: str, name: str, depth: int = 0) -> tuple[str, str]:
        """Where a name is defined that packages pass on."""
        module = self.sources.module(module_name)
        if module is None or depth > 12:
            return module_name, name
        found = module.lazy.get(name)
        if found is None and name not in module.bound and self.sources.path(f"{module_name}.{name}") is None:
            star = self.star_of([*module.lazy_stars, *module.stars], name)
            found = (star, name) if star else None
        for statement in module.bound.get(name, []) if found is None else []:
            if isinstance(statement, ast.ImportFrom):
                alias = next(each for each in statement.names if (each.asname or each.name) == name)
                found = (module.resolve(statement), alias.name)
        if found is None or not self.sources.is_ours(found[0]):
            return module_name, name
        return self.origin(*found, depth + 1)

    def star_of(self, modules: list[str], name: str) -> str | None:
        """Which of the modules that are imported whole has the name. Only the texts that mention it are read."""
        key = (tuple(modules), name)
        if key not in self._stars:
            self._stars[key] = next((each for each in modules if self._exports(each, name, frozenset())), None)
        return self._stars[key]

    def _exports(self, module_name: str, name: str, seen: frozenset[str]) -> bool:
        place = self.sources.path(module_name)
        if place is None or module_name in seen or "dummy_" in module_name:
            return False
        path, _ = place
        text = self.sources.text(path)
        if "import *" not in text and (
            name not in text or ("\n__all__ = [" in text and f'"{name}"' not in text and f"'{name}'" not in text)
        ):
            return False
        module = self.sources.module(module_name)
        if module is None:
            return False
        listed = module.exported()
        if listed is not None and name not in listed:
            return False
        if name in module.bound or name in module.lazy:
            return listed is not None or not name.startswith("_")
        return any(self._exports(each, name, seen | {module_name}) for each in (*module.stars, *module.lazy_stars))

    def is_module(self, home: str, name: str) -> bool:
        """Whether a package's name is a module inside of it, and not something else that the package binds to it."""
        module = self.sources.module(home)
        if self.sources.path(f"{home}.{name}") is None:
            return False
        return module is None or (
            name not in module.lazy
            and all(  # from . import name
                isinstance(each, ast.ImportFrom) and module.resolve(each) == home for each in module.bound.get(name, [])
            )
        )

    def gives(self, home: str, name: str) -> bool:
        """Whether a module has the name, in whatever way."""
        module = self.sources.module(home)
        return module is not None and (
            name in module.bound
            or name in module.lazy
            or self.star_of([*module.lazy_stars, *module.stars], name) is not None
        )

    def given_by(self, home: str, seen: frozenset[str] = frozenset()) -> frozenset[str]:
        """All public names of a module, those of what it imports whole among them."""
        module = self.sources.module(home)
        if module is None or home in seen:
            return frozenset()
        own = set(module.exported() or (name for name in module.bound if not name.startswith("_"))) | set(module.lazy)
        return frozenset(own).union(
            *(self.given_by(each, seen | {home}) for each in (*module.stars, *module.lazy_stars))
        )

    def reason_to_leave(self, qual: str) -> str:
        parts = qual.split(".")
        for count in range(len(parts), 0, -1):
            if (part := ".".join(parts[:count])) in self.left_behind:
                return self.left_behind[part]  # '' where it comes along although what is around it doesn't
        return ""
