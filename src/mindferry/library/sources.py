"""Modules of packages as text: their statements by the names that they bind. Nothing is imported."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..files import read_regular
from ..foreign import BROKEN, LARGEST
from .moved_modules import moved_in, tables_named, with_whole_names
from .packages import Package
from .substitute import with_stand_ins

OPERATOR = re.compile(r"""custom_op\(\s*["'](\w+)::(\w+)["']\s*,\s*(\w+)\s*[,)]""")
NEWLINES = re.compile(r"\r\n|\r")
Answer = Callable[["Module", ast.expr], bool | None]  # what a condition is in the converted world, where that is known
Import = ast.Import | ast.ImportFrom


@dataclass(slots=True, eq=False)
class Module:
    name: str
    path: Path
    is_package: bool
    text: str
    tree: ast.Module
    bound: dict[str, list[ast.stmt]] = field(default_factory=dict)  # statements outside of functions, by name
    effects: dict[str, list[ast.stmt]] = field(default_factory=dict)  # statements that do something to a name
    stars: list[str] = field(default_factory=list)
    lazy: dict[str, tuple[str, str]] = field(default_factory=dict)  # exported on demand: name -> (module, name there)
    lazy_stars: list[str] = field(default_factory=list)
    is_lazy: bool = False
    conditions: dict[ast.stmt, list[ast.expr]] = field(default_factory=dict)  # that a statement stands under
    fillers: set[ast.stmt] = field(default_factory=set)  # calls of its own functions that fill its tables

    def resolve(self, node: ast.ImportFrom) -> str:
        """The absolute name of a possibly relative import's module."""
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        keep = len(parts) - node.level + (1 if self.is_package else 0)
        return ".".join([*parts[: max(keep, 0)], *([node.module] if node.module else [])])

    def exported(self) -> set[str] | None:
        """What its __all__ lists, None without one, or where the list is put together from those of other modules."""
        names: set[str] | None = None
        for statement in self.tree.body:
            targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            if any(isinstance(each, ast.Name) and each.id == "__all__" for each in targets):
                value = getattr(statement, "value", None)
                if value is not None and any(isinstance(each, ast.Name | ast.Attribute) for each in ast.walk(value)):
                    return None
                found = {each.value for each in ast.walk(value) if isinstance(each, ast.Constant)} if value else set()
                names = (names or set()) | {each for each in found if isinstance(each, str)}
        return names


def _index_fillers(module: Module) -> None:
    """`_register_defaults()`, which stands alone, does something to the `registry` that this function writes to."""
    functions = {each.name: each for each in module.tree.body if isinstance(each, ast.FunctionDef)}
    tables = {
        name
        for name, statements in module.bound.items()
        if any(isinstance(each, ast.Assign | ast.AnnAssign) for each in statements)
    }
    for statement in module.tree.body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id=name))) if name in functions:
                names = {each.id for each in ast.walk(functions[name]) if isinstance(each, ast.Name)} & tables
                for table in names:
                    module.effects.setdefault(table, []).append(statement)
                if names:
                    module.fillers.add(statement)


@functools.cache
def inner_imports(module: Module) -> dict[str, list[ast.stmt]]:
    """The imports inside of functions, by the names that they bind there."""
    found: dict[str, list[ast.stmt]] = {}
    for function in ast.walk(module.tree):
        for node in ast.walk(function) if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) else ():
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name in bound_names(node):
                    found.setdefault(name, []).append(node)
    return found


