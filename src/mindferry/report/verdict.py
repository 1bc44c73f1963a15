"""What may be said of a conversion: the same, different, the same as far as compared, or nothing; and what each rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..apis import SOURCES, framework
from ..artifacts import Gap, Outcome
from ..observation import Observation
from ..read.uses import Use
from .gather import COMMANDS, Found
from .reach import is_passed_by
from .stages import batches, plain_sentence
from .words import plural, scientific

MEASURED = ("data", "verify", "train", "plain")
SHOWN = 3  # of what was not compared, in a sentence


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
class Verdict:
    """`outcome` is None where nothing was compared."""

    state: str  # same, different, open, unmeasured
    outcome: Outcome | None
    text: str
    detail: str
    compared: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()  # what was not compared, and why


def judge(found: Found, todo: Sequence[Task]) -> Verdict:
    """ "Same" needs every network by itself, training, the batches and the script's own run, as far as there are such."""
    differing = [each for each in todo if each.stage in MEASURED and each.stage not in found.failed]
    others = [each for each in todo if each not in differing]
    compared, missing = tuple(measured(found)), tuple(not_compared(found))
    start = f"{_count(len(others), 'other thing')} left to do; start with {_sentence(others[0])}" if others else ""
    if differing:
        detail = f"{_sentence(differing[0])} {start}".strip()
        text = "The conversion does not behave like the original yet."
        return Verdict("different", Outcome.DIFFERENT, text, detail, compared, missing)
    again = [stage for stage in found.stale if stage in MEASURED]
    is_measured = bool(compared) and not again
    outcome = Outcome.PARTIAL if is_measured else None
    if others:
        text = _left(found, others, is_measured, bool(missing))
        return Verdict("open", outcome, text, f"Start with {_sentence(others[0])}", compared, missing)
    unmeasured = _unmeasured(found, again, compared)
    if unmeasured is not None:
        return unmeasured
    if missing:
        listed = "; ".join(missing[:SHOWN]) + (f"; and {len(missing) - SHOWN} more" if len(missing) > SHOWN else "")
        detail = " ".join((*compared, f"Not compared: {listed}."))
        return Verdict("open", outcome, "Same as far as compared; not everything was.", detail, compared, missing)
    return Verdict("same", Outcome.SAME, "The conversion behaves like the original.", " ".join(compared), compared)


def _left(found: Found, others: Sequence[Task], is_measured: bool, is_missing: bool) -> str:
    """What the command ran may be the same although something is left in what it did not run."""
    if not is_measured:
        return f"{_count(len(others), 'thing')} left for you."
    if not all(is_passed_by(found.observe, each.path, each.line) for each in others):
        return f"Same as far as compared; {_count(len(others), 'thing')} left for you."
    same = "Same as far as compared" if is_missing else "What your command runs behaves like the original"
    return f"{same}; {_count(len(others), 'place')} left where it did not run."


def _unmeasured(found: Found, again: Sequence[str], compared: tuple[str, ...]) -> Verdict | None:
    """Where no number of this conversion was laid beside one of the original."""
    if found.convert is None:
        return Verdict("unmeasured", None, "Read, not yet converted.", "")
    if not found.convert.files:
        return Verdict("unmeasured", None, "There is nothing here: no file was converted.", "")
    if again:
        commands = " and ".join(f"`{COMMANDS[stage].format(out=found.folder)}`" for stage in again)
        detail = f"What was measured may no longer hold; run {commands} again."
        return Verdict("unmeasured", None, "Converted or edited since it was compared.", detail)
    if not compared:
        detail = f"`mindferry verify {found.folder}` runs both side by side."
        return Verdict("unmeasured", None, "Converted without a finding; not measured yet.", detail)
    if not _has_numbers(found):
        text = "The converted script runs as the original does; no number was compared."
        return Verdict("unmeasured", None, text, compared[0], compared, tuple(not_compared(found)))
    return None


def _has_numbers(found: Found) -> bool:
    """Whether a tensor, a batch or a loss of both sides was laid beside the other."""
    is_data = found.data is not None and batches(found.data) > 0
    is_trained_alike = bool(found.train and found.train.reference) or bool(found.plain and found.plain.losses)
    return is_data or bool(found.verify and found.verify.differences) or is_trained_alike


def is_trained(found: Found) -> bool:
    """Whether the project has a script that trains."""
    return found.train is not None or _uses(found, Use.OPTIMIZER)


def _uses(found: Found, use: Use) -> bool:
    uses = found.analyze.apis if found.analyze is not None else ()
    return any(framework(source).uses.has(use, each.api) for source in SOURCES for each in uses)


