"""Every stage in one go. What a stage needs is digested, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import artifacts
from .artifacts import STATE, Comparison, Curves, Inventory, PlainRun, ProjectConversion, WeightsReport
from .config import Config, read_config
from .errors import MindferryError
from .files import write_text
from .layout import find_files
from .progress import progress

if TYPE_CHECKING:
    from .verify.data import Pipelines

REFERENCE = f"{STATE}/reference"  # where the reference runs when it has to make its weights


@dataclass(frozen=True, slots=True)
class Outcome:
    """One stage's line in the summary."""

    stage: str
    ok: bool
    summary: str
    seconds: float
    is_fresh: bool  # False: an earlier run had done it already
    could_not_run: bool = False


@dataclass(frozen=True, slots=True)
class NotDone:
    """A stage that needs to be told something, and the lines that would tell it."""

    what: str
    lines: tuple[str, ...]


@dataclass(slots=True)
class Migration:
    project: Path
    output: Path
    config: Config
    key: str = ""  # digest of everything that the stages so far depended on

    @property
    def weights(self) -> Path | None:
        """The reference's checkpoint: the user's own, or the one made on request."""
        name = self.config.weights.file
        if not name:
            return None
        own = self.project / name
        return own if own.is_file() else self.output / REFERENCE / name

    @property
    def converted_weights(self) -> str:
        return Path(self.config.weights.file).with_suffix(".ckpt").name if self.config.weights.file else ""


Show = Callable[[Outcome], None]
Stage = Callable[[Migration], tuple[Any, bool, str]]  # -> artifact, whether all is well, one line


def migrate(project: Path, output: Path, show: Show) -> list[Outcome]:
    """Run all stages; a stage that fails is reported, and those that don't need it go on."""
    state = Migration(project, output, read_config(project))
    outcomes: list[Outcome] = []
    for name, run in _stages(state):
        outcome = _run_stage(state, name, run)
        outcomes.append(outcome)
        show(outcome)
    return outcomes


def write_page(output: Path) -> tuple[str, str]:
    """The report of what was done; returns its verdict, and where to start if something is left."""
    from .report import REPORT, content, render

    report = content(output)
    write_text(output / REPORT, render(report, "html"))
    told = report.overview
    return told.verdict, "" if report.is_clean else told.detail


def not_done(project: Path, output: Path) -> NotDone | None:
    """What the project's mindferry.toml doesn't ask for, and the lines that would, as far as they can be told."""
    config = read_config(project)
    parts = artifacts.load(Inventory, output, "analyze").parts
    network = next((part for part in reversed(parts) if part.kind == "network"), None)
    if not config.verify.model and network is not None:
        name = f"{network.path.removesuffix('.py').replace('/', '.')}:{network.name}"
        needed = _required(project / network.path if project.is_dir() else project, network.name)
        example = f"{name}({', '.join(f'{each}=…' for each in needed)})" if needed else name
        model = f'model = "{example}"   # {"write a value for each …" if needed else "or a function that makes it, with arguments"}'
        return NotDone(
            "the network, module by module",
            ("[verify]", model, 'inputs = ["float32[2,3,224,224]"]   # what its forward takes'),
        )
    script = next((part.path for part in parts if part.kind == "entry point" and "train" in part.path), "")
    if not config.train.script and script:
        return NotDone("training steps", ("[train]", f'script = "{script}"', "steps = 20"))
    return None


