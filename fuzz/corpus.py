"""Convert real files and look at what comes out: `python fuzz/corpus.py SITE_FOLDER... --files 5000`.

A file without torch stays byte for byte. One with torch keeps every comment and compiles. The folders are those of
installed packages, such as a virtual environment's site-packages; nothing in them is imported.
"""

from __future__ import annotations

import argparse
import io
import random
import re
import sys
import time
import tokenize
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from mindferry.convert.one_file import convert_one
from mindferry.convert.pool import quietly
from mindferry.convert.settings import Settings
from mindferry.convert.snippet import framework
from mindferry.layout import FRAMEWORKS, Layout, ProjectFile, mentions_torch
from mindferry.read.symbols import Symbols

SLOW = 60.0  # seconds of the processor's for one file
_IMPORTS = re.compile(rf"^\s*(?:from|import)\s+(?:{'|'.join(FRAMEWORKS)})\b".encode(), re.MULTILINE)
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


def attempt(path: Path, root: Path) -> str:
    """`converted`, `unchanged`, `refused`, or what went wrong."""
    relative = path.relative_to(root).as_posix()
    file = ProjectFile(path, relative, relative.removesuffix(".py").replace("/", "."))
    raw = path.read_bytes()
    has_torch = mentions_torch(path) and _IMPORTS.search(raw) is not None
    start = time.process_time()
    with quietly():
        written = convert_one(file, Layout(root, (file,), ()), Symbols(framework()), Settings())
    seconds, data, status = time.process_time() - start, written.content(), written.record.status
    if seconds > SLOW:
        return f"took {seconds:.0f} s for {len(raw)} bytes"
    if any(finding.code == "MF901" for finding in written.record.findings):
        return f"failed: {next(f.message for f in written.record.findings if f.code == 'MF901')}"
    if status == "failed":
        return "refused" if data == raw else "refused, and changed"
    if not has_torch and not _OF_NETWORKS.search(raw):
        return "unchanged" if data == raw else "changed although it has no torch"
    if data == raw:
        return "unchanged"
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        before, after = raw.decode(encoding), data.decode(encoding)
        compile(data, str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return f"does not compile: {error}"
    gone = lost(before, after)
    return f"lost {gone[:3]}" if gone else "converted"


def check(folders: list[Path], files: int, seed: int, say: Callable[[str], None] = print) -> int:
    warnings.simplefilter("ignore")
    chosen = list(sources(folders))
    if files < len(chosen):
        chosen = random.Random(seed).sample(chosen, files)
    counts: Counter[str] = Counter()
    for path in chosen:
        root = next(folder for folder in folders if path.is_relative_to(folder))
        outcome = attempt(path, root)
        is_sound = outcome in ("converted", "unchanged", "refused")
        counts[outcome if is_sound else "failed"] += 1
        if not is_sound:
            say(f"{path}: {outcome}")
    say(f"{counts.total()} files: {dict(counts)}; seed {seed}")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sys.exit(check(options.folders, options.files, options.seed))
