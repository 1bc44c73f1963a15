"""One project through every stage: converted, imported without torch, its models compared, its scripts run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mindferry.errors import MindferryError
from mindferry.frameworks.process import Worker, WorkerError, settings

from .imports import import_all, importable_files
from .listed import Model, Project, Script
from .models import FORWARD
from .obtain import NotHad, needs, obtain

SILENCE = 240.0  # seconds without a word from a model
MINUTES = 10  # for a conversion or a script


@dataclass(slots=True)
class Outcome:
    """What became of one thing: a module, a model, a script."""

    what: str
    result: str  # right, wrong, fails, "not comparable"
    why: str = ""
    place: str = ""  # file:line in the conversion
    is_named: bool = True  # whether a finding of the conversion speaks of that file, or the message is a finding's own


@dataclass(slots=True)
class Row:
    name: str
    area: str
    origin: str
    missing: str = ""  # why it could not be had
    commit: str = ""  # of mindferry, when the project was measured
    exit_code: int = -1
    files: int = 0
    errors: int = 0
    broken_files: list[str] = field(default_factory=list)  # MF901
    seconds: float = 0.0
    modules: list[Outcome] = field(default_factory=list)
    models: list[Outcome] = field(default_factory=list)
    scripts: list[Outcome] = field(default_factory=list)

    @property
    def outcomes(self) -> list[Outcome]:
        return [*self.modules, *self.models, *self.scripts]

    @property
    def is_clean_but_broken(self) -> bool:
        return self.exit_code == 0 and any(each.result in ("wrong", "fails") for each in self.outcomes)

    @property
    def imports_whole(self) -> bool:
        return self.exit_code in (0, 1) and all(each.result != "fails" for each in self.modules)


def as_json(row: Row) -> dict[str, Any]:
    return asdict(row)


def from_json(body: dict[str, Any]) -> Row:
    lists: dict[str, Any] = {
        key: [Outcome(**each) for each in body.pop(key)] for key in ("modules", "models", "scripts")
    }
    return Row(**body, **lists)


def measure(project: Project, folder: Path, clones: Path | None, say: Callable[[str], None], stages: set[str]) -> Row:
    row = Row(project.name, project.field, project.origin, commit=_commit())
    try:
        source = obtain(project, folder, clones)
    except NotHad as error:
        row.missing = str(error)
        return row
    output = folder / project.name / "converted"
    say("converting")
    paths = needs(project, folder)
    findings = _convert(source, output, paths, row)
    if "imports" in stages and row.exit_code in (0, 1):
        say("importing")
        row.modules = _import(source, output, paths, findings)
    if not output.is_dir():
        return row
    for number, model in enumerate(project.models if "models" in stages else (), 1):
        say(f"model {number} of {len(project.models)}: {model.code[-60:]}")
        row.models.append(_model(model, source, output, paths, findings))
    for script in project.scripts if "scripts" in stages else ():
        say(f"script {' '.join(script.command)}")
        row.scripts.append(_script(script, source, output, paths, findings))
    return row


def _commit() -> str:
    """Which mindferry is measured; with a plus sign where the tree has changes that are not committed."""
    here = ["git", "-C", str(Path(__file__).parent)]
    head = subprocess.run([*here, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True)
    changed = subprocess.run([*here, "status", "--porcelain", "--", "../src"], capture_output=True, text=True)
    return head.stdout.strip() + ("+" if changed.stdout.strip() else "")


def _convert(source: Path, output: Path, paths: list[str], row: Row) -> dict[str, list[int]]:
    """Convert by the command, as a user would; file -> lines that an error or a warning speaks of."""
    shutil.rmtree(output, ignore_errors=True)
    began = time.monotonic()
    command = [sys.executable, "-m", "mindferry", "convert", str(source), "-o", str(output), "--json"]
    try:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), *paths])}
        done = subprocess.run(command, capture_output=True, text=True, timeout=MINUTES * 60, env=environment)
    except subprocess.TimeoutExpired:
        row.exit_code = 124
        return {}
    row.seconds, row.exit_code = round(time.monotonic() - began, 1), done.returncode
    try:
        body = json.loads(done.stdout)
    except ValueError:
        return {}
    spoken: dict[str, list[int]] = {}
    for file in body["files"]:
        row.files += file["status"] != "copied"
        for finding in file["findings"]:
            row.errors += finding["severity"] == "error"
            if finding["severity"] != "note":
                spoken.setdefault(file["path"], []).append(finding["line"])
            if finding["code"] == "MF901":
                row.broken_files.append(file["path"])
    return spoken


def _import(source: Path, output: Path, paths: list[str], findings: dict[str, list[int]]) -> list[Outcome]:
    files = importable_files(source)
    before = import_all("torch", source, files, paths)
    files = [file for file in files if not before[file].error]
    after = import_all("mindspore", output, files, paths)
    rows = []
    for file in files:
        found = after[file]
        named = _is_named(found.error, found.place, findings)
        rows.append(Outcome(file, "fails" if found.error else "right", found.error, found.place, named))
    return rows


def _is_named(error: str, place: str, findings: dict[str, list[int]]) -> bool:
    return not error or "mindferry" in error or place.rpartition(":")[0] in findings


def _model(model: Model, source: Path, output: Path, paths: list[str], findings: dict[str, list[int]]) -> Outcome:
    environment = {"PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])}
    with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
        payload: dict[str, Any] = {"code": model.code, "inputs": list(model.inputs), "folder": folder}
        try:
            with Worker("torch", source / model.at, silence=SILENCE, environment=environment) as worker:
                found = worker.call("corpus.models:reference", payload)
        except MindferryError as error:
            return Outcome(model.code, "not comparable", f"the original: {_told(error)}")
        if "refused" in found:
            return Outcome(model.code, "not comparable", found["refused"])
        try:
            with Worker("mindspore", output / model.at, silence=SILENCE, environment=environment) as worker:
                result = worker.call("corpus.models:converted", {**payload, **found})
        except MindferryError as error:
            log = error.log if isinstance(error, WorkerError) else ""
            place = _place(log, output)
            return Outcome(model.code, "fails", _told(error), place, _is_named(_told(error), place, findings))
    if result["forward"] <= FORWARD and result["gradient"] <= result["limit"]:
        return Outcome(model.code, "right", f"forward {result['forward']:.1e}, gradient {result['gradient']:.1e}")
    why = f"forward {result['forward']:.1e}" if not result["forward"] <= FORWARD else ""
    why = why or f"gradient {result['gradient']:.1e} of {result['worst']}"
    return Outcome(model.code, "wrong", why, is_named=False)


def _told(error: MindferryError) -> str:
    return " ".join(str(error).split())[:300]


def _place(log: str, output: Path) -> str:
    """The last line of a traceback that lies in the conversion."""
    root = str(output.resolve())
    lines = [m for m in re.finditer(r'File "([^"]+)", line (\d+)', log) if root in m[1] or "/cwd/" in m[1]]
    if not lines:
        return ""
    name = lines[-1][1]
    relative = os.path.relpath(name, root) if root in name else name.rpartition("/cwd/")[2]
    return f"{relative}:{lines[-1][2]}"


def _script(script: Script, source: Path, output: Path, paths: list[str], findings: dict[str, list[int]]) -> Outcome:
    """It must end as the original ends: same exit code, on its own data and random numbers."""
    name = " ".join(script.command)
    code, told = _run(script, source, paths, "torch")
    if code != 0:
        return Outcome(name, "not comparable", f"the original ends with {code}: {told[-200:]}")
    code, told = _run(script, output, paths, "mindspore")
    if code == 0:
        return Outcome(name, "right")
    place = _place(told, output)
    last = told.strip().splitlines()[-1:] or [""]
    return Outcome(name, "fails", f"ends with {code}: {last[0][:300]}", place, _is_named(last[0], place, findings))


def _run(script: Script, root: Path, paths: list[str], framework: str) -> tuple[int, str]:
    environment = {**os.environ, **settings(framework), "PYTHONDONTWRITEBYTECODE": "1"}
    block = [str(Path(__file__).parent / "without_torch")] if framework == "mindspore" else []
    environment["PYTHONPATH"] = os.pathsep.join([*block, *paths, environment.get("PYTHONPATH", "")])
    command = [sys.executable, *script.command]
    try:
        done = subprocess.run(
            command,
            cwd=root / script.at,
            env=environment,
            capture_output=True,
            text=True,
            timeout=MINUTES * 60,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return 124, f"did not end in {MINUTES} minutes"
    return done.returncode, done.stderr
