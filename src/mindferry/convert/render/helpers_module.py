"""Assembles ms_compat.py for a converted project: the helpers that it uses, and what those use."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files

from ...errors import MindferryError
from ...read.walk import walk
from .fold_constants import parsed
from .helper_parts import with_parts
from .helper_use import ProjectUse
from .import_lines import sorted_imports
from .short_forms import short_forms
from .specialise_helpers import names_taken, specialised
from .used_tables import with_used_entries
from .write_dispatchers import dispatchers

HEADER = '''"""Helpers with {0}'s meaning where MindSpore has none or differs. Written by mindferry; yours to edit."""

'''
SPOKEN = {"torch": "PyTorch", "tensorflow": "TensorFlow"}
TWIN = "Twin"
SHARED = ("settings.py", "left_over.py", "numbers.py")  # of torch's helpers: those that any framework's files need
SETTINGS = "prepare_cpu"  # called when the helpers are imported: the one place for what MindSpore is told
NUMBERS = "prefer_tensors"  # called with it: how tensors and numpy's numbers meet
METHODS = {"tensorflow": "equip_tensors"}  # called with it, by source: what its tensors have and MindSpore's have not
DEFINING = ("def ", "class ")
_DEFINITION = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)
_LAYER = re.compile(r"\A(class \w+\((?:\w+, )*nn\.(?!Cell\b)\w+)\)")


@dataclass(frozen=True, slots=True)
class Unit:
    """A function, class or constant of apis/<source>/compat/."""

    name: str
    text: str
    order: int
    file: str = ""  # of apis/torch/compat/; a dispatcher has none


@functools.cache
def library(source: str = "torch") -> tuple[dict[str, Unit], dict[str, str]]:
    """(unit by name, import statement by the name that it binds) of what a source framework's entries emit."""
    units: dict[str, Unit] = {}
    imports: dict[str, str] = {}
    paths = list(files(f"mindferry.apis.{source}.compat").iterdir())
    if source != "torch":
        paths += [files("mindferry.apis.torch.compat").joinpath(name) for name in SHARED]
    for path in sorted(paths, key=lambda each: each.name):
        if path.name.endswith(".py") and path.name not in ("__init__.py", "parts.py"):
            _read(path.name, path.read_text("utf-8"), units, imports)
    for name, text in dispatchers().items() if source == "torch" else ():
        units[name] = Unit(name, text, len(units))
    return units, imports


def _read(file: str, text: str, units: dict[str, Unit], imports: dict[str, str]) -> None:
    for statement in _statements(text):
        defined = _DEFINITION.search(statement) if statement.startswith(("@", *DEFINING)) else None
        node = None if defined else ast.parse(statement).body[0]
        if isinstance(node, ast.Import | ast.ImportFrom):
            if isinstance(node, ast.ImportFrom) and node.level:
                continue  # another file of the library
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                suffix = f" as {alias.asname}" if alias.asname else ""
                imports[bound] = (
                    f"import {alias.name}{suffix}"
                    if isinstance(node, ast.Import)
                    else f"from {node.module} import {alias.name}{suffix}"
                )
            continue
        for name in [defined[1]] if defined else _assigned(node):
            if name in units:
                raise MindferryError(f"compat/{file}: {name} is defined twice in the helper library; rename one")
            units[name] = Unit(name, statement, len(units), file)


def _statements(text: str) -> list[str]:
    """The statements of a helper file below its docstring, each from one line that is not indented to the next.

    To parse all helpers would take as long as to convert several files. A test sees to it that the parser finds the same.
    """
    found: list[list[str]] = []
    is_decorated = is_open = False
    after_docstring = text.index('"""', 3) + 3
    for line in text[after_docstring:].splitlines(keepends=True):
        if line[0] in " \t\n)]}" or is_decorated:
            if is_open:
                found[-1].append(line)
        elif is_open := line[0] != "#":
            found.append([line])
        is_decorated = is_open and (is_decorated or line[0] == "@") and not line.startswith(DEFINING)
    return ["".join(lines).rstrip() + "\n" for lines in found]


def uses(name: str, source: str = "torch") -> frozenset[str]:
    """Names that a unit takes from outside: looked up for those in use only."""
    return names_taken(library(source)[0][name].text)


def _assigned(node: ast.stmt | None) -> list[str]:
    return [each.id for each in node.targets if isinstance(each, ast.Name)] if isinstance(node, ast.Assign) else []


def closure(names: set[str], source: str = "torch") -> list[Unit]:
    """The named helpers and everything that they use, in an order in which they can be defined."""
    units, _ = library(source)
    unknown = sorted(names - set(units))
    if unknown:
        raise MindferryError(
            f"no helper called {', '.join(unknown)} in apis/{source}/compat/; the rule that names it is wrong"
        )
    found: set[str] = set()
    waiting = sorted(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += sorted(uses(name, source) & units.keys() - found)
    return sorted((units[name] for name in found), key=lambda unit: unit.order)


def render(names: set[str], use: ProjectUse | None = None, source: str = "torch") -> str:
    """The text of ms_compat.py; with `use`, no more of it than that project needs."""
    return HEADER.format(SPOKEN.get(source, source)) + inline({*names, SETTINGS}, use=use, source=source) + "\n"


def inline(
    names: set[str],
    renamed: Mapping[str, str] | None = None,
    use: ProjectUse | None = None,
    source: str = "torch",
) -> str:
    """The helpers with their imports, to stand in a file of their own or within another that uses some of their names."""
    _, imports = library(source)
    names = with_settings(names, source)
    chosen = chosen_units(names, use, source)
    used = set().union(*(names_taken(unit.text) for unit in chosen)) if chosen else set()
    lines = sorted_imports(imports[name] for name in used if name in imports)
    text = body_of(chosen)
    for old, new in (renamed or {}).items():
        text = re.sub(rf"(?<![\w.]){re.escape(old)}(?!\w)(?!\s*=[^=])", new, text)
    calls = "".join(f"\n{name}()" for name in called_at_import(source))
    return joined(lines, text) + (f"\n\n{calls}" if SETTINGS in names else "")


def called_at_import(source: str) -> list[str]:
    return [SETTINGS, NUMBERS, *([METHODS[source]] if source in METHODS else [])]


def with_settings(names: set[str], source: str = "torch") -> set[str]:
    """With what is called along with the settings."""
    return {*names, *called_at_import(source)} if SETTINGS in names else names


def joined(imports: str, text: str) -> str:
    """Two blank lines stand before a function or class, one before a constant."""
    is_constant = not text.startswith(("def ", "class ", "@"))
    return f"{imports}{chr(10) * (2 if is_constant else 3)}{text}" if imports else text if is_constant else f"\n{text}"


def chosen_units(names: set[str], use: ProjectUse | None, source: str = "torch") -> list[Unit]:
    """The helpers as the project needs them, in the order in which they are written."""
    units = _closure_of(names, use, source)
    if source == "torch":
        units = [replace(unit, text=with_parts(unit.text, use, names)) for unit in units]
    if use is not None and source == "torch":
        smaller = specialised({unit.name: unit.text for unit in units}, names, use)
        units = [replace(unit, text=smaller[unit.name]) for unit in units if unit.name in smaller]
    elif use is not None and use.words is not None and not use.is_library:
        smaller = with_used_entries({unit.name: unit.text for unit in units}, names, use.words, use)
        units = [replace(unit, text=smaller[unit.name]) for unit in units if unit.name in smaller]
    return _in_definition_order(_as_twins(units))


def _closure_of(names: set[str], use: ProjectUse | None, source: str) -> list[Unit]:
    """With short forms, under the names of the helpers whose place they take."""
    units = closure(names, source)
    known, forms = {unit.name for unit in units}, short_forms(use, names) if source == "torch" else {}
    forms = {name: form for name, form in forms.items() if name in known}
    if not forms:
        return units
    by_name = {unit.name: unit for unit in closure({*known, *forms.values()}, source)}
    places = {by_name[form].name: name for name, form in forms.items()}
    for name, form in forms.items():
        by_name[name] = replace(by_name[form], name=name, order=by_name[name].order, file=by_name[name].file)
    spoken = re.compile(rf"\b({'|'.join(map(re.escape, places))})\b")
    kept = [unit for unit in by_name.values() if unit.name not in places]
    return [replace(unit, text=spoken.sub(lambda match: places[match[0]], unit.text)) for unit in kept]


def body_of(chosen: list[Unit]) -> str:
    """The helpers one after the other; constants that follow each other stay together."""
    text, was_constant = "", False
    for unit in chosen:
        is_constant = not unit.text.startswith(("def ", "class ", "@"))
        text += ("" if not text or (is_constant and was_constant) else "\n\n") + unit.text
        was_constant = is_constant
    return text.rstrip()


def _as_twins(units: list[Unit]) -> list[Unit]:
    """Where classes are compared, helpers that derive from MindSpore's layers count as these."""
    if all(unit.name != TWIN for unit in units):
        return units
    return [replace(unit, text=_LAYER.sub(rf"\1, metaclass={TWIN})", unit.text, count=1)) for unit in units]


def _in_definition_order(units: list[Unit]) -> list[Unit]:
    """Bases, decorators and module-level uses before what needs them; otherwise the library's own order."""
    names = {unit.name: unit for unit in units}
    done: dict[str, Unit] = {}
    begun: set[str] = set()

    def add(unit: Unit) -> None:
        if unit.name in begun:
            return
        begun.add(unit.name)
        at_once = _needed_at_definition(unit.text) & names.keys()
        for needed in sorted(at_once | {inner for each in at_once for inner in _run_by_call(names[each].text)}):
            if needed in names:
                add(names[needed])
        done.setdefault(unit.name, unit)

    for unit in units:
        add(unit)
    return list(done.values())


def _run_by_call(text: str) -> set[str]:
    """What a function runs when it is called, but not what the functions run that it returns."""
    node = parsed(text).body[0]
    if not isinstance(node, ast.FunctionDef):
        return set()
    waiting: list[ast.AST] = list(node.body)
    found: set[str] = set()
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Name):
            found.add(each.id)
        is_inner = isinstance(each, ast.FunctionDef | ast.Lambda)
        decorators = each.decorator_list if isinstance(each, ast.FunctionDef) else []
        waiting += decorators if is_inner else list(ast.iter_child_nodes(each))
    return found


def _needed_at_definition(text: str) -> set[str]:
    node = parsed(text).body[0]
    if isinstance(node, ast.ClassDef):
        parts: list[ast.AST] = [*node.bases, *node.decorator_list, *(each.value for each in node.keywords)]
        parts += [each for each in node.body if isinstance(each, ast.Assign | ast.AnnAssign)]
    elif isinstance(node, ast.FunctionDef):
        parts = [*node.decorator_list, *node.args.defaults, *(each for each in node.args.kw_defaults if each)]
    else:
        parts = [node]
    return {each.id for part in parts for each in walk(part) if isinstance(each, ast.Name)}
