"""Verification -> Comparison: record the reference, run the conversion against it, judge, and compare predictions."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from ..artifacts import Comparison, Gap, Outcome, Predictions
from ..errors import MindferryError
from ..files import complete_or_absent
from ..frameworks import mindspore, tensorflow, torch
from ..frameworks.process import Worker, WorkerError
from ..frameworks.requests import (
    BuildRequest,
    CompareRequest,
    Found,
    Measured,
    PredictRequest,
    RecordRequest,
    Shortfall,
    VariantsRequest,
)
from ..frameworks.worker import Link
from .bisect import Culprit, bisect
from .compare import Measurement
from .far_weights import has_far_weights
from .golden import Golden, open_golden
from .hand_edits import gaps_of_edits
from .judge import Verdict, judge
from .ledger import coverage, outcome_of
from .noise import is_near, with_noise
from .other_settings import with_settings
from .predict import agreement
from .result import (
    FIRST,
    Look,
    Result,
    closer,
    confirmed,
    has_unsettled,
    join,
    judge_initial,
    leaves_float32,
    next_look,
    notes_on,
)
from .settings import Verification
from .tried_methods import Settled, place_of
from .turned_settings import described, gap_of_turned
from .unasked_inputs import gap_of
from .variants import floor_on, is_gradient, is_other_kind, is_typed, mode_of

Show = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Reference:
    """What a reference's framework is asked, in its worker."""

    record: Callable[[RecordRequest, Link], None]
    other_sizes: Callable[[VariantsRequest, Link], tuple[tuple[str, ...], ...]]
    buffer_errors: Callable[[BuildRequest, Link], dict[str, float]]
    predict: Callable[[PredictRequest, Link], Found]


REFERENCES = {
    "torch": Reference(torch.record, torch.other_sizes, torch.buffer_errors, torch.predict),
    "tensorflow": Reference(tensorflow.record, tensorflow.other_sizes, tensorflow.buffer_errors, tensorflow.predict),
}


class Sides:
    """Both workers. One in which an operator failed is never asked again: MindSpore's gradients are wrong after that."""

    def __init__(self, settings: Verification, stack: ExitStack) -> None:
        self.settings, self._stack = settings, stack
        self.asked = REFERENCES[settings.source]
        self.torch = self._started(settings.source, settings.reference) if settings.golden is None else None
        self.mindspore = self._started("mindspore", settings.converted)
        self.has_cell = False
        self.turned: dict[str, float] = {}  # what its attributes hold meanwhile
        self.variant = ""  # the inputs that are tried, or the method

    def _started(self, framework: str, project: Path | None) -> Worker:
        return self._stack.enter_context(Worker(framework, project, silence=self.settings.timeout))

    def record(self, request: RecordRequest) -> Golden:
        assert self.torch is not None
        try:
            self.torch.ask(self.asked.record, request)
        except WorkerError as error:
            if error.kind != "error":  # it is gone
                self.torch.close()
                self.torch = self._started(self.settings.source, self.settings.reference)
            raise
        return open_golden(Path(request.golden))

    def compare(self, golden: Golden, modes: Sequence[str]) -> Measured:
        chosen = self.settings
        request = CompareRequest(chosen.converted_model, str(golden.path), tuple(modes), chosen.loss, chosen.optimizer)
        request = replace(request, turned=self.turned, variant=self.variant)
        try:
            found = self.mindspore.ask(mindspore.compare, replace(request, is_kept=self.has_cell))
        except WorkerError:
            self.renew()
            raise
        self.has_cell = True
        if found.is_spoilt:
            self.renew()
        return found

    def renew(self) -> None:
        self.mindspore.close()
        self.mindspore, self.has_cell = self._started("mindspore", self.settings.converted), False