def _required(path: Path, name: str) -> list[str]:
    """The arguments without which the class can't be built."""
    try:
        tree = ast.parse(path.read_text("utf-8", "replace"))
    except (OSError, SyntaxError, ValueError):
        return []
    owner = next((node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name), None)
    made = (
        next((node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"), None)
        if owner
        else None
    )
    if made is None:
        return []
    places = [*made.args.posonlyargs, *made.args.args][1:]
    wanted = places[: len(places) - len(made.args.defaults)] if made.args.defaults else places
    words = zip(made.args.kwonlyargs, made.args.kw_defaults, strict=True)
    return [each.arg for each in (*wanted, *(word for word, default in words if default is None))]


def _stages(state: Migration) -> list[tuple[str, Stage]]:
    chosen: list[tuple[str, Stage]] = [("analyze", _analyze), ("convert", _convert)]
    if state.config.weights.file:
        chosen.append(("weights", _weights))
    if state.config.verify.data or (state.config.train.script and _has_file_loader(state.project)):
        chosen.append(("data", _data))
    if state.config.verify.model:
        chosen.append(("verify", _verify))
    if state.config.train.script:
        chosen += [("train", _train), ("plain", _plain)]
    return chosen


def _has_file_loader(project: Path) -> bool:
    files = [file.path for file in find_files(project, ()).files if file.is_code]
    return looks_like_file_data(b"\n".join(path.read_bytes() for path in files if path.is_file()))


def looks_like_file_data(text: bytes) -> bool:
    """Whether loaders give the same samples in every run. What a script draws at random can't be compared by value."""
    is_drawn = re.search(rb"\b(?:torch|np\.random|numpy\.random|random)\.(?:rand|randn|randint|normal|uniform)\(", text)
    is_read = re.search(rb"\bdatasets\.\w|\bImageFolder\b|\bopen\(|\.load\(|read_csv\(|loadtxt\(", text)
    return b"DataLoader" in text and is_drawn is None and is_read is not None


def _run_stage(state: Migration, name: str, run: Stage) -> Outcome:
    state.key = _digest(state.key, name, _inputs(state, name))
    done = _read_state(state.output).get(name, {})
    if done.get("key") == state.key and (state.output / STATE / f"{name}.json").is_file():
        return Outcome(name, done["ok"], done["summary"], 0.0, is_fresh=False)
    started = time.monotonic()
    try:
        artifact, ok, summary = run(state)
    except MindferryError as error:
        if name in ("analyze", "convert"):
            raise
        # What an earlier run measured is no longer what was asked for.
        (state.output / STATE / f"{name}.json").unlink(missing_ok=True)
        _write_state(state.output, name, {"key": "", "ok": False, "summary": str(error)})
        return Outcome(name, False, str(error), time.monotonic() - started, is_fresh=True, could_not_run=True)
    artifacts.save(artifact, state.output, name)
    _write_state(state.output, name, {"key": state.key, "ok": ok, "summary": summary})
    return Outcome(name, ok, summary, time.monotonic() - started, is_fresh=True)


def _analyze(state: Migration) -> tuple[Inventory, bool, str]:
    from .analyze import analyze_project

    with progress("analyze") as advance:
        inventory = analyze_project(state.project, advance)
    _check_output(state)
    left = {use.api for use in inventory.apis if use.kind in ("missing", "unknown")}
    total = len({use.api for use in inventory.apis})
    files = f"{len(inventory.files)} file{'' if len(inventory.files) == 1 else 's'}"
    return (
        inventory,
        not left and not inventory.findings,
        f"{files}, {total} torch APIs, {total - len(left)} of them covered",
    )


def _check_output(state: Migration) -> None:
    """Refuse a folder that holds something else before anything is written there."""
    from .convert.project import previous_conversion

    previous_conversion(state.project, state.output)


def _convert(state: Migration) -> tuple[ProjectConversion, bool, str]:
    from .convert import convert_project

    with progress("convert", len(find_files(state.project, ()).files)) as advance:
        result = convert_project(state.project, state.output, advance=advance)
    rewrites = sum(len(file.rewrites) for file in result.files)
    errors = [finding for finding in result.findings if finding.severity == "error"]
    return result, not errors, f"{rewrites} rewrites, {len(errors)} calls left for you"


def _weights(state: Migration) -> tuple[WeightsReport, bool, str]:
    from .weights import convert_weights

    source = state.weights
    assert source is not None
    if not source.is_file():
        _make_weights(state, source)
    model = state.config.verify.model or None
    report = convert_weights(source, state.output / state.converted_weights, model=model, project=state.output)
    return report, report.complete, f"{len(report.entries)} parameters carried to {state.converted_weights}"


def _make_weights(state: Migration, target: Path) -> None:
    """Run the reference's own script, in a folder of ours, to have weights worth carrying."""
    command = state.config.weights.create
    if not command:
        raise MindferryError(
            f"there is no {state.project / state.config.weights.file}; put it there, or say in [weights] create how to make it"
        )
    folder = state.output / REFERENCE
    folder.mkdir(parents=True, exist_ok=True)
    script = (state.project / command[0]).resolve()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(script.parent), os.environ.get("PYTHONPATH", "")])}
    with progress(f"weights: {' '.join(command)}"):
        run = subprocess.run(
            [sys.executable, str(script), *command[1:]], cwd=folder, env=environment, capture_output=True, text=True
        )
    write_text(folder / "log.txt", run.stdout + run.stderr)
    if run.returncode or not target.is_file():
        last = (run.stderr.strip() or run.stdout.strip() or "no output").splitlines()[-1]
        raise MindferryError(f"`{' '.join(command)}` made no {target.name} ({last}); see {folder / 'log.txt'}")


