"""What the conversion's text does that `mindferry convert` does not write: values alone do not show that it is the same.

A converted project that nobody touched has nothing of the kind. Of one that was edited, or written by hand, what only computes with
tensors is settled by comparing values; what decides, keeps, asks for something outside or runs by itself is listed.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..artifacts import STATE, Gap, ProjectConversion, load
from ..errors import MindferryError
from ..files import read_regular
from .code_traits import COUNTED, Kind, Trait, imports_of, traits_of
from .edited_lines import edited_lines
from .reached_code import Piece, reached

MOST = 300  # files of a project that was written by hand


def gaps_of_edits(reference: Path | None, converted: Path, models: Iterable[str]) -> list[Gap]:
    """Of a converted folder, beside what a conversion of `reference` would write now."""
    texts = _texts(converted)
    record = _record(converted)
    touched = {path for path in texts if record.get(path) != hashlib.sha256(texts[path].encode("utf-8", "surrogateescape")).hexdigest()}
    if reference is None or not touched or len(texts) > MOST and not record:
        return []
    anew = _anew(reference, converted)
    roots = _names(models)
    if not anew:
        return []
    return [*_differences(anew, texts, roots, touched, is_edited=bool(record))]


def gaps_of_texts(reference: Mapping[str, str], texts: Mapping[str, str], roots: Iterable[str]) -> list[Gap]:
    """Of files that stand alone: torch's, and the conversion's."""
    from ..convert import convert_source

    try:
        anew = {name: convert_source(text).main for name, text in reference.items()}
    except MindferryError:
        return []
    return [*_differences(anew, texts, roots, set(texts), is_edited=False)]


def _differences(
    anew: Mapping[str, str], texts: Mapping[str, str], roots: Iterable[str], touched: set[str], is_edited: bool
) -> Iterator[Gap]:
    roots = list(roots)
    ours = [piece for piece in reached(texts, roots) if piece.file in touched]
    theirs = [piece for piece in reached(anew, roots) if piece.file in touched or not is_edited]
    if not theirs:
        return
    lines: dict[tuple[str, int], str] = {}
    for trait in _only_here(_traits(theirs, anew), _traits(ours, texts)):
        lines.setdefault((trait.file, trait.line), f"{trait.kind.value} (`{trait.text[:80]}`)")
    if is_edited:
        for piece, line, what in edited_lines(theirs, ours):
            lines.setdefault((piece.file, line), what)
    for (file, line), what in sorted(lines.items()):
        why = f"{what}, and what mindferry writes does nothing of the kind: the inputs may not have shown what it does"
        yield Gap("edit", f"{Path(file).name} line {line}", "not comparable", why)


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
            found["/".join(parts)] = read_regular(path).decode("utf-8", "surrogateescape")
    return found


def _record(converted: Path) -> dict[str, str]:
    if not (converted / STATE / "convert.json").is_file():
        return {}
    return {each.path: each.digest for each in load(ProjectConversion, converted, "convert").files}


def _anew(reference: Path, converted: Path) -> dict[str, str]:
    from ..convert import convert_project

    texts: dict[str, bytes] = {}
    try:
        convert_project(reference, converted, check=True, texts=texts)
    except MindferryError:
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
