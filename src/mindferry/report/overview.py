"""The verdict, what was carried over, and what is left to do, in order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .. import findings
from ..accounts import summarize_sites
from ..apis import framework
from ..artifacts import Finding, Inventory, Outcome, PlainRun
from ..observation import Observation
from ..read.uses import Use
from .code import RuleCard
from .gather import COMMANDS, Found
from .modules import strain
from .reach import unreached

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
MEASURED = ("data", "verify", "train", "plain")
SLOW = 2.0  # times torch's step, beyond which the overview speaks of it


@dataclass(frozen=True, slots=True)
class Task:
    """Something for a person to do, and where."""

    stage: str
    what: str
    how: str = ""
    path: str = ""
    line: int = 0
    code: str = ""


@dataclass(frozen=True, slots=True)
class StageLine:
    stage: str
    tab: str
    state: str  # ok, warn, look, absent
    summary: str


@dataclass(frozen=True, slots=True)
class Figure:
    value: str
    label: str
    tab: str
    state: str = "ok"


@dataclass(frozen=True, slots=True)
class Overview:
    state: str  # same, different, open, unmeasured
    verdict: str
    detail: str
    figures: tuple[Figure, ...]
    stages: tuple[StageLine, ...]
    todo: tuple[Task, ...]
    warnings: tuple[Task, ...]
    unmeasured: tuple[Task, ...]  # what could be compared and has not been
    notes: tuple[str, ...]
    statuses: dict[str, int]  # of files
    kinds: dict[str, int]  # of rewrites: native, helper, removed


def overview(found: Found, cards: Mapping[str, RuleCard]) -> Overview:
    todo = tuple(_todo(found))
    state, verdict, detail = _verdict(found, todo)
    files = found.convert.files if found.convert else ()
    kinds = Counter(
        cards[each.rule].kind if each.rule in cards else "native" for file in files for each in file.rewrites
    )
    return Overview(
        state,
        verdict,
        detail,
        tuple(_figures(found)),
        tuple(_stage(found, stage) for stage in COMMANDS),
        todo,
        tuple(_warnings(found)),
        tuple(_unmeasured(found)),
        tuple(_notes(found)),
        dict(Counter(file.status for file in files)),
        dict(kinds.most_common()),
    )


def _todo(found: Found) -> Iterator[Task]:
    """Unreadable files first, then calls that were left, then what was measured and differs."""
    if found.convert:
        errors = [finding for finding in found.convert.findings if finding.severity == "error"]
        yield from (_task(each) for each in sorted(errors, key=lambda each: each.code != findings.MF900))
    if found.weights and not found.weights.complete:
        lost = (*found.weights.mismatched, *found.weights.missing, *found.weights.unexpected)
        what = f"{plural(len(lost), 'parameter')} found no place, first {lost[0]}"
        yield Task("weights", what, "give a map of names with --names, or mend the model")
    for stage, why in found.failed.items():
        yield Task(
            stage, f"{stage} could not run: {why}", "see what mindferry.toml says, then run `mindferry migrate` again"
        )
    if found.data and not found.data.passed:
        yield _other_data(found.data)
    if found.verify and not found.verify.passed:
        yield _divergence(found)
    if found.train and not found.train.passed:
        yield Task(
            "train",
            f"training parts: {found.train.first_difference}",
            "see which of lr, gradient norm and loss parts first",
        )
    if found.plain and found.plain.finding:
        first = found.plain.finding
        yield Task("plain", first.message, first.advice, first.path, first.line, first.code)
    if found.export and not found.export.passed:
        wrong = next(file for file in found.export.files if not file.passed)
        why = wrong.reason.partition("\n")[0].partition(" ---")[0]  # MindSpore's own messages go on with its call stack
        yield Task(
            "export",
            f"{wrong.form}: {why}",
            f"change what the message names, then `mindferry export {found.folder}` again",
        )


def _warnings(found: Found) -> Iterator[Task]:
    if found.convert:
        yield from (_task(each) for each in found.convert.findings if each.severity == "warning")
    times = _times_torch(found)
    if times > SLOW:
        what = f"a training step takes {times:.2g} times as long as in torch"
        yield Task(
            "tune",
            what,
            f"`mindferry tune {found.folder} --apply` keeps what makes it faster without changing the losses",
        )


def _unmeasured(found: Found) -> Iterator[Task]:
    """Only what there is: a project without a loader has no pipelines to compare."""
    if found.convert is None or not found.convert.files:
        return
    has_data = found.analyze is not None and any(
        framework().uses.has(Use.DATA_PIPELINE, use.api) for use in found.analyze.apis
    )
    has_training = _is_trained(found)
    whats = {
        "verify": "the network, module by module",
        "data": "the data pipelines, batch by batch",
        "train": "training steps, loss by loss",
        "plain": "the converted script as it is: own data, own random numbers, no torch in reach",
    }
    for stage, what in whats.items():
        if (
            stage not in (*found.written, *found.failed)
            and {"verify": True, "data": has_data, "train": has_training, "plain": has_training}[stage]
        ):
            yield Task(stage, what, f"`{COMMANDS[stage].format(out=found.folder)}`")
    for path, line, missed in unreached(found.observe, found.source) if found.observe else ():
        yield Task("observe", missed, "add a command that reaches it, after `&&`", path, line)


def _is_trained(found: Found) -> bool:
    """Whether the project has a script that trains."""
    uses = found.analyze.apis if found.analyze is not None else ()
    return found.train is not None or any(framework().uses.has(Use.OPTIMIZER, use.api) for use in uses)


def _other_data(pipelines: Pipelines) -> Task:
    wrong = next((each for each in pipelines.pipelines if not each.passed), None)
    if wrong is None:
        return Task("data", "the data pipelines differ")
    first = wrong.differences[0]
    return Task("data", f"{wrong.name}: {first.what} in {first.where}", first.detail)


def _task(finding: Finding) -> Task:
    return Task("convert", finding.message, finding.advice, finding.path, finding.line, finding.code)


def _divergence(found: Found) -> Task:
    verify = found.verify
    assert verify is not None
    if verify.outcome is Outcome.PARTIAL:
        gaps = [gap for gap in verify.coverage.gaps if gap.matters] if verify.coverage else []
        listed = "; ".join(f"{gap.name}: {gap.why}" for gap in gaps[:3]) + ("; …" if len(gaps) > 3 else "")
        return Task("verify", "same as far as compared", f"give inputs that reach it, or look at it: {listed}", "", 0)
    first = verify.first_divergence
    path, line = _defined_at(first, found.analyze)
    what = f"first divergence: {first}" if first else "predictions differ"
    said = verify.diagnosis[0] if verify.diagnosis else f"`mindferry verify {found.folder} --bisect` looks into it"
    return Task("verify", what, said, path, line)


def _defined_at(module: str, inventory: Inventory | None) -> tuple[str, int]:
    """Where the layer of that name is made, if only one class has one."""
    names = [part for part in module.split(".") if not part.isdigit()]
    if inventory is None or not names:
        return "", 0
    owners = [part for part in inventory.parts if any(child.partition(":")[0] == names[-1] for child in part.children)]
    return (owners[0].path, owners[0].line) if len(owners) == 1 else ("", 0)


def _verdict(found: Found, todo: tuple[Task, ...]) -> tuple[str, str, str]:
    differing = [each for each in todo if each.stage in MEASURED and each.stage not in found.failed]
    others = [each for each in todo if each not in differing]
    start = f"{_count(len(others), 'other thing')} left to do; start with {_sentence(others[0])}" if others else ""
    if differing:
        return (
            "different",
            "The conversion does not behave like the original yet.",
            f"{_sentence(differing[0])} {start}".strip(),
        )
    if others:
        is_same = not any(stage in MEASURED for stage in found.stale) and any(_measured(found))
        what = f"{_count(len(others), 'thing')} left for you."
        return (
            "open",
            f"What was compared behaves like the original; {what}" if is_same else what,
            f"Start with {_sentence(others[0])}",
        )
    if found.convert is None:
        return "unmeasured", "Read, not yet converted.", ""
    if not found.convert.files:
        return "unmeasured", "There is nothing here: no file was converted.", ""
    again = [stage for stage in found.stale if stage in MEASURED]
    if again:
        commands = " and ".join(f"`{COMMANDS[stage].format(out=found.folder)}`" for stage in again)
        return (
            "unmeasured",
            "Converted again since it was compared.",
            f"What was measured may no longer hold; run {commands} again.",
        )
    measured = list(_measured(found))
    if not measured:
        return (
            "unmeasured",
            "Converted without a finding; not measured yet.",
            f"`mindferry verify {found.folder}` runs both side by side.",
        )
    if found.plain is None and _is_trained(found):
        command = COMMANDS["plain"].format(out=found.folder)
        missing = f"The converted script has not run as it is yet: `{command}` does it."
        return "unmeasured", "What was compared agrees with the original.", " ".join([*measured, missing])
    return "same", "The conversion behaves like the original.", " ".join(measured)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s are' if number != 1 else ' is'}"


def plural(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _sentence(task: Task) -> str:
    where = f"{task.path}:{task.line}: " if task.path else ""
    return f"{where}{task.what}{'' if task.what.endswith('.') else '.'}"


def _measured(found: Found) -> Iterator[str]:
    """What the verdict rests on, a sentence a stage; nothing if nothing was compared."""
    tensors = len(found.verify.differences) if found.verify else 0
    steps = len(found.train.reference) if found.train else 0
    if found.verify and tensors:
        told = found.verify.predictions
        also = f"; {told.agree} of {told.samples} predictions are equal" if told else ""
        yield f"{tensors:,} tensors agree within what torch's own rounding allows{also}."
    if found.data and found.data.pipelines:
        yield f"{plural(_batches(found.data), 'batch', 'batches')} of {plural(len(found.data.pipelines), 'data pipeline')} agree."
    if found.train and steps:
        yield f"{steps:,} training steps keep their losses within {scientific(found.train.worst)} of each other."
    if found.plain and found.plain.passed:
        yield _plain_sentence(found.plain)
    if found.observe:
        yield from _reached(found.observe)
    if tensors and not steps:
        yield "Training has not been compared."
    if steps and not tensors:
        yield "The network has not been compared module by module."


def _reached(observation: Observation) -> Iterator[str]:
    count = sum(len(file.statements) for file in observation.files)
    missed = [(file.path, line) for file in observation.files for line in file.unreached]
    if missed:
        path, line = missed[0]
        yield f"{len(missed):,} of {count:,} statements did not run and are not covered, first {path}:{line}."


def _plain_sentence(plain: PlainRun) -> str:
    steps, seeds = plural(len(plain.losses), "step"), plural(len(plain.seeds), "seed")
    if not plain.losses:
        return "The converted script runs by itself and ends as the original ends."
    return f"The converted script runs by itself; its losses of {steps} lie in the band of {seeds} of torch."


def scientific(value: float) -> str:
    """Two digits: 1.8e-6, 0.25."""
    if value == 0 or 1e-3 <= abs(value) < 1e4 or not math.isfinite(value):
        return f"{value:.3g}"
    mantissa, _, power = f"{value:.1e}".partition("e")
    return f"{mantissa}e{int(power)}"


def _allowed(tolerance: float) -> str:
    return f"(allowed {scientific(tolerance).replace('.0e', 'e')})"


def _figures(found: Found) -> Iterator[Figure]:
    """What proves it first, then how much there was."""
    if found.verify:
        yield from _verify_figures(found)
    if found.data:
        state = "ok" if found.data.passed else "look"
        label = f"batches of {plural(len(found.data.pipelines), 'data pipeline')} compared"
        yield Figure(f"{_batches(found.data):,}", label, "verification", state)
    if found.train:
        label = (
            f"largest relative loss difference in {len(found.train.reference)} steps {_allowed(found.train.tolerance)}"
        )
        yield Figure(scientific(found.train.worst), label, "training", "ok" if found.train.passed else "look")
    if found.weights:
        state = "ok" if found.weights.complete else "look"
        yield Figure(f"{len(found.weights.entries):,}", "parameters carried", "weights", state)
    if found.analyze:
        apis = {use.api: use.kind not in ("missing", "unknown") for use in found.analyze.apis}
        covered = sum(apis.values())
        yield Figure(
            f"{covered} / {len(apis)}", "torch APIs covered", "analysis", "ok" if covered == len(apis) else "look"
        )


def _verify_figures(found: Found) -> Iterator[Figure]:
    assert found.verify is not None
    rows = found.verify.differences
    whole = max((row for row in rows if row.kind == "network"), key=strain, default=None)
    if whole is not None:
        label = f"largest output difference, relative to the largest output {_allowed(whole.tolerance)}"
        yield Figure(scientific(whole.max_rel), label, "verification", "ok" if whole.passed else "look")
    passed = sum(row.passed for row in rows)
    yield Figure(
        f"{passed:,} / {len(rows):,}",
        "tensors within tolerance",
        "verification",
        "ok" if passed == len(rows) else "look",
    )
    told = found.verify.predictions
    if told:
        yield Figure(
            f"{told.agree} / {told.samples}", "predictions equal", "verification", "ok" if told.passed else "look"
        )


def _stage(found: Found, stage: str) -> StageLine:
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
    said = f"{plural(len(inventory.files), 'file')}, {plural(inventory.lines, 'line')}, {plural(apis, 'torch API')}"
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
    said = f"{plural(len(data.pipelines), 'pipeline')} in both frameworks, {plural(_batches(data), 'batch', 'batches')} compared"
    return (
        ("look", f"{said}; {plural(wrong, 'pipeline')} not the same") if wrong else ("ok", f"{said}, all of them agree")
    )


def _batches(pipelines: Pipelines) -> int:
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
    said = f"{plural(len(train.reference), 'step')} in both frameworks, losses {apart} {scientific(train.worst)} {_allowed(train.tolerance)}"
    return ("ok", said) if train.passed else ("look", f"{said}; {train.first_difference}")


def _run_plainly(found: Found) -> tuple[str, str]:
    plain = found.plain
    assert plain is not None
    if plain.finding is None:
        return "ok", _plain_sentence(plain).rstrip(".")
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
        "warn" if _times_torch(found) > SLOW else "ok"
    ), f"{said}; {plural(len(tune.diagnoses), 'diagnosis', 'diagnoses')}, {plural(len(tune.experiments), 'experiment')}"


def _times_torch(found: Found) -> float:
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


def duration(seconds: float) -> str:
    if not math.isfinite(seconds):
        return "–"
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


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


def _notes(found: Found) -> Iterator[str]:
    for stage in found.stale:
        yield f"{stage} ran before the code was converted the last time: run `{COMMANDS[stage].format(out=found.folder)}` again"
    if found.verify:
        yield from found.verify.notes