def _data(state: Migration) -> tuple[Pipelines, bool, str]:
    from .verify.data import run
    from .verify.settings import data_settings

    with progress("data") as advance:
        found = run(data_settings(state.output), lambda text: advance(text, 0))
    batches = sum(each.compared for each in found.pipelines)
    first = next(
        (
            f"{each.name}, {each.differences[0].where}: {each.differences[0].what}"
            for each in found.pipelines
            if not each.passed
        ),
        "",
    )
    summary = f"{len(found.pipelines)} pipelines, {batches} batches compared"
    return found, found.passed, summary + (f", first difference: {first}" if first else "")


def _verify(state: Migration) -> tuple[Comparison, bool, str]:
    from .verify.run import verify
    from .verify.settings import settings
    from .verify.table import plural_gaps

    weights = str(state.weights.resolve()) if state.weights and state.weights.is_file() else ""
    with progress("verify") as advance:
        result = verify(settings(state.output, weights=weights), lambda text: advance(text, 0))
    output = max(
        (each for each in result.differences if each.kind == "network"), key=lambda each: each.max_rel, default=None
    )
    parts = [f"{len(result.differences)} tensors compared"]
    if output is not None:
        parts.append(f"outputs differ by {output.max_abs:.2g} ({output.max_rel:.2g} of the largest)")
    if result.predictions is not None:
        parts.append(f"{result.predictions.agree} of {result.predictions.samples} predictions equal")
    if result.outcome is artifacts.Outcome.PARTIAL:
        parts.append(f"same as far as compared; {plural_gaps(result)} not compared")
    elif not result.passed:
        parts.append(f"first divergence: {result.first_divergence or 'predictions'}")
    return result, result.passed, ", ".join(parts)


def _train(state: Migration) -> tuple[Curves, bool, str]:
    from .train import train_side_by_side

    with progress("train", 2 * state.config.train.steps) as advance:
        curves = train_side_by_side(state.output, weights=state.weights, advance=advance)
    return curves, curves.passed, f"{len(curves.reference)} steps, losses within {curves.worst:.2g}"


def _plain(state: Migration) -> tuple[PlainRun, bool, str]:
    from .train.plain import run_plain

    options = state.config.train
    with progress("plain run") as advance:
        run = run_plain(
            state.project,
            state.output,
            ["python", options.script, *options.args],
            steps=options.steps,
            weights=state.weights,
            show=lambda text: advance(text, 0),
        )
    return run, run.passed, plain_summary(run)


def plain_summary(run: PlainRun) -> str:
    wrong = run.finding
    if wrong is not None:
        return f"{wrong.path}:{wrong.line}: {wrong.message}" if wrong.path else wrong.message
    return f"{len(run.losses)} steps by itself, without torch; losses in the band of {len(run.seeds)} seeds"


def _inputs(state: Migration, stage: str) -> str:
    if stage == "analyze":
        files = find_files(state.project, (), state.output).files
        return _digest(
            version("mindferry"),
            str(state.project.resolve()),
            *(f"{file.relative}:{_file_digest(file.path)}" for file in files),
        )
    return {
        "weights": repr(state.config.weights),
        "data": repr(state.config.verify),
        "verify": repr(state.config.verify),
        "train": repr(state.config.train),
        "plain": repr(state.config.train),
    }.get(stage, "")


def _file_digest(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return "unreadable"
    return f"{status.st_size}:{status.st_mtime_ns}"


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _read_state(output: Path) -> dict[str, Any]:
    try:
        state: dict[str, Any] = json.loads((output / STATE / "migrate.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return state


def _write_state(output: Path, stage: str, entry: dict[str, Any]) -> None:
    write_text(output / STATE / "migrate.json", json.dumps({**_read_state(output), stage: entry}, indent=1))
