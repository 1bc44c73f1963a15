"""Convert real files and look at what comes out: `python fuzz/corpus.py SITE_FOLDER... --files 5000 --page PAGE.md`.

A file without torch stays byte for byte. One with torch keeps every comment and compiles. The folders are those of
installed packages, such as a virtual environment's site-packages; nothing in them is imported. --files is how many are
taken of either sort, by a seed; --page writes what came out, a row for each package.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import random
import re
import sys
import time
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mindferry.apis.torch._packages import need_of_torch
from mindferry.convert.one_file import convert_one
from mindferry.convert.pool import quietly
from mindferry.convert.settings import Settings
from mindferry.convert.snippet import framework
from mindferry.errors import MindferryError
from mindferry.layout import FRAMEWORKS, Layout, ProjectFile, Sources
from mindferry.read.source import Source
from mindferry.read.symbols import Symbols

SLOW = 60.0  # seconds of the processor's for one file
_IMPORTS = re.compile(rf"^\s*(?:from|import)\s+(?:{'|'.join(FRAMEWORKS)})\b".encode(), re.MULTILINE)
_IMPORTED = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(\w+)", re.MULTILINE)
# A file without torch that calls one of these is given a network, and is converted.
_OF_NETWORKS = re.compile(rf"\.(?:{'|'.join(sorted(framework().members.of_networks))})\(".encode())


def sources(folders: list[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in sorted(folder.rglob("*.py")) if path.is_file() and not path.is_symlink())


def comments(text: str) -> Counter[str]:
    found: Counter[str] = Counter()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.COMMENT:
                found[token.string.rstrip()] += 1
    except (tokenize.TokenError, SyntaxError):
        pass
    return found


def lost(before: str, after: str) -> list[str]:
    """Comments of `before` that `after` has not, also not behind code that became a comment itself."""
    left = comments(after)
    missing = comments(before) - left
    inside = Counter({text: sum(other.count(text) for other in left if other != text) for text in missing})
    return [text for text in missing if missing[text] > inside[text]]


def has_torch(raw: bytes) -> bool:
    """Whether a file names torch in its code, imports a package that stands on it, or calls what only a network has."""
    if _IMPORTS.search(raw) is not None or _OF_NETWORKS.search(raw) is not None:
        return True
    if any(need_of_torch(name.decode()) is not None for name in set(_IMPORTED.findall(raw))):
        return True
    try:
        return b"torch" in raw and Source(raw).mentions("torch")
    except MindferryError:
        return False


def attempt(path: Path, root: Path) -> str:
    """`converted`, `unchanged`, `refused`, or what went wrong."""
    relative = path.relative_to(root).as_posix()
    file = ProjectFile(path, relative, relative.removesuffix(".py").replace("/", "."))
    raw = path.read_bytes()
    start = time.process_time()
    with quietly():
        symbols = Symbols(framework())
        symbols.roots |= {file.module.partition(".")[0]}  # its own package is no framework
        written = convert_one(file, Layout(root, (file,), ()), symbols, Settings(), Sources())
    seconds, data, status = time.process_time() - start, written.content(), written.record.status
    if seconds > SLOW:
        return f"took {seconds:.0f} s for {len(raw)} bytes"
    if any(finding.code == "MF901" for finding in written.record.findings):
        return f"failed: {next(f.message for f in written.record.findings if f.code == 'MF901')}"
    if status == "failed":
        return "refused" if data == raw else "refused, and changed"
    if data == raw:
        return "unchanged"
    return _judged(raw, data, str(path)) if has_torch(raw) else "changed although it has no torch"


def _judged(raw: bytes, data: bytes, name: str) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        before, after = raw.decode(encoding), data.decode(encoding)
        compile(data, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return f"does not compile: {error}"
    gone = lost(before, after)
    return f"lost {gone[:3]}" if gone else "converted"


@dataclass(frozen=True, slots=True)
class Looked:
    """One file: the package that it is of, whether it has torch, and what came of it."""

    path: Path
    package: str
    has_torch: bool
    outcome: str

    @property
    def is_sound(self) -> bool:
        return self.outcome in ("converted", "unchanged", "refused")


def package_of(path: Path, root: Path) -> str:
    """`numpy==1.26.4`, after the metadata that lie beside the package."""
    folder = root / path.relative_to(root).parts[0]
    name = folder.stem.lower()
    if not (folder / "__init__.py").is_file() and folder.is_dir():  # a folder of one package that was fetched by itself
        found = sorted(folder.glob("*.dist-info"))
        return found[0].name.removesuffix(".dist-info").replace("-", "==") if found else folder.name
    found = [each for each in sorted(root.glob("*.dist-info")) if each.name.lower().split("-")[0] == name]
    return found[0].name.removesuffix(".dist-info").replace("-", "==") if found else folder.stem


def chosen(folders: list[Path], files: int, seed: int) -> list[tuple[Path, Path, bool]]:
    """(file, its folder, whether it has torch): as many of either sort, the same ones for the same seed."""
    sorts: dict[bool, list[tuple[Path, Path, bool]]] = {False: [], True: []}
    for folder in folders:
        for path in sources([folder]):
            kind = has_torch(path.read_bytes())
            sorts[kind].append((path, folder, kind))
    rng = random.Random(seed)
    taken = [each for group in sorts.values() for each in (rng.sample(group, files) if files < len(group) else group)]
    rng.shuffle(taken)  # so that a run that ends early has looked at both sorts
    return taken


def look(each: tuple[Path, Path, bool]) -> Looked:
    path, root, kind = each
    warnings.simplefilter("ignore")
    return Looked(path, package_of(path, root), kind, attempt(path, root))


def check(
    folders: list[Path],
    files: int,
    seed: int,
    workers: int,
    page: Path | None,
    seconds: float = float("inf"),
    say: Callable[[str], None] = print,
) -> int:
    looked = []
    end = time.monotonic() + seconds
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        for each in pool.imap(look, chosen(folders, files, seed), chunksize=8):
            looked.append(each)
            if not each.is_sound:
                say(f"{each.path}: {each.outcome}")
            if time.monotonic() > end:
                break
    for kind in (False, True):
        counts = Counter(each.outcome if each.is_sound else "failed" for each in looked if each.has_torch is kind)
        say(f"{counts.total()} files {'with' if kind else 'without'} torch: {dict(counts)}; seed {seed}")
    if page is not None:
        page.write_text(page_of(looked, seed), "utf-8")
    return 0 if all(each.is_sound for each in looked) else 1


def page_of(looked: list[Looked], seed: int) -> str:
    without = [each for each in looked if not each.has_torch]
    torch = [each for each in looked if each.has_torch]
    same = sum(each.outcome != "refused" and each.is_sound for each in without)
    refused = [each for each in looked if each.outcome == "refused"]
    lines = [
        "# Real files",
        "",
        f"Generated by `python fuzz/corpus.py FOLDERS --seed {seed} --page` from packages as PyPI has them. A file without torch must",
        "stay byte for byte; one with torch must compile and keep every comment. A file that this Python can't read stays as it is,",
        "with a finding.",
        "",
        f"- without torch: {len(without)} files, {same} byte-identical, {len(without) - same} unreadable and left alone",
        f"- with torch: {len(torch)} files, {sum(each.outcome == 'converted' for each in torch)} converted,"
        f" {sum(each.outcome == 'unchanged' for each in torch)} with nothing to convert",
        f"- changed, broken, or without one of their comments: {sum(not each.is_sound for each in looked)}",
        f"- unreadable: {len(refused)}",
        "",
        "| package | without torch | with torch | wrong |",
        "| --- | --- | --- | --- |",
    ]
    packages = sorted({each.package for each in looked}, key=str.lower)
    for name in packages:
        own = [each for each in looked if each.package == name]
        counts = sum(not each.has_torch for each in own), sum(each.has_torch for each in own)
        lines.append(f"| {name} | {counts[0]} | {counts[1]} | {sum(not each.is_sound for each in own) or ''} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end then, with what was looked at")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    sys.exit(check(options.folders, options.files, options.seed, options.workers, options.page, options.seconds))
