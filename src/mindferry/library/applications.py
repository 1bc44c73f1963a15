"""keras.applications: the files of Keras' own folder that build the networks which a project uses, cut down to these.

Nothing else of Keras comes along: what these files take from its layers and operations is in the table, as for any project.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from .. import findings
from ..apis.tensorflow._aliases import canonical
from ..artifacts import Finding
from ..errors import MindferryError
from ..layout import Layout, ProjectFile
from .bring import cut_files, left_behind, project_modules
from .cache import kept_text
from .gates import Gates
from .names import chain_of
from .notice import notice_text
from .own_package import FOLDER
from .packages import Package, find_package
from .reach import Reach
from .sources import Module, Sources

PACKAGE = "keras"
API = "keras.applications"
HOME = "keras.src.applications"
KERAS = frozenset({"keras", "tensorflow", "tf_keras"})  # what --with calls it
IMPORT = re.compile(rf"^(\s*(?:from|import)\s+){re.escape(HOME)}\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Applications:
    files: tuple[ProjectFile, ...]  # cut down, still Keras'
    plain: dict[str, bytes]  # licence and notice
    findings: tuple[Finding, ...]
    names: dict[str, str]  # Keras' name -> where the project has it from now on


def bring_applications(layout: Layout, sites: tuple[Path, ...], limit: int) -> Applications:
    """What the project uses of keras.applications."""
    package = replace(find_package(PACKAGE, sites), parts=(API, HOME))
    if package.refusal:
        raise MindferryError(package.refusal)
    gates = Gates(frozenset({PACKAGE}), lambda name: False)
    gates.sources = sources = Sources([package], gates.condition)
    reach = Reach(sources, left_behind(), limit)
    root = f"{layout.root.resolve().name}." if layout.is_package else ""
    names: dict[str, str] = {}
    for used in sorted(_used(layout)):
        home, name = reach.lookup.origin(*used.rpartition(".")[::2])
        module = sources.module(home)
        if home.startswith(f"{HOME}.") and module is not None and name in module.bound:
            reach.ask(home, name)
            names[used] = f"{root}{FOLDER}.{API}{home.removeprefix(HOME)}.{name}"
    reach.run()
    files = tuple(_moved(file, root) for file in cut_files(reach, gates, lambda module: ""))
    return Applications(files, _plain(package, reach), _unused(names), names)


def is_application(file: ProjectFile) -> bool:
    return file.is_brought and file.module.startswith(f"{FOLDER}.{API}")


def _used(layout: Layout) -> set[str]:
    """`keras.applications.ResNet50`, `keras.applications.resnet50.preprocess_input`: by the one name of each."""
    modules = [module for file in layout.files if file.is_code for module in project_modules(file)]
    names = (canonical(name) for module in modules for name in dotted_names(module))
    return {name for name in names if name.startswith(f"{API}.")}


def dotted_names(module: Module) -> Iterator[str]:
    """What the file imports, and what it takes out of that with dots."""
    bound: dict[str, str] = {}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            bound.update(
                (each.asname or each.name.partition(".")[0], each.name if each.asname else each.name.partition(".")[0])
                for each in node.names
            )
        elif isinstance(node, ast.ImportFrom) and not node.level:
            bound.update((each.asname or each.name, f"{node.module}.{each.name}") for each in node.names)
    yield from bound.values()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and (chain := chain_of(node)) and chain[0] in bound:
            yield ".".join([bound[chain[0]], *chain[1:]])


def _moved(file: ProjectFile, root: str) -> ProjectFile:
    """In the project's own folder, importing what stands beside it there."""
    text = file.path.read_text("utf-8")
    moved = IMPORT.sub(rf"\g<1>{root}{FOLDER}.{API}", text)
    inner = file.module.removeprefix(HOME)
    relative = f"{FOLDER}/{API.replace('.', '/')}{inner.replace('.', '/')}"
    relative += "/__init__.py" if file.is_package else ".py"
    path = kept_text("cut", moved.encode("utf-8"), ".py")
    return ProjectFile(path, relative, f"{FOLDER}.{API}{inner}", file.is_package, is_brought=True)


def _plain(package: Package, reach: Reach) -> dict[str, bytes]:
    folder = f"{FOLDER}/{PACKAGE}"
    plain = {
        f"{FOLDER}/__init__.py": files("mindferry.library").joinpath("ported_init.py").read_bytes(),
        f"{folder}/__init__.py": b"",
        f"{folder}/NOTICE.md": notice_text([package], reach, "TensorFlow").replace("(keras/", "(").encode("utf-8"),
    }
    return plain | {f"{folder}/{file.name}": file.read_bytes() for file in package.licence_files}


def _unused(names: dict[str, str]) -> tuple[Finding, ...]:
    if names:
        return ()
    message = "nothing of keras.applications is used by the project, and the rest of Keras is converted by the table"
    place = f"{FOLDER}/{PACKAGE}/NOTICE.md"
    return (Finding(findings.MF152, "warning", place, 1, 1, message, "leave out --with keras"),)
