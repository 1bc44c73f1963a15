"""First contact: which commands a project seems to be run with, best first, from what it says about itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..foreign import text_of, toml_at
from ..layout import Layout, find_files

FENCE = re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL)
RUNS = re.compile(r"^\s*(?:\$\s+)?((?:[A-Z_]+=\S+\s+)*(?:python3?|torchrun|accelerate launch)\s+\S.*)$", re.MULTILINE)
RECIPE = re.compile(r"^\t@?(?:-)?((?:python3?|torchrun)\s+\S.*)$", re.MULTILINE)
INDENTED = re.compile(r"^(?: {4}|\t)(?:\$\s+)?((?:python3?|torchrun)\s+\S.*)$", re.MULTILINE)
WORTH = {"README": 40, "Makefile": 30, "entry point": 25, "script": 20, "notebook": 10}
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Proposal:
    """A command, and where it was found."""

    command: str
    found_in: str
    worth: int


def propose_commands(project: Path, limit: int = 5) -> list[Proposal]:
    layout = find_files(project, ())
    best: dict[str, Proposal] = {}
    for each in (
        *_readmes(layout),
        *_makefiles(layout),
        *_entry_points(layout),
        *_scripts(layout),
        *_notebooks(layout),
    ):
        known = best.get(each.command)
        if known is None or each.worth > known.worth:
            best[each.command] = each
    return sorted(best.values(), key=lambda each: -each.worth)[:limit]


def _proposal(command: str, place: str, kind: str, layout: Layout) -> Proposal | None:
    """A command that runs something of the project; one that trains is worth most."""
    words = command.split("#")[0].strip().rstrip("\\").split()
    if not words or len(command) > LONGEST or any(mark in command for mark in ("pip ", "setup.py", "venv", "<", "...")):
        return None
    target = _target(words, layout)
    if target is None:
        return None
    name = target.lower()
    worth = WORTH[kind] + 30 * ("train" in name) + 15 * (name.rpartition("/")[2] in ("main.py", "run.py"))
    worth -= 20 * any(part in name for part in ("test", "eval", "setup", "download", "plot", "convert", "export"))
    return Proposal(" ".join(words), place, worth - name.count("/"))


def _target(words: list[str], layout: Layout) -> str | None:
    """The file of the project that a command runs."""
    paths = {file.relative for file in layout.files}
    if "-m" in words[:-1]:
        path = words[words.index("-m") + 1].replace(".", "/")
        return next((each for each in (f"{path}.py", f"{path}/__main__.py") if each in paths), None)
    return next((word for word in words if word.removeprefix("./") in paths and word.endswith((".py", ".ipynb"))), None)


def _readmes(layout: Layout) -> Iterator[Proposal]:
    for file in layout.files:
        if re.fullmatch(r"readme(?:\.\w+)?", file.path.name, re.IGNORECASE):
            text = text_of(file.path).replace("\\\n", " ")
            lines = [line for block in FENCE.findall(text) for line in RUNS.findall(block)]
            for line in (*lines, *INDENTED.findall(text), *re.findall(r"`((?:python3?|torchrun) [^`\n]+)`", text)):
                made = _proposal(line, file.relative, "README", layout)
                yield from [made] if made else []


def _makefiles(layout: Layout) -> Iterator[Proposal]:
    for file in layout.files:
        if file.path.name == "Makefile" or file.path.suffix == ".sh":
            found = RECIPE if file.path.name == "Makefile" else RUNS
            for line in found.findall(text_of(file.path).replace("\\\n", " ")):
                made = None if "$" in line else _proposal(line, file.relative, "Makefile", layout)
                yield from [made] if made else []


def _entry_points(layout: Layout) -> Iterator[Proposal]:
    for file in layout.files:
        if file.relative == "pyproject.toml":
            scripts = toml_at(text_of(file.path), "project", "scripts")
            for target in scripts.values() if isinstance(scripts, dict) else ():
                made = _proposal(f"python -m {str(target).partition(':')[0]}", file.relative, "entry point", layout)
                yield from [made] if made else []


def _scripts(layout: Layout) -> Iterator[Proposal]:
    for file in layout.python:
        text = text_of(file.path)
        is_script = "__main__" in text or (".backward(" in text and "def " not in text)
        if is_script and not file.path.name.startswith("test_"):
            packaged = "from ." in text and "/" in file.relative
            command = f"python -m {file.module}" if packaged else f"python {file.relative}"
            made = _proposal(command, file.relative, "script", layout)
            yield from [made] if made else []


def _notebooks(layout: Layout) -> Iterator[Proposal]:
    for file in layout.files:
        if file.path.suffix == ".ipynb" and "torch" in text_of(file.path):
            yield Proposal(file.relative, file.relative, WORTH["notebook"])