def measured(found: Found) -> Iterator[str]:
    """What the verdict rests on, a sentence a stage; nothing if nothing was compared."""
    tensors = len(found.verify.differences) if found.verify else 0
    steps = len(found.train.reference) if found.train else 0
    if found.verify and tensors:
        told = found.verify.predictions
        also = f"; {told.agree} of {told.samples} predictions are equal" if told else ""
        yield f"{tensors:,} tensors agree within what {found.verify.framework}'s own rounding allows{also}."
    if found.data and batches(found.data):
        count = plural(batches(found.data), "batch", "batches")
        yield f"{count} of {plural(len(found.data.pipelines), 'data pipeline')} agree{_by_distribution(found)}."
    if found.train and steps:
        also = f", and so do the updates of {plural(found.train.updates, 'parameter')}" if found.train.updates else ""
        yield f"{steps:,} training steps keep their losses within {scientific(found.train.worst)} of each other{also}."
    gaps = found.verify.coverage.gaps if found.verify and found.verify.coverage else ()
    shown = dict.fromkeys(gap.name for gap in gaps if is_shown_in_training(gap, found))
    if shown:
        yield f"In these steps {', '.join(shown)} gave the same first outputs, from the same weights and inputs."
    if found.plain and found.plain.passed:
        yield plain_sentence(found.plain)
    if found.observe:
        yield from _reached(found.observe)
    if tensors and not steps:
        yield "Training has not been compared."


def _by_distribution(found: Found) -> str:
    """What of the batches is random, and was compared by its distribution only."""
    assert found.data is not None
    places = [place for each in found.data.pipelines for place in each.places if place.endswith("mean and spread")]
    return f" ({plural(len(places), 'random part')} of them in mean and spread)" if places else ""


def _reached(observation: Observation) -> Iterator[str]:
    count = sum(len(file.statements) for file in observation.files)
    missed = [(file.path, line) for file in observation.files for line in file.unreached]
    if missed:
        path, line = missed[0]
        yield f"{len(missed):,} of {count:,} statements did not run and are not covered, first {path}:{line}."


def not_compared(found: Found) -> Iterator[str]:
    """Everything that "same" would need and that no comparison has seen."""
    yield from _networks(found)
    if is_trained(found) or found.observe is not None:
        yield from _training(found)
        yield from _own_run(found)
    yield from _batches(found)


def _networks(found: Found) -> Iterator[str]:
    verify = found.verify
    gaps = [gap for gap in verify.coverage.gaps if gap.matters] if verify is not None and verify.coverage else []
    if verify is None or not (verify.differences or gaps):
        why = "the run called none" if found.observe is not None and not found.observe.networks else ""
        yield f"no network by itself ({why})" if why else "no network by itself"
    for gap in gaps:
        is_outside = (
            gap.subject == "method" and found.observe is not None
        )  # what the command does not call, it does not need
        if not (is_outside or is_shown_in_training(gap, found)):
            yield f"{gap.name}: {gap.why}"


def is_shown_in_training(gap: Gap, found: Found) -> bool:
    """Whether a network that can't be built outside of its script was seen to be alike inside of it."""
    alike = found.train.networks if found.train is not None and found.train.passed else ()
    is_called = gap.subject == "network" and gap.state == "not comparable"
    return is_called and gap.name.rpartition(".")[2] in alike


def _training(found: Found) -> Iterator[str]:
    if found.train is None or not found.train.reference:
        if not _trains_nothing(found):
            yield f"training{_why_no_training(found)}"
    else:
        yield from found.train.gaps
        training = [run for run in found.observe.runs if run.losses] if found.observe is not None else []
        for run in training[1:]:
            yield f"training of `{' '.join(run.command)}`: it needs what the commands before it write"


def _trains_nothing(found: Found) -> bool:
    """Whether the user's command only uses a network, and what it prints was compared."""
    is_used = found.observe is not None and not any(run.losses for run in found.observe.runs)
    return is_used and found.plain is not None and found.plain.printed > 0


def _why_no_training(found: Found) -> str:
    if found.observe is None:
        return ""
    command = next((" ".join(run.command) for run in found.observe.runs if run.losses), "")
    if command and len(found.observe.runs) > 1:
        return f": `{command}` needs what other commands write, and is not replayed step by step"
    return (
        f": what `{command}` trains is not one script that can be replayed" if command else ": the command made no step"
    )


def _own_run(found: Found) -> Iterator[str]:
    if found.plain is None:
        command = COMMANDS["plain"].format(out=found.folder)
        yield f"the converted script as it is: `{command}` runs it"
    else:
        yield from found.plain.gaps


def _batches(found: Found) -> Iterator[str]:
    has_loader = any(found.observe.loaders) if found.observe is not None else _uses(found, Use.DATA_PIPELINE)
    if found.data is None:
        if has_loader:
            yield "the batches of the data loaders"
        return
    for each in found.data.pipelines:
        if not each.compared:
            yield f"{each.name}: the loader gave no batch"
        yield from (f"{each.name}, {place}" for place in each.places if place.endswith("no number"))
    if not found.data.pipelines:
        yield f"the batches of the data loaders{f': {found.data.why}' if found.data.why else ''}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s are' if number != 1 else ' is'}"


def _sentence(task: Task) -> str:
    where = f"{task.path}:{task.line}: " if task.path else ""
    return f"{where}{task.what}{'' if task.what.endswith('.') else '.'}"
