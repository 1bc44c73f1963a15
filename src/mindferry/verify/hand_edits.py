"""What the conversion's text does that `mindferry convert` does not write: values alone do not show that it is the same.

A converted project that nobody touched has nothing of the kind. Of one that was edited, or written by hand, what only computes with
tensors is settled by comparing values; what decides, keeps, asks for something outside or runs by itself is listed.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import inspect
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from ..artifacts import STATE, Gap, ProjectConversion, load
from ..errors import MindferryError
from ..files import read_regular
from .beside import own_bases
from .code_traits import COUNTED, Kind, Trait, imports_of, traits_of
from .edited_lines import edited_lines
from .literals import walked
from .reach import Reach
from .reached_code import Piece, reached

DRAWS = set(
    "random rand randn randint uniform normal choice shuffle permutation randperm bernoulli multinomial".split()
)
SEEN = {"if", "try"}  # of the reference's own, those that no input reached are listed anyway
MOST = 300  # files of a project that was written by hand


def gaps_of_edits(
    reference: Path | None, converted: Path, models: Iterable[str], others: Iterable[str] = ()
) -> list[Gap]:
    """Of a converted folder, beside what a conversion of `reference` would write now. `others`: its optimizer, its loss."""
    record = _record(converted)
    written = {each.path: each.digest for each in record.files} if record is not None else {}
    texts = _texts(converted)
    touched = {path for path, text in texts.items() if written.get(path) != _digest(text)}
    if reference is None or not touched:
        return []
    if record is None and max(len(texts), sum(1 for _ in islice(reference.rglob("*.py"), MOST))) >= MOST:
        return []
    is_whole = record is not None and Path(record.source).is_relative_to(reference)
    anew = _anew(Path(record.source) if record is not None and is_whole else reference, converted)
    roots = _names([*models, *(others if written else ())])  # an optimizer by hand keeps what a helper's does
    roots += [name for path in touched if written for name in _drawing(texts[path])]
    return [*differences(anew, texts, roots, touched, is_edited=bool(written))]


def _drawing(text: str) -> Iterator[str]:
    """Definitions that draw random numbers: how often something is done, or how much, a few samples do not tell."""
    with contextlib.suppress(SyntaxError, ValueError):
        for each in ast.parse(text).body:
            if isinstance(each, ast.FunctionDef | ast.ClassDef):
                nodes = [node for node in walked(each) if isinstance(node, ast.Name | ast.Attribute)]
                names = {node.attr if isinstance(node, ast.Attribute) else node.id for node in nodes}
                if names & DRAWS:
                    yield each.name


def gaps_of_objects(module: Any, cell: Any) -> list[Gap]:
    """Of a network in this process, by the files that its classes are in; a type of torch's in another file is not known there."""
    from ..convert import convert_source

    theirs = _sources({type(each) for each in module.modules()}, "torch.")
    ours = _sources({type(each) for _, each in cell.cells_and_names()}, "mindspore.")
    texts = {file: text for file, (text, _) in ours.items() if not _is_untouched(Path(file), text)}
    roots = {name for side in (theirs, ours) for _, names in side.values() for name in names}
    anew = {}
    for file, (text, _) in theirs.items() if texts else ():
        with contextlib.suppress(MindferryError):
            anew[file] = convert_source(text).main
    return [*differences(anew, texts, sorted(roots), set(texts), is_edited=False)]


def _sources(kinds: Iterable[type], framework: str) -> dict[str, tuple[str, set[str]]]:
    """File -> its text, and which of these classes are in it."""
    found: dict[str, tuple[str, set[str]]] = {}
    is_own = Reach().is_own
    for kind in {base for each in kinds for base in own_bases(each, framework)}:
        with contextlib.suppress(OSError, TypeError, MindferryError):
            file = inspect.getsourcefile(kind) or "<"
            if is_own(file):
                text = found[file][0] if file in found else _text(Path(file))
                found.setdefault(file, (text, set()))[1].add(kind.__name__)
    return found


