"""The verdict, what was carried over, and what is left to do, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import findings
from ..apis import SOURCES, framework, title_of
from ..artifacts import Finding, Inventory, Outcome
from ..read.uses import Use
from .code import RuleCard
from .gather import COMMANDS, Found
from .modules import strain
from .reach import is_passed_by, unreached
from .stages import SLOW, StageLine, batches, stage_line, times_torch
from .verdict import Task, Verdict, is_trained, judge
from .words import allowed, plural, scientific

GAPS = 30  # of what verify did not compare that are listed

if TYPE_CHECKING:
    from ..verify.data import Pipelines


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
    told = judge(found, todo)
    files = found.convert.files if found.convert else ()
    kinds = Counter(
        cards[each.rule].kind if each.rule in cards else "native" for file in files for each in file.rewrites
    )
    return Overview(
        told.state,
        told.text,
        told.detail,
        tuple(_figures(found)),
        tuple(stage_line(found, stage) for stage in COMMANDS),
        todo,
        tuple(_warnings(found)),
        tuple(_unmeasured(found)),
        tuple(_notes(found)),
        dict(Counter(file.status for file in files)),
        dict(kinds.most_common()),
    )


def verdict_of(found: Found) -> Verdict:
    return judge(found, tuple(_todo(found)))


def _todo(found: Found) -> Iterator[Task]:
    """Unreadable files first, then calls that were left, then what was measured and differs."""
    if found.convert:
        errors = [finding for finding in found.convert.findings if finding.severity == "error"]
        order = {id(each): is_passed_by(found.observe, each.path, each.line) for each in errors}
        ranked = sorted(errors, key=lambda each: (order[id(each)], each.code != findings.MF900))
        yield from (_task(each) for each in ranked)
    if found.weights and not found.weights.complete:
        lost = (*found.weights.mismatched, *found.weights.missing, *found.weights.unexpected)
        what = f"{plural(len(lost), 'parameter')} found no place, first {lost[0]}"
        yield Task("weights", what, "give a map of names with --names, or mend the model")
    for stage, why in found.failed.items():
        told = "see the script and its data" if found.observe else "see what mindferry.toml says"
        yield Task(stage, f"{stage} could not run: {why}", f"{told}, then run `mindferry migrate` again")
    if found.data and not found.data.passed:
        yield _other_data(found.data)
    if found.verify and not found.verify.passed and found.verify.outcome is not Outcome.PARTIAL:
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
    times = times_torch(found)
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
        framework(source).uses.has(Use.DATA_PIPELINE, use.api) for source in SOURCES for use in found.analyze.apis
    )
    has_training = is_trained(found)
    whats = {
        "verify": "the network, module by module",
        "data": "the data pipelines, batch by batch",
        "train": "training steps, loss by loss",
        "plain": "the converted script as it is: own data, own random numbers, its first framework not in reach",
    }
    for stage, what in whats.items():
        if (
            stage not in (*found.written, *found.failed)
            and {"verify": True, "data": has_data, "train": has_training, "plain": has_training}[stage]
        ):
            yield Task(stage, what, f"`{COMMANDS[stage].format(out=found.folder)}`")
    gaps = found.verify.coverage.gaps if found.verify is not None and found.verify.coverage else ()
    for gap in [gap for gap in gaps if gap.matters][:GAPS]:
        yield Task("verify", f"{gap.name}: {gap.why}", "give inputs that reach it, or look at it")
    for path, line, missed in unreached(found.observe, found.source) if found.observe else ():
        yield Task("observe", missed, "add a command that reaches it, after `&&`", path, line)


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


def _figures(found: Found) -> Iterator[Figure]:
    """What proves it first, then how much there was."""
    if found.verify:
        yield from _verify_figures(found)
    if found.data:
        state = "ok" if found.data.passed else "look"
        label = f"batches of {plural(len(found.data.pipelines), 'data pipeline')} compared"
        yield Figure(f"{batches(found.data):,}", label, "verification", state)
    if found.train:
        label = (
            f"largest relative loss difference in {len(found.train.reference)} steps {allowed(found.train.tolerance)}"
        )
        yield Figure(scientific(found.train.worst), label, "training", "ok" if found.train.passed else "look")
    if found.weights:
        state = "ok" if found.weights.complete else "look"
        yield Figure(f"{len(found.weights.entries):,}", "parameters carried", "weights", state)
    if found.analyze:
        apis = {use.api: use.kind not in ("missing", "unknown") for use in found.analyze.apis}
        covered = sum(apis.values())
        yield Figure(
            f"{covered} / {len(apis)}",
            f"{title_of(apis)} APIs covered",
            "analysis",
            "ok" if covered == len(apis) else "look",
        )


def _verify_figures(found: Found) -> Iterator[Figure]:
    assert found.verify is not None
    rows = found.verify.differences
    whole = max((row for row in rows if row.kind == "network"), key=strain, default=None)
    if whole is not None:
        label = f"largest output difference, relative to the largest output {allowed(whole.tolerance)}"
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


def _notes(found: Found) -> Iterator[str]:
    for stage in found.stale:
        yield f"{stage} ran before the code was converted the last time: run `{COMMANDS[stage].format(out=found.folder)}` again"
    if found.verify:
        yield from found.verify.notes