def verify(settings: Verification, show: Show = lambda text: None, into: bool = False) -> Comparison:
    """Run both sides and compare them. `show` is told what is going on; `into` looks into the first culprit."""
    began = time.monotonic()
    if into and settings.source != "torch":
        raise MindferryError(
            "--bisect looks into torch modules only; without it, the table names the first layer that is wrong"
        )
    golden = open_golden(settings.golden) if settings.golden is not None else None
    with ExitStack() as stack:
        sides = Sides(settings, stack)
        settings, result = _main_set(settings, golden, sides, show)
        culprit = Culprit()
        if into and not result.verdict.passed:
            show("looking into the culprit")
            if not sides.has_cell:
                sides.compare(result.golden, [mode for mode in settings.modes if mode != "jit"][:1])
            culprit = bisect(
                settings, result.golden, result.verdict, sides.torch, sides.mindspore, result.measured.classes
            )
        is_tried = golden is None and (result.verdict.passed or settings.more_inputs)
        settled = Settled(result)
        others, gaps = _other_sets(settings, sides, show, result.golden.methods, settled) if is_tried else ([], [])
        gaps += _turned_settings(settings, sides, result.measured.turnable) if is_tried else []
        if result.verdict.passed and settings.source == "torch":
            gaps += gaps_of_edits(
                settings.reference,
                settings.converted,
                (settings.model, settings.converted_model),
                (settings.optimizer, settings.loss),
            )
        verdict = with_settings(join([("", result.verdict), *others]), result.golden, result.measured.settings)
        predictions, notes = _predictions(settings, sides, show)
    measured = replace(result.measured, shortfalls=tuple(settled.rest(result.measured.shortfalls)))
    ledger = coverage(settled.golden(), measured, verdict.differences, settings.modes, [*gaps, *settled.gaps()])
    passed = verdict.passed and (predictions is None or predictions.passed)
    outcome = outcome_of(passed, ledger)
    return Comparison(
        settings.converted_model,
        ", ".join(settings.inputs),
        verdict.differences,
        predictions,
        outcome is Outcome.SAME,
        verdict.first_divergence,
        time.monotonic() - began,
        verdict.culprits,
        result.measured.unmatched,
        (*settings.notes, *notes, *notes_on(result.golden)),
        culprit.lines,
        culprit.script,
        outcome,
        ledger,
        result.golden.framework,
    )


def _main_set(settings: Verification, golden: Golden | None, sides: Sides, show: Show) -> tuple[Verification, Result]:
    if golden is None:
        show("running the reference")
        golden = sides.record(_request(settings, sides))
    settings = sides.settings = _fit(settings, golden)
    show("running the conversion")
    result = _compare(settings, golden, sides)
    if settings.golden is None:
        result = _with_noise(result, _request(settings, sides), sides)
    result = _settled(result, sides)
    look = next_look(result, _first_look(settings)) if settings.golden is None else None
    while look is not None:
        show("looking for the culprit" if not look.is_rough else "allowing for MindSpore's own kernels")
        golden = sides.record(_request(settings, sides, look))
        found = _settled(_compare(settings, golden, sides), sides)
        result = closer(result, found) if look.is_rough else found
        look = next_look(result, look)
    return settings, result


def _with_noise(result: Result, request: RecordRequest, sides: Sides) -> Result:
    """Where a first look is a little off, how far torch's own float32 is off there."""
    if sides.torch is None or sides.settings.source != "torch" or not is_near(result.verdict, result.golden):
        return result
    golden = with_noise(result.golden, sides.torch.ask(torch.float32_errors, request))
    verdict = judge(
        _judged(result.measured, "init" in {row.mode for row in result.verdict.differences}),
        golden,
        sides.settings.rule,
    )
    return Result(golden, result.measured, verdict)


def _settled(result: Result, sides: Sides) -> Result:
    """What the constructors computed is measured where it is off; that needs nothing but the reference's constructor."""
    if sides.torch is None or not has_unsettled(result.verdict):
        return result
    request = BuildRequest(sides.settings.model, sides.settings.seed)
    errors = sides.torch.ask(sides.asked.buffer_errors, request)
    return replace(result, verdict=judge_initial(result.verdict, errors, sides.settings.rule))