class Sources:
    """The modules of the packages that are brought along, each read once."""

    def __init__(self, packages: list[Package], answer: Answer) -> None:
        self.packages = {package.name: package for package in packages}
        self._answer = answer
        self._modules: dict[str, Module | None] = {}
        self._texts: dict[Path, str] = {}
        self._moved: dict[str, dict[str, str]] = {}  # package -> old and new names of its modules

    def is_ours(self, name: str) -> bool:
        package = self.packages.get(name.partition(".")[0])
        return package is not None and package.holds(name)

    def path(self, name: str) -> tuple[Path, bool] | None:
        """(file, whether it is a package) of a module, or None."""
        head, _, rest = name.partition(".")
        if not self.is_ours(name):
            return None
        root = self.packages[head].root
        if root.is_file():
            return (root, False) if not rest else None
        place = root.joinpath(*rest.split(".")) if rest else root
        if (place / "__init__.py").is_file():
            return place / "__init__.py", True
        file = place.with_name(f"{place.name}.py")
        return (file, False) if rest and file.is_file() else self._moved_path(head, name)

    def _moved_path(self, head: str, name: str) -> tuple[Path, bool] | None:
        """Of a module that the package gives under an older name."""
        if head not in self._moved:
            self._moved[head] = {}  # while the tables are read
            for home in tables_named(head, self.text_of(head)):
                self._moved[head] |= moved_in(head, self.text_of(home))
        moved = self._moved[head].get(name, name)
        return self.path(moved) if moved != name else None

    def text(self, path: Path) -> str:
        if path not in self._texts:
            self._texts[path] = NEWLINES.sub(
                "\n", read_regular(path, LARGEST).decode("utf-8", "replace").removeprefix("\ufeff")
            )
        return self._texts[path]

    def text_of(self, name: str) -> str:
        """A module's text as the package has it, or ''."""
        place = self.path(name)
        return self.text(place[0]) if place is not None else ""

    def module(self, name: str) -> Module | None:
        if name not in self._modules:
            self._modules[name] = None  # while it is read
            place = self.path(name)
            if place is not None:
                self._modules[name] = self._read(name, *place)
        return self._modules[name]

    def is_broken(self, name: str) -> bool:
        return self.path(name) is not None and self.module(name) is None

    def _read(self, name: str, path: Path, is_package: bool) -> Module | None:
        at = self._moved.get(name.partition(".")[0], {}).get(name, name)
        try:
            text = with_stand_ins(at, with_plain_operators(self.text(path)))
            text = text if at == name else with_whole_names(at, is_package, text)
            module = Module(name, path, is_package, text, ast.parse(text))
        except BROKEN:
            return None
        self._modules[name] = module  # its own gates may be asked for while it is read
        module.is_lazy = "_LazyModule(" in text and "sys.modules[__name__]" in text
        self._index(module, module.tree.body)
        _index_fillers(module)
        return module

    def index(self, module: Module) -> None:
        """A file of the project's own: what its imports bind."""
        self._index(module, module.tree.body)

    def _index(self, module: Module, block: list[ast.stmt], under: tuple[ast.expr, ...] = ()) -> None:
        for statement in block:
            if isinstance(statement, ast.If):
                self._index_if(module, statement, under)
                continue
            if under:
                module.conditions[statement] = list(under)
            if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
                module.stars.append(module.resolve(statement))
            for name in bound_names(statement):
                module.bound.setdefault(name, []).append(statement)
            for name in affected_names(statement):
                module.effects.setdefault(name, []).append(statement)

    def _index_if(self, module: Module, statement: ast.If, under: tuple[ast.expr, ...]) -> None:
        if is_type_checking(statement.test):
            if module.is_lazy or any(each.name == "__getattr__" for each in _functions(module.tree.body)):
                _index_lazy(module, statement.body)
            self._index(module, [] if module.is_lazy else statement.orelse, under)
            return
        answer, under = self._answer(module, statement.test), (*under, statement.test)
        if answer is not False:
            self._index(module, statement.body, under)
        if answer is not True:
            self._index(module, statement.orelse, under)

    def condition(self, module: Module, test: ast.expr) -> bool | None:
        return False if is_type_checking(test) else self._answer(module, test)


def _functions(block: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    return (each for each in block if isinstance(each, ast.FunctionDef))


def _index_lazy(module: Module, block: list[ast.stmt]) -> None:
    """What a type checker sees of a lazy package is what the package gives at run time."""
    for statement in block:
        if isinstance(statement, ast.Try):
            _index_lazy(module, statement.orelse)
        elif isinstance(statement, ast.If):
            _index_lazy(module, [*statement.body, *statement.orelse])
        elif isinstance(statement, ast.ImportFrom):
            home = module.resolve(statement)
            for alias in statement.names:
                if alias.name == "*":
                    module.lazy_stars.append(home)
                else:
                    module.lazy.setdefault(alias.asname or alias.name, (home, alias.name))


def with_plain_operators(text: str) -> str:
    """An operator that a module registers for torch's compiler, `torch.ops.space.name`, called as the function that it is."""
    for space, name, function in OPERATOR.findall(text):
        text = re.sub(rf"\btorch\.ops\.{space}\.{name}\b(?!\.)", function, text)
    return text


def is_star_of(module: Module, statement: ast.stmt, home: str) -> bool:
    """`from .home import *`."""
    is_star = isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"
    return is_star and module.resolve(statement) == home  # type: ignore[arg-type]


def is_type_checking(test: ast.expr) -> bool:
    """`if TYPE_CHECKING:`, and what diffusers adds to it: `or DIFFUSERS_SLOW_IMPORT`."""
    if isinstance(test, ast.BoolOp):
        asks = any(isinstance(each, ast.Call) for each in test.values)  # `is_tokenizers_available() or TYPE_CHECKING`
        return any(is_type_checking(each) for each in test.values) and isinstance(test.op, ast.Or) and not asks
    return getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING"


def bound_names(statement: ast.stmt) -> set[str]:
    """Names that a statement outside of functions binds."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import() | ast.ImportFrom():
            return {alias.asname or alias.name.partition(".")[0] for alias in statement.names if alias.name != "*"}
        case ast.Expr() | ast.Assert() | ast.Delete() | ast.Pass():
            return {
                each.target.id
                for each in ast.walk(statement)
                if isinstance(each, ast.NamedExpr) and isinstance(each.target, ast.Name)
            }
    found: set[str] = set()
    for node in _shallow(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= bound_names(node)
    return found


def affected_names(statement: ast.stmt) -> set[str]:
    """Names that a statement does something to without binding them: `TABLE["x"] = y`, `TABLE.update(…)`, `register(Class)`."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return set()
    if isinstance(statement, ast.Assign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {name for each in targets if not isinstance(each, ast.Name) and (name := root_name(each))}
    if isinstance(statement, ast.Expr | ast.Delete | ast.For | ast.While | ast.With):
        return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    return set()


def root_name(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.Starred):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _shallow(statement: ast.AST) -> Iterator[ast.AST]:
    """The statement's parts, without the insides of functions and classes."""
    for child in ast.iter_child_nodes(statement):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from _shallow(child)
