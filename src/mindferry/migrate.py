"""Every stage in one go. What a stage needs is digested, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import artifacts
from .apis import title_of
from .artifacts import STATE, Comparison, Curves, Inventory, PlainRun, ProjectConversion, WeightsReport
from .by_observation import archive_of, is_observed
from .config import Config, read_config
from .data_seen import code_of, has_loader, looks_drawn
from .errors import MindferryError
from .files import remove, write_text
from .layout import find_files
from .observation import Observation, load_observation, save_observation
from .progress import progress
from .resume import converted_code, digest, file_digest, made, read_state, tidy, write_state
from .suggest import UNTOLD, looks_like_loss, suggest_model

if TYPE_CHECKING:
    from .frameworks.watched import Run
    from .report.verdict import Verdict
    from .verify.data import Pipelines

SECONDS = 600.0  # that a run of the original may take
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
    is_partial: bool = False  # what was compared is the same, but not everything was compared


@dataclass(frozen=True, slots=True)
class NotDone:
    """A stage that needs to be told something, and the lines that would tell it."""

    what: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """What the user wrote after `--`, and when to stop it."""

    words: tuple[str, ...]
    steps: int = 20
    seconds: float = 600.0
    write: Callable[[bytes], None] = lambda data: None


@dataclass(slots=True)
class Migration:
    project: Path
    output: Path
    config: Config
    key: str = ""  # digest of everything that the stages so far depended on
    command: Command | None = None  # how the project is run
    observation: Observation | None = None
    first: Run | None = None  # the run that was observed, if it was this time
    record_graphs: bool = False  # where a backward() can't be lifted

    @property
    def archive(self) -> Path:
        return archive_of(self.output)

    @property
    def weights(self) -> Path | None:
        """The reference's checkpoint: the user's own, or the one made on request."""
        name = self.config.weights.file
        if not name:
            return None
        own = self.project / name
        return own if own.is_file() else self.output / REFERENCE / name

    @property
    def stdin(self) -> str:
        """What the user told the original when it was observed."""
        return "".join(run.stdin for run in self.observation.runs) if self.observation else ""

    @property
    def written(self) -> tuple[str, ...]:
        """What the observed run left in the project: the later runs begin as it began."""
        return self.observation.written if self.observation else ()

    @property
    def converted_weights(self) -> str:
        return Path(self.config.weights.file).with_suffix(".ckpt").name if self.config.weights.file else ""


Show = Callable[[Outcome], None]
Stage = Callable[[Migration], tuple[Any, bool, str]]  # -> artifact, whether all is well, one line


def migrate(
    project: Path, output: Path, show: Show, command: Command | None = None, record_graphs: bool = False
) -> list[Outcome]:
    """Run all stages; a stage that fails is reported, and those that don't need it go on."""
    state = Migration(project, output, read_config(project), "", command, record_graphs=record_graphs)
    outcomes: list[Outcome] = []
    tidy(output)
    if command is not None:
        outcomes.append(_run_stage(state, "observe", _observe))
        show(outcomes[0])
        state.observation = load_observation(state.archive)
        state.config = _with_command(state, state.observation, command.steps)
    for name, run in _stages(state):
        outcome = _run_stage(state, name, run)
        outcomes.append(outcome)
        show(outcome)
    return outcomes


def write_page(output: Path) -> Verdict:
    """The report of what was done; returns its verdict."""
    from .report import REPORT, content, render
    from .report.gather import gather
    from .report.overview import verdict_of

    write_text(output / REPORT, render(content(output), "html"))
    return verdict_of(gather(output))


def not_covered(project: Path, output: Path) -> str:
    """What the observed run did not reach, in a sentence."""
    from .report.reach import not_covered as told

    return told(load_observation(archive_of(output)), project) if is_observed(output) else ""


