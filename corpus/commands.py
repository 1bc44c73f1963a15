"""`python -m corpus.commands [--clones FOLDER] [--only NAME …] [--again]`: public projects, migrated by their own command.

For each entry of commands.toml: a fresh copy of the project, made-up data where its script reads some, then
`mindferry migrate PROJECT -o OUT -- COMMAND` as a user would type it, without a toml. Results are kept in
build/commands/results.jsonl as they come, and a second run goes on where the first one stopped;
docs/reference/migrated.md is written from them.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

from mindferry import artifacts
from mindferry.artifacts import STATE, ProjectConversion
from mindferry.observation import load_observation

from .listed import Project, projects
from .made_up import make
from .obtain import NotHad, install, needs, obtain

LIST = Path(__file__).parent / "commands.toml"
PAGE = Path("docs/reference/migrated.md")
LONGEST = 900.0  # seconds for a migration
MISSED = "Not covered by this run: "
DECLARED = """import torch as _torch

_library = _torch.library.Library("torchvision", "FRAGMENT")
for _name in ("nms", "qnms"):
    _library.define(f"{_name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One command: `at` is the folder that is migrated, `data` made-up files by their place in it."""

    name: str
    project: str
    command: str
    at: str = ""
    steps: int = 8
    data: dict[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()  # packages that it imports, none of which needs torch
    mend: dict[str, str] = field(
        default_factory=dict
    )  # what a script too old for today's torch or numpy says -> what it has to


class Versioned(Protocol):
    @property
    def version(self) -> str: ...


@dataclass(slots=True)
class Row:
    name: str
    command: str
    origin: str = ""
    missing: str = ""  # why it could not be tried
    exit_code: int = -1
    seconds: float = 0.0
    verdict: str = ""
    missed: str = ""  # what the run did not reach
    stages: list[str] = field(default_factory=list)
    left: int = 0  # errors that the conversion names
    unclear: int = 0  # places on lines that ran whose type the text does not tell
    unresolved: int = 0  # of these, still so after the run was watched
    crash: str = ""  # a defect of ours
    version: str = ""  # the commit of mindferry that did it

    @property
    def is_same(self) -> bool:
        return self.exit_code == 0 and not self.crash

    @property
    def is_partial(self) -> bool:
        return self.exit_code == 4 and not self.crash


def entries() -> list[Entry]:
    body = tomllib.loads(LIST.read_text("utf-8"))
    return [Entry(name, **{**each, "needs": tuple(each.get("needs", ()))}) for name, each in body.items()]


def migrate(entry: Entry, project: Project, folder: Path, clones: Path | None) -> Row:
    row = Row(entry.name, entry.command, project.origin, version=commit_here())
    home = folder / "tried" / entry.name.replace("/", "_")
    shutil.rmtree(home, ignore_errors=True)
    try:
        shutil.copytree(obtain(project, folder / "projects", clones), home / "source")
    except NotHad as error:
        row.missing = str(error)
        return row
    source = home / "source" / entry.at
    for place, kind in entry.data.items():
        make(kind, source / place)
    for file in source.rglob("*.py") if entry.mend else ():
        text = file.read_text("utf-8")
        for old, new in entry.mend.items():
            text = text.replace(old, new)
        file.write_text(text)
    words = ["-m", "mindferry", "migrate", str(source), "-o", str(home / "out"), "--steps", str(entry.steps), "--"]
    path = [*needs(project, folder / "projects"), *_site(folder, entry.needs)]
    path += [str(Path(each).resolve()) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "MPLBACKEND": "Agg"}
    started = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, *words, *shlex.split(entry.command)],
            capture_output=True,
            text=True,
            timeout=LONGEST,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        row.missing = f"not done after {LONGEST:.0f} s"
        return row
    row.seconds, row.exit_code = time.monotonic() - started, done.returncode
    (home / "log.txt").write_text(done.stdout + done.stderr)
    _read(row, done.stdout, done.stderr, home / "out")
    return row


def commit_here() -> str:
    asked = ["git", "-C", str(LIST.parent), "rev-parse", "--short=10", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True).stdout.strip()


def _site(folder: Path, wanted: tuple[str, ...]) -> list[str]:
    """Packages that scripts import: installed once, each in a folder of its own; torchvision so that it can be imported."""
    found = [folder / "site" / "torchvision"]
    mend_torchvision(found[0])
    for name in wanted:
        found.append(folder / "site" / name)
        if not found[-1].is_dir():
            install([name], found[-1])
    return [str(each) for each in found]


def mend_torchvision(target: Path) -> None:
    """A wheel beside a CPU-only torch lacks its compiled operators, and can't be imported unless they are declared."""
    if target.is_dir():
        return
    target.mkdir(parents=True)
    home = importlib.util.find_spec("torch")
    installed = Path(str(home.origin)).parent.parent / "torchvision" if home else Path()
    if any(installed.glob("_C.*")) and not _fails("torchvision"):
        return
    shutil.copytree(installed, target / "torchvision")
    (target / "torchvision.dist-info").mkdir()  # so that it counts as installed, and not as the project's
    init = target / "torchvision" / "__init__.py"
    init.write_text(DECLARED + init.read_text("utf-8"))


def _fails(name: str) -> bool:
    return subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode != 0


def _read(row: Row, stdout: str, stderr: str, output: Path) -> None:
    lines = [line.rstrip() for line in stdout.splitlines() if line.strip()]
    row.stages = [line for line in lines if re.match(r"(ok  |part|look) \w", line)]
    told = [line for line in lines if line not in row.stages and not line.startswith("report: ")]
    row.missed = next((line for line in told if line.startswith(MISSED)), "")
    row.verdict = " ".join([line for line in told if line != row.missed][-1:])
    if row.exit_code not in (0, 1, 4):
        row.verdict = " ".join(stderr.strip().splitlines()[-1:])
        row.crash = "" if row.exit_code == 2 else row.verdict
        return
    conversion = artifacts.load(ProjectConversion, output, "convert")
    row.left = sum(each.severity == "error" for each in conversion.findings)
    broken = [each for each in conversion.findings if each.code == "MF901"]
    row.crash = f"MF901 in {broken[0].path}: {broken[0].message}" if broken else ""
    lines_reached = {file.path: set(file.lines) for file in load_observation(output / STATE / "observed.zip").files}
    for file in conversion.files:
        ran = lines_reached.get(file.path, set())
        sites = [site for site in file.sites if site.line in ran and site.receiver != "proven"]
        row.unclear += len(sites)
        row.unresolved += sum(site.receiver != "observed" for site in sites)


def summary(rows: list[Row]) -> list[str]:
    tried = [row for row in rows if not row.missing]
    unclear, unresolved = sum(row.unclear for row in tried), sum(row.unresolved for row in tried)
    share = f" ({100 * (unclear - unresolved) / unclear:.0f} % resolved)" if unclear else ""
    return [
        f"commands tried: {len(tried)} of {max(len(rows), len(entries()))} listed",
        f"behave like the original: {sum(row.is_same for row in tried)}",
        f"the same as far as compared: {sum(row.is_partial for row in tried)}",
        f"named by a finding or a verdict: {sum(row.exit_code == 1 and not row.crash for row in tried)}",
        f"the command itself could not run here: {sum(row.exit_code == 2 for row in tried)}",
        f"defects of ours (a traceback, MF901): {sum(bool(row.crash) for row in tried)}",
        f"measured at commit {commits_of(tried)}",
        f"unclear places on lines that ran: {unclear} before the watched run, {unresolved} after it{share}",
    ]


def commits_of(rows: Sequence[Versioned]) -> str:
    """Each commit, and how many rows are its; the newest first."""
    counts = Counter(row.version or "an earlier one" for row in rows)
    asked = ["git", "-C", str(LIST.parent), "log", "--format=%h", "--abbrev=10", "-n", "2000"]
    order = subprocess.run(asked, capture_output=True, text=True).stdout.split()
    known = sorted(counts, key=lambda each: order.index(each) if each in order else len(order))
    return ", ".join(f"{each} ({counts[each]})" for each in known)


def write_page(rows: list[Row]) -> None:
    PAGE.with_suffix(".json").write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    lines = [
        "# Public projects, migrated by their own command",
        "",
        "Generated by `python -m corpus.commands`. Each project is migrated as a new user would do it:",
        "`mindferry migrate PROJECT -o OUT -- COMMAND`, no toml, on data that was made up in the format that the script reads.",
        "Where a script is too old for today's torch or numpy, the word that stops it is changed first, as its message says",
        f"({sum(bool(each.mend) for each in entries())} of them). The time is from the clone to the verdict, on two shared cores.",
        "",
        *(f"- {line}" for line in summary(rows)),
        "",
        "| project | command | seconds | exit code | left | unclear, before and after | commit | verdict |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        verdict = row.missing or row.crash or row.verdict
        lines.append(
            f"| {row.name} | `{row.command}` | {row.seconds:.0f} | {row.exit_code} | {row.left} "
            f"| {row.unclear} → {row.unresolved} | {row.version[:10] or 'an earlier one'} | {_cell(verdict)} |"
        )
    lines += ["", "## Stages", ""]
    for row in rows:
        if row.stages:
            lines += [f"### {row.name}", "", "```", *(line[:200] for line in row.stages), "```", ""]
            lines += [row.missed, ""] if row.missed else []
    PAGE.write_text("\n".join(lines))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")[:300]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m corpus.commands", description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("build/commands"), help="where everything is kept")
    parser.add_argument("--clones", type=Path, help="a folder of clones: owner+name/repo or owner/name")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="these commands, again")
    parser.add_argument("--again", action="store_true", help="all anew")
    parser.add_argument("--page", action="store_true", help="only write the page from what is known")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "results.jsonl"
    known = results.read_text("utf-8").splitlines() if results.exists() and not options.again else []
    homes = {project.name: project for project in projects()}
    every = entries()
    asked = {(entry.name, entry.command) for entry in every}  # what was found by another command is forgotten
    found = (Row(**json.loads(line)) for line in known)
    rows = {row.name: row for row in found if (row.name, row.command) in asked}
    wanted = [each for each in every if (each.name in options.only if options.only else each.name not in rows)]
    for number, entry in enumerate([] if options.page else wanted, 1):
        row = migrate(entry, homes[entry.project], folder, options.clones)
        rows[entry.name] = row
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row)) + "\n")
        said = row.missing or row.crash or row.verdict
        print(
            f"{number}/{len(wanted)} {entry.name}: {row.seconds:.0f} s, exit {row.exit_code}: {said}", file=sys.stderr
        )
    ordered = [rows[each.name] for each in every if each.name in rows]
    write_page(ordered)
    print("\n".join(summary(ordered)))


if __name__ == "__main__":
    main()
