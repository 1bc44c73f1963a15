"""One run of `mindferry tune`: the profile, the reference beside it, the causes, and each experiment measured before and after."""

from __future__ import annotations

import dataclasses
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ..artifacts import STATE
from ..errors import MindferryError
from ..files import write_bytes
from ..frameworks.process import Worker
from ..frameworks.requests import Plan, TuneFacts
from ..layout import SECOND
from ..tune_record import Experiment, Profile, TuneRecord
from . import mindspore_run, tensorflow_run, torch_run
from .diagnose import diagnose
from .experiments import TRIED, named, suggest
from .rewrites import REWRITES, rewrite_project
from .settings_file import SETTINGS, read_applied, write_settings
from .workload import Workload

GAIN = 1.05  # an experiment wins if the step is faster by more than this, which noise is not
PATIENCE = 120.0  # seconds that an experiment's step may take longer than the step before
SHORT = Plan(observed=0, profiled=0)
Note = Callable[[str], None]


def tune(
    workload: Workload,
    tries: tuple[str, ...] = (),
    *,
    plan: Plan | None = None,
    with_reference: bool = True,
    note: Note | None = None,
) -> TuneRecord:
    """`tries` names experiments; "suggested" means those that the diagnosis asks for."""
    unknown = [name for name in tries if name not in (*TRIED, "suggested")]
    if unknown:
        raise MindferryError(f"there is no experiment {unknown[0]!r}; there are {', '.join(TRIED)}")
    started, say = time.monotonic(), note or (lambda text: None)
    full = plan or Plan()
    profile, facts = measure(workload, full, say)
    _check_steps(profile, full)
    applied = read_applied(workload.project, workload.script)
    diagnoses = diagnose(profile, facts)
    reference, why = _reference(workload, full, say) if with_reference else (None, ())
    experiments = suggest(profile, diagnoses, applied, str(workload.project))
    chosen = _chosen(tries, experiments, applied)
    trial = Trial(
        workload,
        dataclasses.replace(SHORT, warm=full.warm, plain=full.plain, seconds=full.seconds),
        say,
        is_random(profile),
    )
    base = Run(profile.step_seconds, facts.first_step, profile.losses)
    if chosen and trial.is_plain:
        base = trial.run(workload.project)
    tried, best = _try(trial, chosen, base)
    experiments = [*tried, *(each for each in experiments if each.name not in {done.name for done in tried})]
    return TuneRecord(
        project=str(workload.project),
        workload=str(workload),
        profile=dataclasses.replace(profile, notes=(*profile.notes, *why)),
        reference=reference,
        diagnoses=diagnoses,
        experiments=tuple(experiments),
        untouched=base.step,
        best=best.step if tried else math.nan,
        worst=apart(base.losses, best.losses) if tried else math.nan,
        seconds=round(time.monotonic() - started, 1),
    )


