"""One line a stage: whether it ran, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..accounts import summarize_sites
from ..apis import title_of
from ..artifacts import Outcome, PlainRun
from .gather import COMMANDS, Found
from .modules import strain
from .words import allowed, duration, plural, scientific

if TYPE_CHECKING:
    from ..verify.data import Pipelines

TABS = {
    "analyze": "analysis",
    "convert": "code",
    "weights": "weights",
    "data": "verification",
    "verify": "verification",
    "train": "training",
    "plain": "training",
    "tune": "performance",
    "export": "verification",
}
SLOW = 2.0  # times torch's step, beyond which the overview speaks of it


@dataclass(frozen=True, slots=True)
class StageLine:
    stage: str
    tab: str
    state: str  # ok, warn, look, absent
    summary: str


def stage_line(found: Found, stage: str) -> StageLine:
    if stage in found.failed:
        return StageLine(stage, TABS[stage], "look", f"could not run: {found.failed[stage]}")
    if stage not in found.written:
        return StageLine(stage, TABS[stage], "absent", f"not run: `{COMMANDS[stage].format(out=found.folder)}`")
    state, summary = _SUMMARIES[stage](found)
    return StageLine(stage, TABS[stage], state, summary)


def _analyzed(found: Found) -> tuple[str, str]:
    inventory = found.analyze
    assert inventory is not None
    left = {use.api for use in inventory.apis if use.kind in ("missing", "unknown")}
    apis = len({use.api for use in inventory.apis})
    said = f"{plural(len(inventory.files), 'file')}, {plural(inventory.lines, 'line')}, {plural(apis, f'{title_of(each.api for each in inventory.apis)} API')}"
    return (
        "look" if left else "ok"
    ), f"{said}, {len(left)} without a counterpart" if left else f"{said}, all of them covered"


def _converted(found: Found) -> tuple[str, str]:
    assert found.convert is not None
    errors = sum(each.severity == "error" for each in found.convert.findings)
    warnings = sum(each.severity == "warning" for each in found.convert.findings)
    rewrites = sum(len(file.rewrites) for file in found.convert.files)
    helpers = f", {plural(len(found.convert.helpers), 'helper')} written" if found.convert.helpers else ""
    state = "look" if errors else "warn" if warnings else "ok"
    said = f"{plural(rewrites, 'rewrite')}{helpers}, {plural(errors, 'call')} left, {warnings} to look at"
    accounted = summarize_sites(site for file in found.convert.files for site in file.sites)
    return state, f"{said}; {accounted}" if accounted else said


def _carried(found: Found) -> tuple[str, str]:
    report = found.weights
    assert report is not None
    lost = len(report.missing) + len(report.unexpected) + len(report.mismatched)
    said = f"{plural(len(report.entries), 'parameter')} carried to {Path(report.output).name}, {len(report.dropped)} dropped by design"
    return ("ok" if report.complete else "look"), f"{said}, {lost} without a place" if lost else said


def _fed(found: Found) -> tuple[str, str]:
    data = found.data
    assert data is not None
    wrong = sum(not each.passed for each in data.pipelines)
    said = f"{plural(len(data.pipelines), 'pipeline')} in both frameworks, {plural(batches(data), 'batch', 'batches')} compared"
    return (
        ("look", f"{said}; {plural(wrong, 'pipeline')} not the same") if wrong else ("ok", f"{said}, all of them agree")
    )


def batches(pipelines: Pipelines) -> int:
    return sum(each.compared for each in pipelines.pipelines)


def _verified(found: Found) -> tuple[str, str]:
    verify = found.verify
    assert verify is not None
    worst = max(verify.differences, key=strain, default=None)
    said = f"{len(verify.differences):,} tensors compared in {verify.seconds:.0f} s"
    if worst is not None and verify.passed:
        said += f"; the closest call, {worst.name or 'the network'}, used {strain(worst):.0%} of its tolerance"
    return (
        ("ok", said)
        if verify.passed
        else ("look", f"{said}; same as far as compared")
        if verify.outcome is Outcome.PARTIAL
        else ("look", f"{said}; first divergence: {verify.first_divergence or 'the predictions'}")
    )


def _trained(found: Found) -> tuple[str, str]:
    train = found.train
    assert train is not None
    apart = "within" if train.passed else "apart by up to"
    said = f"{plural(len(train.reference), 'step')} in both frameworks, losses {apart} {scientific(train.worst)} {allowed(train.tolerance)}"
    return ("ok", said) if train.passed else ("look", f"{said}; {train.first_difference}")


def _run_plainly(found: Found) -> tuple[str, str]:
    plain = found.plain
    assert plain is not None
    if plain.finding is None:
        return "ok", plain_sentence(plain).rstrip(".")
    where = f"{plain.finding.path}:{plain.finding.line}: " if plain.finding.path else ""
    return "look", f"{where}{plain.finding.message}"


def _tuned(found: Found) -> tuple[str, str]:
    tune = found.tune
    assert tune is not None
    if not tune.profile.steps:
        return "ok", "no step was measured"
    said = f"a step takes {duration(tune.profile.step_seconds)}"
    if tune.reference is not None:
        said += f" ({duration(tune.reference.step_seconds)} in torch)"
    if tune.best < tune.untouched:
        said = f"a step takes {duration(tune.best)} instead of {duration(tune.untouched)}"
    return (
        "warn" if times_torch(found) > SLOW else "ok"
    ), f"{said}; {plural(len(tune.diagnoses), 'diagnosis', 'diagnoses')}, {plural(len(tune.experiments), 'experiment')}"


def times_torch(found: Found) -> float:
    """How many times torch's step the best one takes; 0 where torch was not measured."""
    tune = found.tune
    if tune is None or tune.reference is None or not tune.profile.steps or not tune.reference.step_seconds > 0:
        return 0.0
    return (
        min((value for value in (tune.best, tune.profile.step_seconds) if value > 0), default=0.0)
        / tune.reference.step_seconds
    )


def _exported(found: Found) -> tuple[str, str]:
    export = found.export
    assert export is not None
    made = [file for file in export.files if file.path]
    said = f"{', '.join(file.form for file in made) or 'nothing'} written, reloaded and compared"
    return ("ok" if export.passed else "look"), said


def plain_sentence(plain: PlainRun) -> str:
    steps, seeds = plural(len(plain.losses), "step"), plural(len(plain.seeds), "seed")
    if not plain.losses:
        return "The converted script runs by itself and ends as the original ends."
    return (
        f"The converted script runs by itself; its losses of {steps} lie in the band of {seeds} of {plain.framework}."
    )


_SUMMARIES = {
    "analyze": _analyzed,
    "convert": _converted,
    "weights": _carried,
    "data": _fed,
    "verify": _verified,
    "train": _trained,
    "plain": _run_plainly,
    "tune": _tuned,
    "export": _exported,
}
