"""Runs both scripts, the reference first, and lays their curves beside each other."""

from __future__ import annotations

import contextlib
import math
import statistics
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..artifacts import Curves, ProjectConversion, Step, load, save
from ..config import Train, read_config
from ..errors import MindferryError
from ..frameworks.mirror import mirror
from ..frameworks.process import TITLES, Worker
from ..frameworks.requests import CauseRequest, TrainRequest, TrainStep
from ..frameworks.watched import scratch_folder
from ..layout import SECOND, carried_name, source_framework
from ..progress import Advance
from .cause import explain
from .conduct import other_figures, other_loops, other_modes, other_saves
from .converted import replay
from .double import record_double
from .exchange import Exchange
from .keras_converted import replay_keras
from .keras_reference import record_keras
from .reference import record
from .updates import Updates, compare_updates

DRIFT_FACTOR = 3.0  # how much farther than the reference's own rounding the conversion may be
DRIFTED = 1e-3  # of the first loss: what is further off had another batch
FLOOR = 1e-3  # of the median loss


def train_side_by_side(
    converted: Path,
    options: Train | None = None,
    *,
    weights: Path | None = None,
    drift: bool = False,
    stdin: str = "",
    without: Collection[str] = (),
    environment: Mapping[str, str] | None = None,
    advance: Advance | None = None,
) -> Curves:
    """Train both for a few steps. `converted` is the output of `mindferry convert`; the reference is found by its record.

    `weights` is where the reference's checkpoint lies, if not in its project: arguments that name it are made to point there.
    `stdin` is what both are told, and `without` names files of the reference that both must not find;
    `environment` is set for both.
    The reference also runs in float64, from weights rounded otherwise, where a loss differs, or with `drift` in any case. A loss
    may be three times as far off as that is from float32.
    """
    conversion = load(ProjectConversion, converted, "convert")
    reference = Path(conversion.source)
    config = read_config(reference)
    source = source_framework(reference, options.script.removesuffix(".py").replace("/", ".") if options else "")
    is_keras = source == SECOND
    home = reference if reference.is_dir() else reference.parent
    options = options or config.train
    if not options.script:
        raise MindferryError(
            f"which script trains? Name it in {reference}/mindferry.toml, [train] script, or with --script"
        )
    started = time.monotonic()
    note = advance or (lambda note="", steps=1: None)
    with tempfile.TemporaryDirectory(prefix="mindferry-train-") as exchange:
        arguments = tuple(
            str(weights.resolve()) if weights and each == config.weights.file else each for each in options.args
        )
        request = TrainRequest(exchange, options.script, arguments, options.steps, stdin=stdin)
        with _worker(source, home, None, without, environment) as worker:
            theirs = worker.ask(record_keras if is_keras else record, request, note)
        request = replace(request, has_optimizer=theirs.has_optimizer)
        own: tuple[float, ...] = ()
        if drift and not is_keras:
            with _worker(source, home, None, without, environment) as worker:
                own = _own_drift(worker, request, theirs.steps)
        ours_args = tuple(carried_name(each) for each in options.args)
        with _worker("mindspore", home, converted, without, environment) as worker:
            asked = replace(request, args=ours_args, helpers=conversion.helper_modules)
            ours = worker.ask(replay_keras if is_keras else replay, asked, note)
        floor = loss_floor(theirs.steps) if is_keras else 0.0  # of torch's, the run in float64 tells
        curves = compare_curves(theirs.steps, ours.steps, options.tolerance, time.monotonic() - started, own, floor)
        if not curves.passed and not own and not is_keras:  # a loop that makes rounding larger, perhaps
            with _worker(source, home, None, without, environment) as worker:
                own = _own_drift(worker, request, theirs.steps)
            curves = compare_curves(theirs.steps, ours.steps, options.tolerance, time.monotonic() - started, own, floor)
        curves = replace(curves, framework=TITLES[source])
        updates = compare_updates(Exchange(Path(exchange)), len(theirs.steps), TITLES[source])
        curves = _with_updates(curves, updates)
        conduct = [*other_modes(theirs.modes, ours.modes), *other_figures(theirs.printed, ours.printed)]
        conduct += other_loops(theirs.loops, ours.loops)
        conduct += other_saves(Exchange(Path(exchange)), curves.distances)
        curves = replace(curves, conduct=tuple(dict.fromkeys((*conduct, *ours.starts))))
        if not curves.passed and not is_keras:
            curves = replace(curves, cause=_cause(home, CauseRequest(exchange, theirs.steps, ours.steps)))
    save(curves, converted, "train")
    return curves


@contextlib.contextmanager
def _worker(
    framework: str,
    home: Path,
    code: Path | None,
    without: Collection[str],
    environment: Mapping[str, str] | None,
) -> Iterator[Worker]:
    """In a copy of the project: a script may look for what it saved beside its own file, and each run begins as the first one did."""
    with scratch_folder() as scratch:
        folder = mirror(home, scratch / "tree", code, without)
        with Worker(framework, folder, environment=environment) as worker:
            yield worker


def _with_updates(curves: Curves, updates: Updates) -> Curves:
    """Losses may agree where a parameter that hardly counts was never trained."""
    curves = replace(curves, updates=updates.compared, unmatched=updates.unmatched, networks=updates.networks)
    if not curves.passed or not updates.wrong:
        return curves
    return replace(curves, passed=False, first_difference=updates.wrong)


def _own_drift(worker: Worker, request: TrainRequest, steps: tuple[TrainStep, ...]) -> tuple[float, ...]:
    """How far rounding alone drives the reference; nothing where it insists on float32, or computes with other numbers from the start."""
    losses = worker.ask(record_double, request).losses
    own = tuple(_apart(step.loss, loss) for step, loss in zip(steps, losses, strict=False))
    return own if own and own[0] < DRIFTED else ()


def _cause(reference: Path, request: CauseRequest) -> str:
    """What makes them part; "" if that can't be told."""
    with Worker("torch", reference) as worker:
        return worker.ask(explain, request).cause


def loss_floor(steps: Sequence[TrainStep]) -> float:
    """What a loss is compared with at least: that of a last batch of one row is nearly zero by chance, and then all rounding."""
    losses = [abs(each.loss) for each in steps if math.isfinite(each.loss)]
    return FLOOR * statistics.median(losses) if losses else 0.0


def _apart(loss: float, reference: float, floor: float = 0.0) -> float:
    if loss != loss and reference != reference:
        return 0.0
    difference = abs(loss - reference) / max(abs(reference), floor, 1e-12)
    return difference if difference == difference else float("inf")


def allowed(tolerance: float, step: int, drift: tuple[float, ...]) -> float:
    """How far a loss may be off at a step, from 0: the tolerance, or three times the reference's own drift so far."""
    return max(tolerance, DRIFT_FACTOR * max(drift[: step + 1], default=0.0))


def compare_curves(
    reference: Sequence[TrainStep],
    converted: Sequence[TrainStep],
    tolerance: float,
    seconds: float,
    drift: tuple[float, ...] = (),
    floor: float = 0.0,
) -> Curves:
    worst, first = 0.0, ""
    for number, (theirs, ours) in enumerate(zip(reference, converted, strict=False)):
        difference = _apart(ours.loss, theirs.loss, floor)
        if difference > allowed(tolerance, number, drift) and not first:
            parameter = converted[max(number - 1, 0)].worst
            first = f"step {number + 1}: loss {ours.loss:.6g} against {theirs.loss:.6g}"
            first += f"; {parameter} differs most" if parameter else ""
        worst = max(worst, difference)
    if len(reference) != len(converted) and not first:
        first = f"the reference made {len(reference)} steps, the conversion {len(converted)}"
    return Curves(
        tuple(Step(each.loss, each.lr, each.grad_norm) for each in reference),
        tuple(Step(each.loss, each.lr, each.grad_norm) for each in converted),
        tolerance,
        worst,
        not first,
        first,
        round(seconds, 1),
        tuple(each.distance for each in converted),
        drift,
    )
