"""First contact: which commands a project seems to be run with, best first, from what it says about itself."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..foreign import text_of, toml_at
from ..layout import Layout, ProjectFile, find_files, mentions_source

FENCE = re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL)
RUNS = re.compile(r"^\s*(?:\$\s+)?((?:[A-Z_]+=\S+\s+)*(?:python3?|torchrun|accelerate launch)\s+\S.*)$", re.MULTILINE)
RECIPE = re.compile(r"^\t@?(?:-)?((?:python3?|torchrun)\s+\S.*)$", re.MULTILINE)
INDENTED = re.compile(r"^(?: {4}|\t)(?:\$\s+)?((?:python3?|torchrun)\s+\S.*)$", re.MULTILINE)
WORTH = {"README": 40, "Makefile": 30, "entry point": 25, "script": 20, "notebook": 10}
LONGEST = 200
BESIDE = "test eval setup download plot convert export preprocess prepare create submitit visual demo".split()
SELF_TESTS = {
    "data",
    "dataset",
    "datasets",
    "model",
    "models",
    "loss",
    "losses",
    "layers",
    "utils",
    "functions",
    "hubconf",
}
OPEN = re.compile(
    r"[{}$<]|\.\.\.|\[[^\]]* |\s(?:-h|--help)\b|--node_rank|pip |setup\.py|venv"
)  # nobody can run it as it stands
NOT_HERE = re.compile(r"\bpath/to/|/path/|https?://")
MANY = re.compile(r"--n(?:proc_per_node|odes)[ =](?!1\b)\S+|--gpu-ids \d+,|CUDA_VISIBLE_DEVICES=\d+,")
NO_TRAINING = re.compile(r"\s--?(?:no_?)?(?:test|eval|predict|sample|resume|render_only|notrain)\b|eval_")
RUNS_AT_TOP = re.compile(r"^(?:for|while)\b|^\w+ *= *[\w.]+\.parse_args\(|^[A-Za-z_]\w*\(", re.MULTILINE)
LEADS = re.compile(r"(?:main|run)(?:_\w+)?|\w+_main|__main__")  # what the file is called that runs the rest
TRAINS = re.compile(r"\.backward\(|\boptim\b|[Tt]rainer\b|\.fit\(")


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
    if not words or len(command) > LONGEST or OPEN.search(command):
        return None
    target = _target(words, layout)
    if target is None:
        return None
    name = target.lower()
    stem = name.rpartition("/")[2].removesuffix(".py")
    worth = WORTH[kind] + 30 * ("train" in name) + 15 * bool(LEADS.fullmatch(stem))
    worth += 8 * bool(TRAINS.search(text_of(layout.root / target)))
    worth -= 20 * any(part in name for part in BESIDE) + 20 * (stem in SELF_TESTS)
    worth -= (
        25 * bool(NOT_HERE.search(command)) + 12 * bool(MANY.search(command)) + 12 * bool(NO_TRAINING.search(command))
    )
    return Proposal(" ".join(words), place, worth - 3 * name.count("/"))


def _target(words: list[str], layout: Layout) -> str | None:
    """The file of the project that a command runs."""
    paths = {file.relative for file in layout.files}
    if "-m" in words[:-1]:
        path = words[words.index("-m") + 1].replace(".", "/")
        return next((each for each in (f"{path}.py", f"{path}/__main__.py") if each in paths), None)
    code = {file.relative for file in layout.files if file.is_code}
    return next((name for word in _quoted(words) if (name := word.removeprefix("./")) in code), None)


def _quoted(words: list[str]) -> list[str]:
    """The words as a shell has them: a file's name in quotes may hold blanks."""
    try:
        return shlex.split(" ".join(words))
    except ValueError:
        return words


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
        if not file.path.name.startswith(("test_", "setup.py", "conftest")) and _is_run(file, text):
            packaged = ("from ." in text and "/" in file.relative) or file.path.name == "__main__.py"
            module = file.module.removesuffix(".__main__")
            command = f"python -m {module}" if packaged else f"python {shlex.quote(file.relative)}"
            made = _proposal(command, file.relative, "script", layout)
            yield from [made] if made else []


def _is_run(file: ProjectFile, text: str) -> bool:
    """Whether it is a script: it says so, or does something at its top besides imports and definitions."""
    if "__main__" in text or file.path.name == "__main__.py":
        return True
    return mentions_source(file.path) and RUNS_AT_TOP.search(text) is not None


def _notebooks(layout: Layout) -> Iterator[Proposal]:
    for file in layout.files:
        if file.path.suffix == ".ipynb" and "torch" in text_of(file.path):
            yield Proposal(shlex.quote(file.relative), file.relative, WORTH["notebook"])
