"""The ms_compat of a converted project, imported before its script is run."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from .project_modules import import_of_project
from .watch.mindferry_watch.helper_package import as_one_module


def helpers_of(names: Iterable[str]) -> list[Any]:
    """By their paths; and one of them, which are all alike, by the bare name under which a script in a folder of its own imports it."""
    found = {}
    for name in sorted(names, key=_is_in_package):  # packages let those of a script's folder stand for theirs
        found[name] = import_of_project(name)
        sys.modules.setdefault(name.rpartition(".")[2], found[name])
    _import_each_file_once(found.values())
    different = {id(module): module for module in found.values()}  # a folder's may be the root's
    return [as_one_module(module) for module in different.values()]


def _is_in_package(name: str) -> bool:
    folder = name.split(".")[:-1]
    return any(Path(each, *folder, "__init__.py").is_file() for each in sys.path)


def _import_each_file_once(modules: Iterable[ModuleType]) -> None:
    """A script that puts `src` on its path imports `pkg.ms_compat`, which is `src.pkg.ms_compat` from the project's folder."""
    places = {Path(module.__file__).resolve(): module for module in modules if module.__file__}
    original = PathFinder.find_spec

    def find_spec(cls: Any, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = original(fullname, path, target)
        known = places.get(Path(spec.origin).resolve()) if spec is not None and spec.origin else None
        return spec if known is None else ModuleSpec(fullname, _Loaded(known), origin=known.__file__)

    PathFinder.find_spec = classmethod(find_spec)  # type: ignore[assignment, method-assign]


class _Loaded(Loader):
    """Hands out a module that another name has loaded."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec
