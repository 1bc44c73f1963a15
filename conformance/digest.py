"""What the converter writes for code that lies here or is installed, as one digest a source: `python -m conformance.digest [--update] [NAME ...]`.

A change of the converter that is meant to change nothing shows that it did: the digests in tests/convert/digests.json stay.
One that is meant to change the output brings them up to date with `--update`, and says in the changelog why.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mindferry.artifacts import Finding
from mindferry.convert.project import convert_project
from mindferry.convert.snippet import convert_source

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests" / "convert" / "digests.json"
PROJECTS = ("tests/projects", "tests/trainers", "examples")
CORPUS = "tests/convert/left_alone"
PACKAGES = ("torchvision", "timm")
HEADER = "import numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


@dataclass(frozen=True, slots=True)
class Digest:
    """Of the text that was written, and of what was said about it."""

    code: str
    findings: str


def sources() -> dict[str, Callable[[], Digest]]:
    """Name -> how its digest is computed, for everything that is here; packages carry their version."""
    found: dict[str, Callable[[], Digest]] = {}
    for folder in PROJECTS:
        for path in sorted(each for each in (ROOT / folder).iterdir() if each.is_dir()):
            found[f"{folder}/{path.name}"] = lambda path=path: of_project(path)  # type: ignore[misc]
    found[CORPUS] = of_corpus
    for name in PACKAGES:
        if (home := _installed(name)) is not None:
            found[f"{name} {_version(name)}"] = lambda home=home: of_project(home)  # type: ignore[misc]
    return found


def of_project(path: Path) -> Digest:
    texts: dict[str, bytes] = {}
    result = convert_project(path, ROOT / "never written", check=True, texts=texts)
    return Digest(
        _hash(part for name in sorted(texts) for part in (name.encode(), texts[name])),
        _hash(_line(each) for file in result.files for each in file.findings),
    )


def of_corpus() -> Digest:
    """Each piece of the left-alone corpus, converted by itself."""
    made = [convert_source(text) for text in pieces()]
    return Digest(
        _hash(each.code.encode("utf-8", "surrogateescape") for each in made),
        _hash(_line(finding) for each in made for finding in each.findings),
    )


def pieces() -> Iterator[str]:
    for path in sorted((ROOT / CORPUS).glob("*.txt")):
        for block in path.read_text("utf-8").split("### ")[1:]:
            name, _, code = block.partition("\n")
            yield code if name.startswith("own imports:") else HEADER + code


def recorded() -> dict[str, Digest]:
    return {name: Digest(**each) for name, each in json.loads(RECORD.read_text("utf-8")).items()}


def main(arguments: list[str]) -> int:
    names = [each for each in arguments if not each.startswith("-")]
    known = recorded() if RECORD.is_file() else {}
    differing = 0
    for name, compute in sources().items():
        if names and not any(each in name for each in names):
            continue
        now, before = compute(), known.get(name)
        differing += now != before
        print(f"{_judge(now, before):<8} {name}", flush=True)
        known[name] = now
    if "--update" in arguments:
        record = {name: {"code": each.code, "findings": each.findings} for name, each in sorted(known.items())}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
        return 0
    return 1 if differing else 0


def _judge(now: Digest, before: Digest | None) -> str:
    if before is None:
        return "new"
    if now == before:
        return "same"
    return "CODE" if now.code != before.code else "findings"


def _installed(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def _version(name: str) -> str:
    from importlib.metadata import version

    return version(name)


def _line(finding: Finding) -> bytes:
    place = f"{finding.path}:{finding.line}:{finding.column}"
    return f"{place} {finding.code} {finding.severity} {finding.message} {finding.advice} {finding.rule}".encode()


def _hash(parts: Iterator[bytes]) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "big") + part)
    return found.hexdigest()[:32]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