def not_done(project: Path, output: Path) -> NotDone | None:
    """What the project's mindferry.toml doesn't ask for, and the lines that would, as far as they can be told."""
    config = read_config(project)
    parts = artifacts.load(Inventory, output, "analyze").parts
    networks = [part for part in reversed(parts) if part.kind == "network"]
    network = next((part for part in networks if not looks_like_loss(part.name)), next(iter(networks), None))
    if not config.verify.model and network is not None:
        told = suggest_model(project, network.path, network.name)
        hint = "or a function that makes it, with arguments" if told.is_complete else "write a value for each …"
        origin = (
            "what its first layer takes" if told.is_read else f"what its forward takes; {UNTOLD} is for you to fill in"
        )
        model = f'model = "{told.model}"   # {hint}'
        return NotDone("the network, module by module", ("[verify]", model, f'inputs = ["{told.inputs}"]   # {origin}'))
    script = next((part.path for part in parts if part.kind == "entry point" and "train" in part.path), "")
    if not config.train.script and script:
        return NotDone("training steps", ("[train]", f'script = "{script}"', "steps = 20"))
    return None


def _with_command(state: Migration, observation: Observation, steps: int) -> Config:
    """The command stands in for a [train] section; of several, the first that trains, unless it finds another's checkpoint."""
    from .observe.use import trained_by, training_of
    from .weights.whole import is_torch_file

    found, train = trained_by(observation), state.config.train
    if found is None or any(is_torch_file(state.project / name) for name in found[1]):
        return state.config
    return replace(state.config, train=training_of(_words(state)[found[0]], steps, train.tolerance) or train)


def _observe(state: Migration) -> tuple[Observation, bool, str]:
    from .frameworks.watched import joined, scratch_folder
    from .observe.run import observe, split_commands

    assert state.command is not None
    _check_output(state)
    with scratch_folder() as scratch:
        found = observe(
            state.project,
            split_commands(state.command.words),
            scratch,
            steps=state.command.steps,
            seconds=state.command.seconds,
            log=state.output.with_name(f"{state.output.name}.log"),
            write=state.command.write,
        )
        save_observation(found.observation, state.archive, found.parts)
    state.first = joined(found.runs)
    seen = found.observation
    steps = sum(len(run.losses) for run in seen.runs)
    sites = sum(len(file.sites) for file in seen.files)
    networks = f"{len(seen.networks)} network{'' if len(seen.networks) == 1 else 's'}"
    return seen, True, f"{steps} steps, {networks}, {sites} unclear places seen"


def _stages(state: Migration) -> list[tuple[str, Stage]]:
    chosen: list[tuple[str, Stage]] = [("analyze", _analyze), ("convert", _convert)]
    if state.config.weights.file:
        chosen.append(("weights", _weights))
    elif _loaded(state):
        chosen.append(("weights", _weights_loaded))
    is_loader_seen = state.observation is None or any(state.observation.loaders)
    if state.config.verify.data or (state.config.train.script and is_loader_seen and has_loader(state.project)):
        chosen.append(("data", _data))
    if state.config.verify.model:
        chosen.append(("verify", _verify))
    elif state.observation is not None and state.observation.networks:
        chosen.append(("verify", _verify_observed))
    if state.config.train.script and (state.observation is None or any(run.losses for run in state.observation.runs)):
        chosen.append(("train", _train))
    if state.config.train.script or _own_commands(state):
        chosen.append(("plain", _plain))
    return chosen


def _run_stage(state: Migration, name: str, run: Stage) -> Outcome:
    state.key = digest(state.key, name, _inputs(state, name))
    done = read_state(state.output).get(name, {})
    is_done = done.get("key") == state.key and artifacts.is_whole(state.output, name)
    if is_done and done.get("made", "") == made(state.output, name, state.archive):
        is_partial = bool(done.get("is_partial"))
        return Outcome(name, done["ok"], done["summary"], 0.0, is_fresh=False, is_partial=is_partial)
    started = time.monotonic()
    try:
        artifact, ok, summary = run(state)
    except MindferryError as error:
        if name in ("observe", "analyze", "convert"):
            raise
        # What an earlier run measured is no longer what was asked for.
        remove(state.output / STATE / f"{name}.json")
        write_state(state.output, name, {"key": "", "ok": False, "summary": str(error)})
        return Outcome(name, False, str(error), time.monotonic() - started, is_fresh=True, could_not_run=True)
    artifacts.save(artifact, state.output, name)
    is_partial = getattr(artifact, "outcome", None) is artifacts.Outcome.PARTIAL
    told = {
        "key": state.key,
        "ok": ok,
        "summary": summary,
        "is_partial": is_partial,
        "made": made(state.output, name, state.archive),
    }
    write_state(state.output, name, told)
    return Outcome(name, ok, summary, time.monotonic() - started, is_fresh=True, is_partial=is_partial)