def _other_sets(
    settings: Verification, sides: Sides, show: Show, methods: dict[str, list[str]], settled: Settled
) -> tuple[list[tuple[str, Verdict]], list[Gap]]:
    """The other sets of inputs that were given; without any, the sizes that the reference takes, and methods that nothing called."""
    verdicts: list[tuple[str, Verdict]] = []
    gaps: list[Gap] = []
    for inputs in settings.more_inputs:
        show(f"the inputs {', '.join(inputs)}")
        _, result = _main_set(replace(settings, inputs=inputs, optimizer="", steps=0), None, sides, show)
        sides.settings = settings
        verdicts.append((", ".join(inputs), result.verdict))
    if settings.more_inputs or "eval" not in settings.modes:
        return verdicts, gaps
    assert sides.torch is not None
    request = VariantsRequest(settings.inputs, settings.seed, methods)
    for group in sides.torch.ask(sides.asked.other_sizes, request):
        for said in (each for each in group if mode_of(each) in settings.modes):
            show(said)
            try:
                tried = _try_size(settings, sides, said, settled.watches(said))
            except _ConversionFailed as error:
                if is_typed(said):  # whoever gives it that type is told
                    break
                gaps.append(Gap("inputs", said, "not comparable", f"the conversion fails there: {error}"))
                break
            if tried is None:
                continue
            gap = gap_of(said, tried.verdict.passed)
            settled.note(said, tried)
            if place_of(said) is not None:
                break
            if gap is not None:
                gaps.append(gap)
            else:
                verdicts.append((said, tried.verdict))
            break
    return verdicts, gaps


def _turned_settings(settings: Verification, sides: Sides, values: dict[str, float]) -> list[Gap]:
    """Numbers in attributes that a loop may turn: where the sides part with other ones, that is listed."""
    if not values or settings.source != "torch" or settings.more_inputs or "eval" not in settings.modes:
        return []
    said, sides.turned = described(values), values
    try:
        tried = _try_size(settings, sides, said)
    except _ConversionFailed as error:
        return [gap_of_turned(said, f"the conversion fails with these numbers: {error}")]
    finally:
        sides.turned = {}
    return [] if tried is None or tried.verdict.passed else [gap_of_turned(said)]


class _ConversionFailed(Exception):
    """On inputs that the reference takes."""


def _try_size(settings: Verification, sides: Sides, said: str, is_watched: bool = False) -> Result | None:
    """Outputs alone, in eval mode, on the inputs in another size; None if the reference does not take it."""
    rule = replace(settings.rule, floor=floor_on(said, settings.rule.floor))
    chosen = replace(settings, modes=(mode_of(said),), optimizer="", steps=0, loss="", targets=(), rule=rule)
    sides.settings, sides.variant = chosen, said
    look: Look | None = FIRST
    result: Result | None = None
    while look is not None:
        is_quick = not (look.inside or is_gradient(said))
        is_other = has_far_weights(said) or place_of(said) is not None or bool(sides.turned)
        is_other |= is_other_kind(said)  # and comes after such
        has_weights = is_other or not (is_quick and sides.has_cell)
        request = replace(_request(chosen, sides, look, said), variant=said, is_quick=is_quick, has_weights=has_weights)
        request = replace(request, turned=sides.turned, is_watched=is_watched)
        try:
            golden = sides.record(request)
        except MindferryError:  # of a closer look: a gradient of NaN, perhaps. What was seen first counts
            break
        try:
            found = _compare(chosen, golden, sides, is_first=False)
        except MindferryError as error:
            raise _ConversionFailed(str(error)) from None
        if is_quick:
            found = _with_noise(found, request, sides)
        result = found if result is None else confirmed(result, found, rule)
        look = next_look(result, look) if settings.source == "torch" and place_of(said) is None else None
    sides.variant = ""
    return None if result is None or leaves_float32(said, result) else result


def _first_look(settings: Verification) -> Look:
    """A Keras network is recorded in full at once."""
    return FIRST if settings.source == "torch" else Look(inside=True)


