"""What a project's own files ask of the packages: by imports, by texts that a registry knows, by names looked up when it runs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from ..apis.torch._served import SERVED_PARTS
from .checkpoints import config_beside, kind_named, kinds_of, parts_beside
from .names import chain_of
from .opened_modules import patterns_in, used_as_values
from .reach import Reach
from .sources import Module, Sources, bound_names

NOWHERE = "the installed version has no such name"
MAKES_NAMES = re.compile(
    r"__getattr__|globals\(\)|sys\.modules|setattr\(|\bexec\(|vars\(\)|__dict__|lazy", re.IGNORECASE
)
PARTS = "sentence_transformers.sentence_transformer.modules"
USUAL_PARTS = ("Pooling", "Normalize")


class Wishes(Reach):
    def __init__(self, sources: Sources, left_behind: dict[str, str], limit: int, root: Path = Path()) -> None:
        super().__init__(sources, left_behind, limit)
        self._folders = {root: None}  # that a path in the project's texts may be meant from
        self._texts: dict[str, None] = {}
        self._built: list[re.Pattern[str]] = []  # texts that are put together
        self.undecided = (
            ""  # the file that chooses its network from a table, by a name that none of the project's texts is
        )
        self._chooser = ""  # the file that imports an AutoModel
        self.refused: dict[tuple[Path, str], tuple[int, str]] = {}  # (file, name in it) -> (line, why it stays behind)
        self._path, self._line = root, 1  # that is followed
        self._is_own_file = False  # whether it is the project itself that asks
        self._is_guarded = False  # and whether it is ready for a package that has no such name
        self._opened: dict[str, str] = {}  # module that a file takes names out of -> that file

    def ask_for_file(self, module: Module) -> None:
        """Everything that a file of the project takes from these packages."""
        self._by, self._path = module.path.name, module.path
        self._folders[module.path.parent] = None
        self._is_own_file = True
        self._follow_file(module)
        self._is_own_file = False
        self.run()

    def ask(self, module_name: str, name: str) -> None:
        place = f"{module_name}.{name}"
        if self._is_own_file and f"{place}.".startswith(SERVED_PARTS):
            return
        if self._is_own_file and (why := self.lookup.reason_to_leave(place)):
            self.refused.setdefault((self._path, place), (self._line, why))
        elif self._is_own_file and not self._is_guarded and self._is_nowhere(module_name, name):
            self.refused.setdefault((self._path, place), (self._line, NOWHERE))
        super().ask(module_name, name)

    def _is_nowhere(self, home: str, name: str) -> bool:
        """Whether the installed package has no such module, or one that certainly has no such name: another version had it."""
        if self.sources.path(home) is None:
            return not self._is_compiled(home) and not any(self._may_make_names(each) for each in _above(home))
        has_it = self.lookup.gives(home, name) or self.sources.path(f"{home}.{name}") is not None
        return not has_it and not self._is_compiled(f"{home}.{name}") and not self._may_make_names(home)

    def _may_make_names(self, home: str) -> bool:
        """Whether names may come about as the module runs; a lazy package's are all listed."""
        module = self.sources.module(home)
        if module is None:
            return self.sources.path(home) is not None
        return bool(module.stars) or (not module.lazy and MAKES_NAMES.search(module.text) is not None)

    def ask_module(self, name: str) -> None:
        if not (self._is_own_file and f"{name}.".startswith(SERVED_PARTS)):
            super().ask_module(name)

    def _follow_file(self, module: Module) -> None:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name in bound_names(node):
                    if node not in module.bound.get(name, []):
                        module.bound.setdefault(name, []).append(node)
        guarded = _guarded(module.tree)
        for node in ast.walk(module.tree):
            self._line, self._is_guarded = getattr(node, "lineno", self._line), node in guarded
            if isinstance(node, ast.ImportFrom) and not node.level:
                self._import(module, node)
                home = node.module or ""
                if self.sources.is_ours(home) and any(each.name.startswith("AutoModel") for each in node.names):
                    self._chooser = module.path.name
                if self.sources.is_ours(home) and node.names[0].name == "*":
                    self._everything(home)
            elif isinstance(node, ast.Import):
                self._import(module, node)
            elif isinstance(node, ast.Attribute):
                self._attribute(module, node, frozenset())
            elif isinstance(node, ast.Call):
                self._call(module, node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                self._note(node.value)
                self._texts[node.value] = None
                self._ask_registry(node.value)
        self._built += patterns_in(module.tree)
        for value in used_as_values(module.tree):
            for home in self._modules_at(module, value):
                self._opened.setdefault(home, module.path.name)

    def _modules_at(self, module: Module, node: ast.Name | ast.Attribute) -> list[str]:
        """The modules of these packages that `models` or `torchvision.models` stands for."""
        first, *rest = [node.id] if isinstance(node, ast.Name) else chain_of(node) or [""]
        found = self._modules_of(module, first) if first else []
        for part in rest:
            if part != "__dict__":
                found = [f"{home}.{part}" for home in found if self.lookup.is_module(home, part)]
        return found

    def ask_opened(self) -> None:
        """Of a module that names are taken out of, all that the project's texts name or may become."""
        for home, by in self._opened.items():
            self._by = by
            given = self.lookup.given_by(home) if self._built else frozenset()
            names = {name for name in given if any(each.fullmatch(name) for each in self._built)}
            for name in sorted(names | {text for text in self._texts if text.isidentifier()}):
                if name in names or self.lookup.gives(home, name):
                    self.ask(home, name)
        self.run()

    def ask_kinds(self) -> None:
        """Behind `AutoModel` stands a table of networks: those that a configuration or a name in the project's texts speaks of."""
        places = {place.rpartition(".")[2]: place for place in sorted(self.listed)}
        if not places:
            return
        for text in self._texts:
            config = config_beside(text, self._folders)
            kinds = [each.replace("-", "_") for each in kinds_of(config)] or [kind_named(text, places)]
            for place in (places[kind] for kind in kinds if kind in places):
                self._by = f"the text {text!r}"
                self.ask_module(place)
        self.run()
        if not any(place in self.modules for place in places.values()):
            self.undecided = self._chooser

    def ask_parts(self) -> None:
        """A folder's modules.json names classes of sentence-transformers; a name on the hub most often means these two."""
        if PARTS.partition(".")[0] not in self.modules:
            return
        parts = [part for text in self._texts for part in parts_beside(text, self._folders)]
        self._by = "a modules.json"
        for part in parts or USUAL_PARTS:
            home, _, name = part.rpartition(".")
            if self.lookup.gives(PARTS, name):
                self.ask(PARTS, name)
            elif self.sources.is_ours(home):
                self.ask(home, name)
        self.run()

    def _ask_registry(self, text: str) -> None:
        """`create_model("resnet18.a1_in1k")`, wherever in the project the text stands."""
        asked = text if self.registries.place(text) else text.partition(".")[0]
        place = self.registries.place(asked)
        if place is not None:
            home, name = place
            if renamed := self.registries.renamed.get(asked):
                self.renamed.setdefault(home, {}).setdefault(renamed[0], {})[asked] = renamed[1]
                self.ask(home, renamed[0])
            inner = home
            while inner.count(".") > 1 or inner == home:  # a package imports what registers, and is imported itself
                package = inner.rpartition(".")[0]
                self.registered.setdefault(package, set()).add(inner)
                inner = package
            self.ask(home, name)
            module = self.sources.module(home)
            for each in ("default_cfgs", "__all__"):  # what registering looks for in the module
                if module is not None and each in module.bound:
                    self.ask(home, each)

    def _everything(self, home: str) -> None:
        found = self.sources.module(home)
        if found is not None:
            for name in sorted(found.exported() or {each for each in found.bound if not each.startswith("_")}):
                self.ask(home, name)


def _above(name: str) -> list[str]:
    """The packages that a module lies in, the nearest first."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]


def _guarded(tree: ast.Module) -> set[ast.AST]:
    """What runs only if something is so: under an `if`, such as a version's, or in a `try`."""
    return {each for node in ast.walk(tree) if isinstance(node, ast.If | ast.Try) for each in ast.walk(node)}