def _analyze(state: Migration) -> tuple[Inventory, bool, str]:
    from .analyze import analyze_project
    from .analyze.observed import with_observation

    with progress("analyze") as advance:
        inventory = analyze_project(state.project, advance)
    if state.observation is not None:
        inventory = with_observation(inventory, state.observation, state.project)
    _check_output(state)
    used = {use.api for use in inventory.apis}
    left = {use.api for use in inventory.apis if use.kind in ("missing", "unknown")}
    files = f"{len(inventory.files)} file{'' if len(inventory.files) == 1 else 's'}"
    if any(file.path.suffix == ".ipynb" for file in find_files(state.project, (), state.output).files):
        files += " (of notebooks only the conversion tells)"
    said = f"{files}, {len(used)} {title_of(used)} APIs, {len(used) - len(left)} of them covered"
    return inventory, not left and not inventory.findings, said


def _check_output(state: Migration) -> None:
    """Refuse a folder that holds something else before anything is written there."""
    from .convert.project import previous_conversion

    previous_conversion(state.project, state.output)


def _convert(state: Migration) -> tuple[ProjectConversion, bool, str]:
    from .convert import convert_project
    from .convert.settings import Settings

    settings, seen = Settings(record_graphs=state.record_graphs), state.observation
    with progress("convert", len(find_files(state.project, ()).files)) as advance:
        result = convert_project(state.project, state.output, advance=advance, settings=settings, observation=seen)
    rewrites = sum(len(file.rewrites) for file in result.files)
    errors = [finding for finding in result.findings if finding.severity == "error"]
    return result, not errors, f"{rewrites} rewrites, {len(errors)} calls left for you"


def _weights(state: Migration) -> tuple[WeightsReport, bool, str]:
    from .weights import convert_weights

    source = state.weights
    assert source is not None
    is_made = not source.is_file()
    if is_made:
        _make_weights(state, source)
    model = state.config.verify.model or None
    report = convert_weights(
        source, state.output / state.converted_weights, model=model, project=state.output, force=True
    )
    made = f", from a checkpoint that {state.config.weights.create[0]} was run for" if is_made else ""
    return report, report.complete, f"{len(report.entries)} parameters carried to {state.converted_weights}{made}"


def _loaded(state: Migration) -> list[str]:
    """The project's own checkpoints that the observed run read, relative to the project."""
    from .weights.whole import is_torch_file

    opened = [name for run in state.observation.runs for name in run.opened] if state.observation else []
    inside = [name for name in dict.fromkeys(opened) if not Path(name).is_absolute() and ".." not in Path(name).parts]
    return [name for name in inside if name not in state.written and is_torch_file(state.project / name)]


def _weights_loaded(state: Migration) -> tuple[WeightsReport, bool, str]:
    from .weights.whole import carry_all

    report = carry_all(state.project, state.output, _loaded(state))
    told = f"{len(report.entries)} tensors carried to {report.output}"
    return report, report.complete, "; ".join([told, *report.unexpected[:1]])


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
    from .verify.data import OriginalFails, Pipelines, run
    from .verify.settings import data_settings

    train = state.config.train  # of the command, if there is one
    script = "" if state.config.verify.data else shlex.join([train.script, *train.args])
    is_drawn = looks_drawn(code_of(state.project))
    with progress("data") as advance:
        try:
            found = run(data_settings(state.output, data=script), lambda text: advance(text, 0), is_drawn)
        except OriginalFails as error:
            if state.config.verify.data:
                raise
            return Pipelines((), True, why=str(error)), True, f"no batch compared: {error}"  # nobody asked for it
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
    from .observe.verified import unnamed_networks, with_gaps
    from .verify.run import verify
    from .verify.settings import settings
    from .verify.table import plural_gaps

    weights = str(state.weights.resolve()) if state.weights and state.weights.is_file() else ""
    with progress("verify") as advance:
        result = verify(settings(state.output, weights=weights), lambda text: advance(text, 0))
    result = with_gaps(result, unnamed_networks(state.observation, state.config.verify.model))
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
    return result, result.outcome is not artifacts.Outcome.DIFFERENT, ", ".join(parts)