def _is_untouched(path: Path, text: str) -> bool:
    """Whether it stands as a conversion of its project wrote it."""
    for folder in path.parents:
        if (folder / STATE / "convert.json").is_file():
            record = _record(folder)
            name = path.relative_to(folder).as_posix()
            return record is not None and any(
                name == each.path and _digest(text) == each.digest for each in record.files
            )
    return False


def differences(
    anew: Mapping[str, str], texts: Mapping[str, str], roots: Iterable[str], touched: set[str], is_edited: bool
) -> Iterator[Gap]:
    roots = list(roots)
    ours = [piece for piece in reached(texts, roots) if piece.file in touched]
    theirs = [piece for piece in reached(anew, roots) if piece.file in touched or not is_edited]
    if not (theirs or is_edited):
        return
    lines: dict[tuple[str, int], str] = {}
    was, made = _traits(theirs, anew), _traits(ours, texts)
    for trait in _only_here(was, made):
        lines.setdefault((trait.file, trait.line), f"{trait.kind.value} (`{trait.text[:80]}`)")
    if is_edited:
        for piece, line, what in edited_lines(theirs, ours):
            lines.setdefault((piece.file, line), what)
    for (file, line), what in sorted(lines.items()):
        why = f"{what}, and what mindferry writes does nothing of the kind: the inputs may not have shown what it does"
        yield Gap("edit", f"{Path(file).name} line {line}", "not comparable", why)
    for trait in _only_here(made, was):
        if trait.kind is Kind.DECIDES and trait.key not in SEEN:
            why = "mindferry writes it, and here nothing decides so: the inputs may not have shown what it does"
            yield Gap("edit", f"`{trait.text[:80]}`", "not comparable", why)


def _traits(pieces: list[Piece], texts: Mapping[str, str]) -> list[Trait]:
    return traits_of(pieces, {file: imports_of(texts[file]) for file in {piece.file for piece in pieces}})


def _only_here(theirs: list[Trait], ours: list[Trait]) -> Iterator[Trait]:
    known = Counter((each.kind, each.key) for each in theirs)
    places: dict[tuple[Kind, str], list[Trait]] = {}
    for each in ours:
        places.setdefault((each.kind, each.key), []).append(each)
    texts = Counter((each.kind, each.key, each.text) for each in theirs)
    for key, found in places.items():
        spare = len(found) - known[key]
        if not known[key] or (key[0] in COUNTED and spare > 0):
            new = [each for each in found if not texts[(each.kind, each.key, each.text)]]
            yield from (new or found)[: spare if key[0] in COUNTED else None]


def _texts(folder: Path) -> dict[str, str]:
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).parts
        if not any(part.startswith(".") or part in ("tests", "__pycache__") for part in parts):
            with contextlib.suppress(OSError, MindferryError):
                found["/".join(parts)] = _text(path)
    return found


def _text(path: Path) -> str:
    return read_regular(path).decode("utf-8", "surrogateescape")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _record(converted: Path) -> ProjectConversion | None:
    try:
        return load(ProjectConversion, converted, "convert")
    except MindferryError:  # none, or one of another version
        return None


def _anew(reference: Path, converted: Path) -> dict[str, str]:
    from ..convert import convert_project

    texts: dict[str, bytes] = {}
    try:
        convert_project(reference, converted, check=True, texts=texts)
    except (OSError, MindferryError):
        return {}
    return {name: text.decode("utf-8", "surrogateescape") for name, text in texts.items() if name.endswith(".py")}


def _names(models: Iterable[str]) -> list[str]:
    """What `net:make(depth=2)` and `pkg.net:Net.small` name."""
    found = []
    for model in models:
        text = model.partition(":")[2] or model
        try:
            tree: ast.AST = ast.parse(text, mode="eval")
        except SyntaxError:
            continue
        found += [each.id for each in ast.walk(tree) if isinstance(each, ast.Name)]
        found += [each.attr for each in ast.walk(tree) if isinstance(each, ast.Attribute)]
    return found
