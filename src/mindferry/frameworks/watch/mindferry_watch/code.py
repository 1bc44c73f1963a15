"""Which code a process imports: probes go into the project's files, watchers into frameworks, and what is blocked is not found."""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

from .probes import Notes, instrument
from .session import Session

AfterImport = Callable[[Session, ModuleType], None]
HELPERS = ("ms_compat", "ms_keras")  # modules of a converted project


class Watcher:
    """A finder that stands before the others and changes only how what they find is loaded."""

    def __init__(self, session: Session, frameworks: dict[str, AfterImport]) -> None:
        self.session, self.frameworks = session, frameworks
        self.files: dict[str, Notes] = {}
        self.is_asking = False

    def install(self) -> None:
        sys.meta_path.insert(0, self)
        self._block()
        script = sys.argv[0] if sys.argv else ""
        if self.session.settings.role == "observe":
            self.session.at_end(self._reached, in_forks=True)
            if os.path.isfile(script) and self.session.is_own(os.path.realpath(script)):
                self._take_script(script)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if self.is_asking:
            return None
        self.is_asking = True
        try:
            spec = _found(name, path, target, self)
        finally:
            self.is_asking = False
        if spec is None or spec.loader is None:
            return None
        if name in self.frameworks:
            _call_after(spec.loader, lambda module: self.frameworks[name](self.session, module))
        elif name.rpartition(".")[2] in HELPERS:
            _call_after(spec.loader, lambda module: self.session.facts.setdefault("helpers", []).append(name))
            _call_after(spec.loader, lambda module: _watch_helpers(self.session, module))
        elif self.session.settings.role == "observe" and self._is_source(spec):
            spec.loader = _Loader(name, str(spec.origin), self)
        return spec

    def _is_source(self, spec: importlib.machinery.ModuleSpec) -> bool:
        is_plain = type(spec.loader) is importlib.machinery.SourceFileLoader
        return is_plain and bool(spec.origin) and self.session.is_own(os.path.realpath(str(spec.origin)))

    def _block(self) -> None:
        """As if they were not installed: asked whether torch is there, importlib says no."""
        blocked = frozenset(self.session.settings.blocked)
        if not blocked:
            return
        original = importlib.machinery.PathFinder.find_spec

        def find_spec(cls: Any, fullname: str, path: Any = None, target: Any = None) -> Any:
            return None if fullname.partition(".")[0] in blocked else original(fullname, path, target)

        importlib.machinery.PathFinder.find_spec = classmethod(find_spec)  # type: ignore[assignment, method-assign]

    def compiled(self, path: str, is_main: bool = False) -> CodeType:
        """The file's code with probes in it; its text on disk is what it was."""
        with open(path, "rb") as file:
            data = file.read()
        tree = ast.parse(data, path)
        relative = self.session.relative(os.path.realpath(path))
        wanted = {(a, b, c, d) for a, b, c, d in self.session.settings.sites.get(relative, [])}
        notes = instrument(tree, wanted, f"_{len(self.files)}__", is_main)
        code = compile(tree, path, "exec", dont_inherit=True)
        self.files[relative] = notes
        for name, value in notes.names.items():
            setattr(builtins, name, value)
        return code

    def _reached(self, is_last: bool) -> dict[str, Any]:
        """Lines that have run, and what was seen at the sites, by file."""
        return {
            "lines": {path: self._lines(path, notes) for path, notes in self.files.items()},
            "all_lines": {path: sorted(set(notes.lines)) for path, notes in self.files.items()},
            "sites": {path: notes.seen() for path, notes in self.files.items()},
            "imported": self._imported(),
        }

    def _lines(self, path: str, notes: Notes) -> list[int]:
        return sorted({*notes.reached(), *self.session.traced.get(path, set()).intersection(notes.lines)})

    def _imported(self) -> list[str]:
        """The project's files that became modules, also by a loader of their own, as pytest's tests do."""
        files = [os.path.realpath(str(getattr(each, "__file__", None) or "")) for each in list(sys.modules.values())]
        return sorted({self.session.relative(path) for path in files if self.session.is_own(path)})

    def _take_script(self, script: str) -> None:
        """Python asks the path hooks whether the script is a folder or an archive that it should run: here it is one."""

        def hook(path: str) -> _Main:
            if os.path.abspath(path) != os.path.abspath(script):
                raise ImportError
            sys.path_hooks.remove(hook)
            return _Main(path, self)

        sys.path_hooks.insert(0, hook)


class _Main:
    """The importer of the script itself."""

    def __init__(self, script: str, watcher: Watcher) -> None:
        self.script, self.watcher = script, watcher

    def find_spec(self, name: str, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if sys.path and sys.path[0] == self.script:  # where Python puts the script's folder
            sys.path[:1] = [] if sys.flags.safe_path else [os.path.dirname(os.path.realpath(self.script))]
        sys.path_importer_cache.pop(self.script, None)
        if name != "__main__":
            return None
        path = os.path.abspath(self.script)
        return importlib.util.spec_from_loader(name, _Loader(name, path, self.watcher, is_main=True), origin=path)


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, watcher: Watcher, is_main: bool = False) -> None:
        super().__init__(name, path)
        self.watcher, self.is_main = watcher, is_main

    def get_code(self, fullname: str) -> CodeType | None:
        try:
            return self.watcher.compiled(self.path, self.is_main)
        except (SyntaxError, ValueError, RecursionError):  # Python says itself what is wrong with the file
            return super().get_code(fullname)


def _found(name: str, path: Any, target: Any, watcher: Watcher) -> importlib.machinery.ModuleSpec | None:
    for finder in sys.meta_path:
        if finder is not watcher and hasattr(finder, "find_spec"):
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
    return None


def _call_after(loader: Any, after: Callable[[ModuleType], object]) -> None:
    """Once: a framework that imports itself again must not be watched twice."""
    original = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        original(module)
        after(module)

    loader.exec_module = exec_module


def _watch_helpers(session: Session, module: ModuleType) -> None:
    from .helper_package import as_one_module
    from .mindspore_keras_run import watch_keras_helpers
    from .mindspore_run import watch_helpers

    watch = watch_keras_helpers if module.__name__.endswith(HELPERS[1]) else watch_helpers
    watch(session, as_one_module(module))