def _verify_observed(state: Migration) -> tuple[Comparison, bool, str]:
    from .by_observation import verify_networks
    from .report.words import plural
    from .verify.table import plural_gaps

    assert state.observation is not None
    with progress("verify") as advance:
        told = verify_networks(state.output, state.observation, lambda text: advance(text, 0))
    result = told.comparison
    if not told.compared:
        return result, True, f"no network compared by itself ({'; '.join(told.missing)})"
    if result.outcome is artifacts.Outcome.PARTIAL:
        wrong = f", same as far as compared; {plural_gaps(result)} not compared"
    else:
        wrong = "" if result.passed else f", first divergence: {result.first_divergence or 'predictions'}"
    is_well = result.outcome is not artifacts.Outcome.DIFFERENT
    count = plural(len(told.compared), "network")
    return result, is_well, f"{len(result.differences)} tensors of {count} compared{wrong}"


def _words(state: Migration) -> list[list[str]]:
    from .observe.run import split_commands

    return split_commands(state.command.words) if state.command else []


def _train(state: Migration) -> tuple[Curves, bool, str]:
    from .observe.use import assignments, written_since
    from .train import train_side_by_side

    with progress("train", 2 * state.config.train.steps) as advance:
        curves = train_side_by_side(
            state.output,
            state.config.train,
            weights=state.weights,
            stdin=state.stdin,
            without=written_since(state.observation),
            environment=dict(item for words in _words(state) for item in assignments(words).items()),
            advance=advance,
        )
    told = "; ".join(each for each in (curves.first_difference, *curves.gaps) if each)
    summary = f"{len(curves.reference)} steps, losses within {curves.worst:.2g}"
    summary += f", the original's own within {max(curves.drift):.2g} after rounding" if curves.drift else ""
    return curves, curves.passed, f"{summary}; {told}" if told else summary


def _plain(state: Migration) -> tuple[PlainRun, bool, str]:
    from .train.plain import plain_summary, run_plain

    options = state.config.train
    with progress("plain run") as advance:
        run = run_plain(
            state.project,
            state.output,
            _own_commands(state) or [options.command],
            steps=options.steps,
            seconds=state.command.seconds if state.command else SECONDS,
            first=state.first,
            weights=state.weights,
            stdin=state.stdin.encode(),
            without=state.written,
            show=lambda text: advance(text, 0),
        )
    return run, run.passed, plain_summary(run)


def _own_commands(state: Migration) -> list[list[str]]:
    """What the user wrote. torch's launcher is left out, because MindSpore has its own; several processes are not run."""
    from .observe.run import runnable
    from .observe.use import assignments, training_of

    commands = []
    for words in _words(state):
        is_launched = Path(words[len(assignments(words))]).name == "torchrun"
        alone = training_of(words, 1) if is_launched else None
        if is_launched and alone is None:
            return []
        commands.append(alone.command if alone else runnable(words))
    return commands


def _inputs(state: Migration, stage: str) -> str:
    if stage == "analyze":
        files = find_files(state.project, (), state.output).files
        return digest(
            version("mindferry"),
            f"{state.project.resolve()}{state.record_graphs or ''}",
            *(f"{file.relative}:{file_digest(file.path)}" for file in files),
        )
    if stage == "observe":
        assert state.command is not None
        files = find_files(state.project, (), state.output).files
        asked = (state.command.words, state.command.steps, state.command.seconds)
        return digest(repr(asked), *(f"{file.relative}:{file_digest(file.path)}" for file in files if file.is_code))
    wanted = {
        "weights": repr((state.config.weights, [(name, file_digest(state.project / name)) for name in _loaded(state)])),
        "data": repr(state.config.verify),
        "verify": repr(state.config.verify),
        "train": repr(state.config.train),
        "plain": repr(state.config.train),
    }.get(stage, "")
    return digest(wanted, converted_code(state.output)) if wanted else ""