def _check_steps(profile: Profile, plan: Plan) -> None:
    """A script that ends before its steps could be told apart says nothing of where the time goes."""
    if math.isnan(profile.step_seconds) or (plan.observed and not profile.phases):
        made, needed = len(profile.losses), plan.warm + plan.plain + 2
        raise MindferryError(
            f"the training made {made} step{'' if made == 1 else 's'} and then ended, which is too few to measure: "
            f"let it make {needed} or more (more epochs, more data or a smaller batch), or time fewer of them with --steps 2"
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Run:
    """What an experiment is compared by."""

    step: float
    first: float
    losses: tuple[float, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Trial:
    """How the runs of experiments are made, the one that they are compared with included."""

    workload: Workload
    plan: Plan
    note: Note
    is_plain: bool  # dropout off: two runs with it never have the same losses

    def run(self, project: Path, environment: dict[str, str] | None = None, silence: float = 600.0) -> Run:
        profile, facts = measure(self.workload, self.plan, self.note, project, environment, silence, self.is_plain)
        return Run(profile.step_seconds, facts.first_step, profile.losses)


def is_random(profile: Profile) -> bool:
    return any("Dropout" in each.name for each in profile.operators)


def measure(
    workload: Workload,
    plan: Plan,
    note: Note,
    project: Path | None = None,
    environment: dict[str, str] | None = None,
    silence: float = 600.0,
    is_plain: bool = False,
) -> tuple[Profile, TuneFacts]:
    """The converted project, or a copy of it, in a MindSpore worker with the environment that the user's own run has."""
    folder = project or workload.project
    request = dataclasses.replace(
        workload.request("mindspore", plan),
        helpers=workload.helpers,
        is_plain=is_plain,
        environment={"ONEDNN_MAX_CPU_ISA": os.environ.get("ONEDNN_MAX_CPU_ISA")},
        preload="ms_tuning" if not workload.script and (folder / "ms_tuning.py").is_file() else "",
    )
    with Worker("mindspore", folder, environment=environment, silence=silence) as worker:
        found = worker.ask(mindspore_run.measure, request, note)
        profile = _keep_trace(found.profile, workload.project)
    return profile, dataclasses.replace(found.facts, has_avx512=has_avx512())


def _reference(workload: Workload, plan: Plan, note: Note) -> tuple[Profile | None, tuple[str, ...]]:
    """The original's profile, or why there is none: the conversion's own figures stand without it."""
    if workload.reference is None:
        return None, ()
    try:
        measure_reference = tensorflow_run.measure if workload.source == SECOND else torch_run.measure
        with Worker(workload.source, workload.reference) as worker:
            found = worker.ask(measure_reference, workload.request(workload.source, plan), note)
            return _keep_trace(found.profile, workload.project), ()
    except MindferryError as error:
        return None, (f"no reference beside it: {str(error).splitlines()[0]}",)


def _keep_trace(profile: Profile, project: Path) -> Profile:
    """From the worker's scratch folder to the project's own."""
    if not profile.trace:
        return profile
    target = f"{STATE}/trace-{profile.framework.lower()}.json"
    write_bytes(project / target, Path(profile.trace).read_bytes())
    return dataclasses.replace(profile, trace=target)


def _chosen(tries: tuple[str, ...], experiments: list[Experiment], applied: set[str]) -> list[Experiment]:
    """In the catalogue's order: what changes most comes first, and the next ones are tried on top of it."""
    suggested = {each.name: each for each in experiments if each.status == "suggested"}
    names = {*tries, *(suggested if "suggested" in tries else ())} - applied - {"suggested"}
    found = []
    for name in TRIED:
        if name in names:
            each = named(name)
            found.append(
                suggested.get(name) or Experiment(name, each.why, each.change, "suggested", measures=each.measures)
            )
    return found


def _try(trial: Trial, chosen: list[Experiment], base: Run) -> tuple[list[Experiment], Run]:
    """Each on top of those that won before it."""
    winners: set[str] = set()
    best, done = base, []
    for experiment in chosen:
        trial.note(f"trying {experiment.name}")
        result, run = _attempt(trial, experiment, winners, best, base)
        if result.status == "faster":
            winners.add(experiment.name)
            best = run if experiment.measures == "step" else best
        done.append(result)
    return done, best


def _attempt(trial: Trial, experiment: Experiment, winners: set[str], best: Run, base: Run) -> tuple[Experiment, Run]:
    workload = trial.workload
    with tempfile.TemporaryDirectory(prefix="mindferry-tune-") as folder:
        copy = Path(folder) / workload.project.resolve().name
        shutil.copytree(
            workload.project, copy, symlinks=True, ignore=shutil.ignore_patterns(STATE, "__pycache__", ".git")
        )
        changed = change(copy, workload.script, {*winners, experiment.name})
        if experiment.name in REWRITES and not changed:
            return dataclasses.replace(
                experiment, status="no faster", note="there is nothing to change in this project"
            ), best
        environment = (
            {"MS_COMPILER_CACHE_ENABLE": "1", "MS_COMPILER_CACHE_PATH": f"{folder}/cache"}
            if experiment.name == "cache"
            else {}
        )
        try:
            for _ in range(2 if environment else 1):  # the second start finds what the first one compiled
                run = trial.run(copy, environment, PATIENCE + 3 * best.step)
        except MindferryError as error:
            return dataclasses.replace(experiment, status="failed", note=str(error).splitlines()[0]), best
    return judge(experiment, best, run, base, workload.tolerance)


def judge(experiment: Experiment, best: Run, run: Run, base: Run, tolerance: float) -> tuple[Experiment, Run]:
    before, after = (best.step, run.step) if experiment.measures == "step" else (best.first, run.first)
    worst = apart(base.losses, run.losses)
    status = "losses differ" if not worst <= tolerance else "faster" if before > GAIN * after else "no faster"
    note = "no loss was seen: whether they are the same is not known" if worst != worst else experiment.note
    return dataclasses.replace(
        experiment, status=status, before=before, after=after, worst=worst, tolerance=tolerance, note=note
    ), run


def apart(reference: tuple[float, ...], losses: tuple[float, ...]) -> float:
    """Largest relative difference of a loss; nan where none was seen."""
    pairs = [(a, b) for a, b in zip(reference, losses, strict=False) if a == a]
    differences = [abs(a - b) / max(abs(a), 1e-12) for a, b in pairs]
    return max((each if each == each else math.inf for each in differences), default=math.nan)


def change(project: Path, script: str, names: set[str], measured: dict[str, str] | None = None) -> list[Path]:
    """Write these changes into a converted project; the files that are different now."""
    changed = rewrite_project(project, names & set(REWRITES))
    for path in write_settings(project, script, names & set(SETTINGS), measured or {}):
        changed += [path] if path not in changed else []
    return changed


def apply(workload: Workload, record: TuneRecord) -> tuple[TuneRecord, list[Path]]:
    """Write what won into the project."""
    if not workload.script:
        raise MindferryError("--apply writes into a training script; name it with --script")
    winners = [each for each in record.experiments if each.status == "faster"]
    figures = {each.name: f"{_time(each.before)} to {_time(each.after)} a {each.measures}" for each in winners}
    changed = change(workload.project, workload.script, {each.name for each in winners}, figures)
    marked = tuple(dataclasses.replace(each, is_applied=each.status == "faster") for each in record.experiments)
    return dataclasses.replace(record, experiments=marked), changed


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def has_avx512() -> bool:
    try:
        return "avx512f" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
