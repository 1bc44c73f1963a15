"""`python -m corpus.silent [--only NAME …]`: shapes of code that once converted silently into something else, migrated again.

Each entry of silent.toml is a small project whose printed numbers are determined. It is migrated by its own command; then
what the original prints and what the conversion printed in its plain run are compared, whatever the verdict says.
docs/reference/silent.md is written from that: each is right, or named with file and line, or a defect. Results are kept
as they come, and a second run goes on where the first one stopped.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from mindferry import artifacts
from mindferry.artifacts import PlainRun, ProjectConversion
from mindferry.errors import MindferryError

from .commands import commit_here, commits_of, mend_torchvision

LIST = Path(__file__).parent / "silent.toml"
PAGE = Path("docs/reference/silent.md")
LONGEST = 600.0  # seconds for a migration
TOLERANCE = 1e-3  # of a printed number
NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?|-?\d+")
COMMON = '''"""First weights without random numbers."""
import torch


def fill(net):
    with torch.no_grad():
        for number, p in enumerate(net.parameters()):
            p.copy_(torch.sin(torch.arange(p.numel()).float() + number).view(p.shape) * 0.3)
'''


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    says: str  # what went wrong once
    files: dict[str, str]
    command: str = "python train.py"


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    says: str
    outcome: str  # right, named, silent, unnamed
    exit_code: int
    told: str  # the verdict, or the finding that names the place
    version: str = ""  # the commit of mindferry that did it

    @property
    def is_well(self) -> bool:
        return self.outcome in ("right", "named")


def entries() -> list[Entry]:
    return [Entry(name, **body) for name, body in tomllib.loads(LIST.read_text("utf-8")).items()]


def replay(entry: Entry, folder: Path) -> Row:
    home = folder / entry.name.replace(" ", "_")
    shutil.rmtree(home, ignore_errors=True)
    source, output = home / "project", home / "out"
    for path, text in {"common.py": COMMON, **entry.files}.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text(text.lstrip("\n"), "utf-8")
    environment = _environment(folder)
    asked = {"capture_output": True, "text": True, "timeout": LONGEST, "env": environment, "stdin": subprocess.DEVNULL}
    words = shlex.split(entry.command)
    theirs = subprocess.run([sys.executable, *words[1:]], cwd=source, **asked)  # type: ignore[call-overload]
    shutil.rmtree(home / "project" / "__pycache__", ignore_errors=True)
    command = [sys.executable, "-m", "mindferry", "migrate", str(source), "-o", str(output), "--", *words]
    done = subprocess.run(command, **asked)  # type: ignore[call-overload]
    (home / "log.txt").write_text(done.stdout + done.stderr)
    told = [
        line for line in done.stdout.splitlines() if line.strip() and not line.startswith(("report:", "Not covered"))
    ]
    verdict = told[-1] if told else (done.stderr.strip().splitlines() or ["no output"])[-1]
    place = _named_place(output)
    if done.returncode in (0, 4):  # what both print is compared here in any case
        difference = first_difference(theirs.stdout, _printed(output))
        outcome, verdict = ("silent", difference) if difference else ("right", verdict)
    else:
        outcome = "named" if done.returncode == 1 and place else "unnamed"
    return Row(entry.name, entry.says, outcome, done.returncode, place if outcome == "named" else verdict)


def first_difference(theirs: str, ours: str) -> str:
    """The first printed line that is not the same, numbers within the tolerance; '' if there is none."""
    pairs = [_lines(theirs), _lines(ours)]
    for a, b in zip(*pairs, strict=False):
        if not is_same_line(a, b):
            return f"the original prints {a!r}, the conversion {b!r}"
    return (
        ""
        if len(pairs[0]) == len(pairs[1])
        else f"{len(pairs[0])} lines are printed, by the conversion {len(pairs[1])}"
    )


def is_same_line(theirs: str, ours: str) -> bool:
    numbers = [[float(each) for each in NUMBER.findall(line)] for line in (theirs, ours)]
    words = [NUMBER.sub("#", line) for line in (theirs, ours)]
    is_close = all(math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for a, b in zip(*numbers, strict=False))
    return words[0].replace("torch.Size([#, #])", "(#, #)") == words[1] and is_close


def _lines(text: str) -> list[str]:
    own = text.partition("Exception ignored in")[0]  # MindSpore's words when the interpreter ends
    return [line.strip() for line in own.splitlines() if line.strip() and "WARNING" not in line]


def _printed(output: Path) -> str:
    try:
        return artifacts.load(PlainRun, output, "plain").output
    except MindferryError:
        return ""


def _named_place(output: Path) -> str:
    """file:line: what, of the first finding that stops the conversion from being the same."""
    found = []
    try:
        found += [
            each for each in artifacts.load(ProjectConversion, output, "convert").findings if each.severity == "error"
        ]
        run = artifacts.load(PlainRun, output, "plain")
        found += [run.finding] if run.finding is not None else []
    except MindferryError:
        pass
    return next((f"{each.path}:{each.line}: {each.message}" for each in found if each.path and each.line), "")


def _environment(folder: Path) -> dict[str, str]:
    site = folder / "site" / "torchvision"
    mend_torchvision(site)
    path = [
        str(site),
        *(str(Path(each).resolve()) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each),
    ]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1"}


def write_page(rows: list[Row]) -> None:
    PAGE.with_suffix(".json").write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    lines = [
        "# Shapes of code that once went wrong silently",
        "",
        "Generated by `python -m corpus.silent` from `corpus/silent.toml`. Each is a small project, migrated by its own command,",
        "`mindferry migrate PROJECT -o OUT -- python train.py`. *right*: the verdict is that the conversion behaves like the",
        "original (exit code 0), or that it is the same as far as compared (4; what was not compared is listed), and all that",
        f"both print agrees within {TOLERANCE:g}. *named*: a finding says file and line.",
        "`tests/convert/test_silent_shapes.py` runs the same projects, but those with torchvision or einops, in every test.",
        "",
        f"- replayed by `migrate`: {len(rows)} of {len(entries())} listed",
        f"- right: {sum(row.outcome == 'right' for row in rows)}",
        f"- named with file and line: {sum(row.outcome == 'named' for row in rows)}",
        f"- neither: {sum(not row.is_well for row in rows)}",
        f"- measured at commit {commits_of(rows)}",
        "",
        "| shape | what went wrong once | now | exit code | what is said |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        told = row.told.replace("|", "\\|").replace("\n", " ")[:240]
        lines.append(f"| {row.name} | {row.says} | {row.outcome} | {row.exit_code} | {told} |")
    PAGE.write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m corpus.silent", description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("build/silent"), help="where everything is kept")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="these, again")
    parser.add_argument("--again", action="store_true", help="all anew")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "results.jsonl"
    known = results.read_text("utf-8").splitlines() if results.exists() and not options.again else []
    rows = {row.name: row for row in (Row(**json.loads(line)) for line in known)}
    for entry in entries():
        if entry.name in options.only if options.only else entry.name not in rows:
            row = rows[entry.name] = replace(replay(entry, folder), version=commit_here())
            with results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(row)) + "\n")
            print(f"{row.name}: {row.outcome}, exit {row.exit_code}: {row.told[:200]}", file=sys.stderr)
    ordered = [rows[entry.name] for entry in entries() if entry.name in rows]
    write_page(ordered)
    print(f"{sum(row.is_well for row in ordered)} of {len(entries())} are right or named")


if __name__ == "__main__":
    main()
