"""A TuneRecord on the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Column, Table

from ..progress import stdout
from ..tune_record import Experiment, Profile, TuneRecord

OPERATORS = 12


def show(record: TuneRecord) -> None:
    stdout.print(_phases(record))
    _show_operators(record.profile)
    if record.profile.pipeline:
        stdout.print(_pipeline(record.profile))
    _show_compilations(record.profile)
    if record.diagnoses:
        for number, each in enumerate(record.diagnoses, 1):
            places = f" [{', '.join(each.places)}]" if each.places else ""
            stdout.print(
                f"{number}. {each.title} ({each.code}, {each.share:.0%}): {each.evidence} → {each.advice}{places}",
                markup=False,
            )
    else:
        stdout.print("nothing stands out: the time is in the network's own operators")
    if record.experiments:
        stdout.print(_experiments(record.experiments))
        for experiment in record.experiments:
            more = " ".join(
                part for part in (experiment.note, experiment.command and f"try there: {experiment.command}") if part
            )
            stdout.print(f"{experiment.name}: {experiment.why}; {experiment.change}. {more}".rstrip(), markup=False)
    _show_end(record)


def _phases(record: TuneRecord) -> Table:
    profile, reference = record.profile, record.reference
    table = Table(
        "part of a step",
        profile.framework,
        "share",
        "in operators",
        *([reference.framework] if reference else []),
        title=record.workload,
    )
    total = sum(phase.seconds for phase in profile.phases) or 1.0
    theirs = {phase.name: phase.seconds for phase in reference.phases} if reference else {}
    for phase in profile.phases:
        kernels = f"{phase.kernels / phase.seconds:.0%}" if phase.kernels == phase.kernels and phase.seconds else ""
        row = [phase.name, time(phase.seconds), f"{phase.seconds / total:.1%}", kernels]
        table.add_row(*row, *([time(theirs[phase.name]) if phase.name in theirs else ""] if reference else []))
    table.add_section()
    ends = [time(reference.step_seconds)] if reference else []
    table.add_row("step, only timed", time(profile.step_seconds), "", "", *ends)
    if profile.observed_seconds == profile.observed_seconds:
        theirs_observed = [time(reference.observed_seconds)] if reference else []
        table.add_row("step, told apart", time(profile.observed_seconds), "", "", *theirs_observed)
    table.add_row(
        "attributed", f"{profile.attributed:.1%}", "", "", *([f"{reference.attributed:.1%}"] if reference else [])
    )
    memory = [f"{reference.peak_memory / 2**20:.0f} MiB"] if reference else []
    if profile.peak_memory > 2**20:
        table.add_row("peak memory", f"{profile.peak_memory / 2**20:.0f} MiB", "", "", *memory)
    return table


def _show_operators(profile: Profile) -> None:
    if not profile.operators:
        return
    table = Table(
        Column("operator", no_wrap=True),
        "phase",
        "module",
        "shapes",
        "calls",
        "time of a step",
        title="operators by total time",
    )
    for each in profile.operators[:OPERATORS]:
        table.add_row(each.name, each.phase, each.module, each.shapes, f"{each.calls:g}", time(each.seconds))
    stdout.print(table)
    rest = profile.operators[OPERATORS:]
    if rest:
        stdout.print(f"and {len(rest)} others with {time(sum(each.seconds for each in rest))}; all of them with --json")


def _pipeline(profile: Profile) -> Table:
    table = Table("operation", "adds to a batch", "workers", "rows waiting", "room for", title="data pipeline")
    for stage in profile.pipeline:
        queued = f"{stage.queued:.1f}" if stage.queued == stage.queued else ""
        room = f"{stage.capacity:g}" if stage.capacity == stage.capacity else ""
        table.add_row(stage.name, time(stage.seconds), str(stage.workers), queued, room)
    return table


def _show_compilations(profile: Profile) -> None:
    if profile.compilations:
        total = sum(each.seconds for each in profile.compilations)
        stdout.print(f"{len(profile.compilations)} compilations, {time(total)} with their first runs")
        for each in profile.compilations[:5]:
            stdout.print(
                f"  step {each.step}: {each.name} {each.place}, {time(each.seconds)}: {each.reason}", markup=False
            )


def _experiments(experiments: Iterable[Experiment]) -> Table:
    table = Table("experiment", "result", "before", "after", "factor", "losses apart", title="experiments")
    for each in experiments:
        is_measured = each.before == each.before and each.after == each.after
        factor = f"{each.before / each.after:.2f}" if is_measured and each.after else ""
        figures = [time(each.before), time(each.after), factor] if is_measured else ["", "", ""]
        worst = f"{each.worst:.1e}" if each.worst == each.worst else ""
        result = f"{each.status}{', applied' if each.is_applied else ''}"
        table.add_row(each.name, result, *figures, worst)
    return table


def _show_end(record: TuneRecord) -> None:
    if record.best == record.best and record.best < record.untouched:
        gain = record.untouched / record.best
        stdout.print(
            f"all that won together: {time(record.untouched)} to {time(record.best)} a step, {gain:.1f} times faster; losses within {record.worst:.1e}"
        )
    if record.reference is not None and record.reference.step_seconds:
        current = record.best if record.best == record.best else record.profile.step_seconds
        ratio = current / record.reference.step_seconds
        stdout.print(
            f"{ratio:.2f} times {record.reference.framework}'s time on this machine ({time(current)} against {time(record.reference.step_seconds)})"
        )
    for note in record.profile.notes:
        stdout.print(note, markup=False)
    if record.profile.trace:
        stdout.print(f"trace for ui.perfetto.dev: {record.project}/{record.profile.trace}", markup=False)


def time(seconds: float) -> str:
    if seconds != seconds:
        return ""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"