def _predictions(settings: Verification, sides: Sides, show: Show) -> tuple[Predictions | None, tuple[str, ...]]:
    if not settings.test_data:
        return None, ()
    if sides.torch is None:
        return None, ("predictions are not compared with a golden file: name the torch project instead",)
    show("comparing predictions")
    golden = sides.record(_request(settings, sides))
    sides.settings = settings
    sides.compare(golden, ["eval"] if "eval" in golden.modes else list(golden.modes)[:1])
    request = PredictRequest(settings.test_data, settings.samples)
    begun = sides.torch.start(sides.asked.predict, request), sides.mindspore.start(mindspore.predict, request)
    theirs, ours = (pending.result() for pending in begun)
    return agreement(Path(theirs.path), Path(ours.path)), ()


def record(settings: Verification, path: Path, show: Show = lambda text: None) -> Golden:
    """Write the golden file of the torch model to `path`."""
    show("running the reference")
    with (
        complete_or_absent(path) as partial,
        Worker(settings.source, settings.reference, silence=settings.timeout) as worker,
    ):
        worker.ask(REFERENCES[settings.source].record, _record_request(settings, partial, Look(inside=True)))
    return open_golden(path)


def _request(settings: Verification, sides: Sides, look: Look = FIRST, other: str = "") -> RecordRequest:
    assert sides.torch is not None
    what = repr((settings.inputs, other, look.is_rough))
    name = f"golden-{zlib.crc32(what.encode())}.safetensors"  # --bisect reads the first again
    return _record_request(settings, sides.torch.scratch / name, look)


def _record_request(settings: Verification, path: Path, look: Look) -> RecordRequest:
    """What the reference computes; each module's inputs are needed only to find a culprit."""
    return RecordRequest(
        settings.model,
        settings.inputs,
        str(path),
        settings.weights,
        tuple(sorted({"eval" if mode == "jit" else mode for mode in settings.modes})),
        settings.seed,
        look.inside,
        loss=settings.loss,
        targets=settings.targets,
        optimizer=settings.optimizer,
        steps=settings.steps,
        is_rough=look.is_rough,
    )


def _compare(settings: Verification, golden: Golden, sides: Sides, is_first: bool = True) -> Result:
    """Plain modes together; what is compiled or cast apart, so that a crash there leaves the others their verdict."""
    apart = [mode for mode in settings.modes if mode in ("jit", "amp")]
    plain = [mode for mode in settings.modes if mode not in apart]
    found = sides.compare(golden, plain) if plain or not apart else None
    for mode in apart:
        try:
            more = sides.compare(golden, [mode])
        except WorkerError as error:
            if found is None:
                raise
            more = Measured((), shortfalls=(Shortfall("mode", mode, "not comparable", error.sentence),))
        found = more if found is None else _joined(found, more)
    assert found is not None
    return Result(golden, found, judge(_judged(found, is_first), golden, settings.rule))


def _judged(found: Measured, with_initial: bool) -> list[Measurement]:
    return [row for row in found.measurements if with_initial or row.mode != "init"]


def _joined(one: Measured, other: Measured) -> Measured:
    fresh = [row for row in other.measurements if row.mode != "init" and row.kind != "update"]
    unmatched = dict.fromkeys((*one.unmatched, *other.unmatched))
    shortfalls = dict.fromkeys((*one.shortfalls, *other.shortfalls))
    return replace(
        one, measurements=(*one.measurements, *fresh), unmatched=tuple(unmatched), shortfalls=tuple(shortfalls)
    )


def _fit(settings: Verification, golden: Golden) -> Verification:
    """With a golden file, what it was recorded with stands in for what was not given."""
    if settings.golden is None:
        return settings
    modes = tuple(mode for mode in settings.modes if mode in golden.modes or (mode == "jit" and "eval" in golden.modes))
    described = tuple(item.name or item.key or repr(item.literal) for item in golden.inputs)
    return replace(settings, converted_model=settings.converted_model or golden.title, inputs=described, modes=modes)
