"""Two data pipelines over the same files, batch by batch: places, shapes, types, values, order, lengths, shards.

    result = compare_pipelines("data:test_loader(batch_size=8)", Path("resnet50"), Path("resnet50_ms"))
    result.passed, result.pipelines[0].differences

Both sides draw the order of samples from the same stream, so that shuffled batches are compared one by one. A pipeline that gives other
batches in its second epoch is random: numbers that an augmentation changes are then compared by mean and spread.
"""

from __future__ import annotations

import functools
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..artifacts import Outcome
from ..errors import MindferryError
from ..frameworks.process import Worker
from ..frameworks.requests import BatchesRequest, LoaderRun
from ..layout import SECOND
from .data_batches import collect
from .data_random import ANOTHER_ORDER, MEAN_AND_SPREAD, compare_random, is_unknown, same_samples
from .settings import DataVerification

if TYPE_CHECKING:
    import numpy as np

OTHER_SEED = 1000  # what another run of the original adds to its seeds
KERAS_LONGEST = (
    1000  # batches of an epoch that are waited for: tf.data often repeats without an end, and says nothing of it
)
TOLERANCE = 1e-5  # of the largest number in the batch; integers must be equal


@dataclass(frozen=True, slots=True)
class PipelineDifference:
    where: str  # such as "epoch 1, batch 3, image"
    what: str  # length, places, shape, type, values, order, distribution, shards
    detail: str


@dataclass(frozen=True, slots=True)
class PipelineComparison:
    """One loader on both sides."""

    name: str  # what made it, and which of its loaders
    lengths: tuple[int, ...]  # batches in each epoch of the reference
    is_random: bool
    compared: int  # batches whose values were compared
    largest: float  # difference between two numbers
    differences: tuple[PipelineDifference, ...]
    places: tuple[
        str, ...
    ] = ()  # "image: equal", "label: the same samples in another order", "crop: the same mean and spread"

    @property
    def passed(self) -> bool:
        return not self.differences


@dataclass(frozen=True, slots=True)
class Pipelines:
    """What `mindferry verify --data` measured."""

    pipelines: tuple[PipelineComparison, ...]
    passed: bool
    seconds: float = 0.0
    why: str = ""  # nothing was compared
    outcome: Outcome = Outcome.PARTIAL


@dataclass(frozen=True, slots=True)
class Run:
    """What one loader of one side gave: (epoch, batch) -> place -> array."""

    name: str
    lengths: tuple[int, ...]
    announced: int | None
    batches: dict[tuple[int, int], dict[str, np.ndarray[Any, Any]]]

    @property
    def is_random(self) -> bool:
        import numpy as np

        first = {number: batch for (epoch, number), batch in self.batches.items() if epoch == 0}
        return any(
            place not in first[number] or not np.array_equal(values, first[number][place])
            for (epoch, number), batch in self.batches.items()
            if epoch == 1 and number in first
            for place, values in batch.items()
        )

    @property
    def places(self) -> list[str]:
        """Not every batch has all of them: the last one may be shorter, and a list of boxes with it."""
        return list(dict.fromkeys(place for batch in self.batches.values() for place in batch))

    def samples(self, places: list[str]) -> list[bytes]:
        """The rows of the first epoch, as bytes."""
        return [row for (epoch, _), batch in self.batches.items() if epoch == 0 for row in _samples(batch, places)]


def compare_pipelines(
    data: str | Sequence[str],
    reference: Path,
    converted: Path,
    *,
    epochs: int = 2,
    batches: int = 50,
    seed: int = 0,
    shards: int = 0,
    tolerance: float = TOLERANCE,
    helpers: Sequence[str] = (),
    is_drawn: bool = False,
    longest: int = 20_000,
    source: str = "torch",
    show: Callable[[str], None] = lambda text: None,
) -> Pipelines:
    """Run the same pipelines of both projects and compare what they yield.

    `data`: `module:function(arguments)` that returns a loader or several, or `script.py arguments`, whose own loaders are taken; or a
    list of these. With `shards`, a function is called with rank= and world_size= for every rank as well. `helpers`: the modules in which
    the conversion keeps its samplers. `is_drawn`: the samples themselves may be drawn at random; another run of the original then
    shows whether they are, and such are compared by mean and spread. `source`: the original's framework. Of an epoch of more than `longest` batches only the first
    are read, and its length is not compared.
    """
    began = time.monotonic()
    found: list[PipelineComparison] = []
    for each in [data] if isinstance(data, str) else data:
        show(each)
        request = BatchesRequest(each, max(epochs, 2), batches, seed, tuple(helpers), longest=longest)
        with (
            Worker(source, reference) as original,
            Worker("mindspore", converted, reference=reference) as mindspore,
        ):
            theirs, ours = _run((original, mindspore), request)
            runs = _Both(each, theirs, ours, functools.partial(_again, source, reference, request), is_drawn)
            found += _compare_loaders(runs, tolerance)
            if shards and ".py" not in each:
                found.append(_compare_shards(request, (original, mindspore), shards, tolerance))
    outcome = outcome_of(found)
    return Pipelines(tuple(found), outcome is not Outcome.DIFFERENT, time.monotonic() - began, outcome=outcome)


def outcome_of(found: Sequence[PipelineComparison]) -> Outcome:
    """ "Same" only where every loader gave batches, and something is known of all that they hold."""
    if not all(each.passed for each in found):
        return Outcome.DIFFERENT
    is_whole = all(each.compared and not any(map(is_unknown, each.places)) for each in found)
    return Outcome.SAME if found and is_whole else Outcome.PARTIAL


def run(
    settings: DataVerification, show: Callable[[str], None] = lambda text: None, is_drawn: bool = False
) -> Pipelines:
    return compare_pipelines(
        settings.data,
        settings.reference,
        settings.converted,
        seed=settings.seed,
        shards=settings.shards,
        helpers=settings.helpers,
        is_drawn=is_drawn,
        longest=KERAS_LONGEST if settings.source == SECOND else 20_000,
        source=settings.source,
        show=show,
    )


class OriginalFails(MindferryError):
    """The reference itself gives no batches when it is asked for them."""


def _run(sides: Sequence[Worker], request: BatchesRequest) -> tuple[list[Run], list[Run]]:
    """What each side gave, loader by loader."""
    begun = [side.start(collect, request) for side in sides]
    runs: list[list[Run]] = []
    problems: dict[int, MindferryError] = {}
    for number, pending in enumerate(begun):
        try:
            runs.append([_read(each) for each in pending.result()])
        except MindferryError as error:
            problems[number] = error
    if len(problems) == 2:
        raise OriginalFails(f"{request.data} fails in both frameworks. {problems[0]}. {problems[1]}")
    if 0 in problems:
        raise OriginalFails(str(problems[0])) from problems[0]
    if problems:
        raise problems[1]
    return runs[0], runs[1]


def _read(result: LoaderRun) -> Run:
    import numpy as np

    with np.load(result.file, allow_pickle=False) as file:
        batches = {
            (each.epoch, each.batch): {place: file[f"{each.epoch}/{each.batch}/{place}"] for place in each.places}
            for each in result.places
        }
    return Run(result.name, result.lengths, result.announced, batches)


@dataclass(frozen=True, slots=True)
class _Both:
    """The loaders of both sides, and how to have those of the original once more, with other seeds."""

    data: str
    theirs: list[Run]
    ours: list[Run]
    again: Callable[[], list[Run]]
    is_drawn: bool  # the samples may be drawn at random


def _again(source: str, reference: Path, request: BatchesRequest) -> list[Run]:
    """The original in a process of its own, with other seeds but the same order of samples; nothing if it fails this time."""
    try:
        with Worker(source, reference) as original:
            return [_read(each) for each in original.start(collect, replace(request, offset=OTHER_SEED)).result()]
    except MindferryError:
        return []


def _compare_loaders(runs: _Both, tolerance: float) -> list[PipelineComparison]:
    found = []
    again: list[Run] | None = None
    for number, (one, other) in enumerate(_pairs(runs.theirs, runs.ours)):
        comparison = compare_runs(one, other, tolerance)
        is_equal = comparison.passed and not any(place.endswith(MEAN_AND_SPREAD) for place in comparison.places)
        if not is_equal and (one.is_random or runs.is_drawn):
            again = runs.again() if again is None else again
            comparison = compare_runs(one, other, tolerance, again[number] if number < len(again) else None)
        found.append(replace(comparison, name=f"{runs.data}, {one.name}" if one.name else runs.data))
    if len(runs.theirs) != len(runs.ours):
        what = f"{len(runs.theirs)} loaders in the original, {len(runs.ours)} in MindSpore"
        difference = PipelineDifference("loaders", "length", what)
        found.append(PipelineComparison(runs.data, (), False, 0, 0.0, (difference,)))
    return found


def _pairs(theirs: list[Run], ours: list[Run]) -> list[tuple[Run, Run]]:
    """By their names where both sides have the same ones, else in their order."""
    named = {each.name: each for each in ours}
    if len(named) == len(ours) and {each.name for each in theirs} == {*named}:
        return [(each, named[each.name]) for each in theirs]
    return list(zip(theirs, ours, strict=False))


def _compare_shards(
    request: BatchesRequest, sides: Sequence[Worker], shards: int, tolerance: float
) -> PipelineComparison:
    """Every rank's batches against the original's; all ranks together hold every sample, as often as there."""
    found: list[PipelineDifference] = []
    counts: list[Counter[bytes]] = [Counter(), Counter()]
    lengths, compared, largest = [], 0, 0.0
    for rank in range(shards):
        shard = _with_arguments(request.data, f"rank={rank}, world_size={shards}")
        one, other = (loaders[0] for loaders in _run(sides, replace(request, data=shard)))
        comparison = compare_runs(one, other, tolerance)
        lengths.append(one.lengths[0])
        compared, largest = compared + comparison.compared, max(largest, comparison.largest)
        found += [
            PipelineDifference(f"rank {rank}, {each.where}", each.what, each.detail) for each in comparison.differences
        ]
        for count, run in zip(counts, (one, other), strict=True):
            count.update(run.samples(_steady(one)))
    missing, more = len(counts[0] - counts[1]), len(counts[1] - counts[0])
    if missing or more:
        told = f"{missing} samples are in no shard or in fewer than in the original, {more} in more"
        found.insert(0, PipelineDifference("all ranks", "shards", told))
    twice = sum(count - 1 for count in counts[1].values())
    told = f"{len(counts[1])} samples in {shards} shards, {twice or 'none'} of them repeated, as in the original"
    name = f"{request.data}, {shards} shards"
    return PipelineComparison(name, tuple(lengths), False, compared, largest, tuple(found), () if found else (told,))


def _steady(run: Run) -> list[str]:
    """The places that no augmentation changes; all, if there is none such."""
    return [place for place in run.places if _repeats(place, run)] or run.places


def _repeats(place: str, run: Run) -> bool:
    """Whether both epochs hold the same samples there, in whatever order."""
    epochs = [[batch[place] for key, batch in run.batches.items() if key[0] == epoch] for epoch in (0, 1)]
    return same_samples(*epochs)


def _with_arguments(function: str, more: str) -> str:
    if not function.endswith(")"):
        return f"{function}({more})"
    given = function[:-1].rstrip()
    return f"{given}{'' if given.endswith(('(', ',')) else ', '}{more})"


def compare_runs(theirs: Run, ours: Run, tolerance: float, again: Run | None = None) -> PipelineComparison:
    """`again`: the original once more with other seeds; what differs there is drawn at random, and has no fixed values."""
    found: list[PipelineDifference] = []
    if theirs.lengths != ours.lengths:
        found.append(
            PipelineDifference(
                "epochs", "length", f"{theirs.lengths} batches in the original, {ours.lengths} in MindSpore"
            )
        )
    if theirs.announced != ours.announced:
        found.append(
            PipelineDifference("len()", "length", f"{theirs.announced} in the original, {ours.announced} in MindSpore")
        )
    if theirs.is_random != ours.is_random:
        order = {True: "changes from epoch to epoch", False: "is the same in every epoch"}
        found.append(
            PipelineDifference(
                "epochs",
                "order" if again is not None or _share_samples(theirs, ours) else "values",
                f"what the original gives {order[theirs.is_random]}, in MindSpore it {order[ours.is_random]}",
            )
        )
    shared = [key for key in theirs.batches if key in ours.batches]
    drawn = _drawn_axes(theirs, again) if again is not None else {}
    for key in shared:
        found += _compare_forms(key, theirs.batches[key], ours.batches[key], drawn)
    largest, how = 0.0, []
    kinds: dict[str, str] = {}
    if not any(each.what in ("places", "type", "shape") for each in found):
        for place in theirs.places:
            holding = [key for key in shared if place in theirs.batches[key]]
            alike_keys = [key for key in holding if _has_one_shape(place, key, theirs, ours)]
            differences, distance = _compare_values(place, alike_keys, theirs, ours, tolerance)
            if len(alike_keys) < len(holding):
                differences = [PipelineDifference(place, "shape", "drawn at random")]
            told = "equal"
            others = _at(place, again, theirs) if again is not None else None
            is_drawn = others is not None and not same_samples(_at(place, theirs, theirs), others)
            if differences and (theirs.is_random or is_drawn):
                alike = compare_random(
                    _at(place, theirs, theirs), _at(place, ours, theirs), others, _repeats(place, theirs)
                )
                differences = [PipelineDifference(place, alike.what, alike.detail)] if alike.what else []
                told = alike.told
            largest = max(largest, distance if told == "equal" else 0.0)
            found += differences
            how += [] if differences else [f"{place}: {told}" if place else told]
            kinds[place] = told
        found += [] if found else _torn_samples(kinds, shared, theirs, ours)
    return PipelineComparison(
        theirs.name, theirs.lengths, theirs.is_random, len(shared), largest, tuple(found), tuple(how)
    )


def _drawn_axes(theirs: Run, again: Run) -> dict[str, set[int]]:
    """Axes whose lengths are others when the original draws others: how many boxes a made-up picture has."""
    found: dict[str, set[int]] = {}
    for key, batch in theirs.batches.items():
        for place, array in batch.items():
            other = again.batches.get(key, {}).get(place)
            if other is not None and other.ndim == array.ndim:
                axes = {axis for axis in range(array.ndim) if array.shape[axis] != other.shape[axis]}
                found.setdefault(place, set()).update(axes)
    return found


def _has_one_shape(place: str, key: tuple[int, int], theirs: Run, ours: Run) -> bool:
    return bool(theirs.batches[key][place].shape == ours.batches[key][place].shape)


def _torn_samples(
    kinds: dict[str, str], keys: list[tuple[int, int]], theirs: Run, ours: Run
) -> list[PipelineDifference]:
    """Where a part of the samples stands in another order, the other parts must, too: a label goes with its picture."""
    steady = [place for place, told in kinds.items() if told in ("equal", ANOTHER_ORDER)]
    if len(steady) < 2 or ANOTHER_ORDER not in kinds.values():
        return []
    one, other = Counter[bytes](), Counter[bytes]()
    for key in keys:
        expected = {place: theirs.batches[key][place] for place in steady if place in theirs.batches[key]}
        # what is equal within the tolerance is not equal byte by byte
        actual = {place: expected[place] if kinds[place] == "equal" else ours.batches[key][place] for place in expected}
        one.update(_samples(expected, steady))
        other.update(_samples(actual, steady))
    if one == other:
        return []
    told = f"each of them holds what it should, but {' and '.join(steady)} of one sample no longer belong together"
    return [PipelineDifference(" and ".join(steady), "order", told)]


def _at(place: str, run: Run, like: Run) -> list[np.ndarray[Any, Any]]:
    """What stands there in all batches that the other run has too."""
    return [batch[place] for key, batch in run.batches.items() if key in like.batches and place in batch]


def _is_shape(actual: tuple[int, ...], expected: tuple[int, ...], drawn: set[int]) -> bool:
    """Whether it is the expected one, apart from lengths that are drawn."""
    pairs = enumerate(zip(actual, expected, strict=False))
    return len(actual) == len(expected) and all(one == other or axis in drawn for axis, (one, other) in pairs)


Batch = dict[str, "np.ndarray[Any, Any]"]


def _name(key: tuple[int, int], place: str = "") -> str:
    return f"epoch {key[0] + 1}, batch {key[1] + 1}" + (f", {place}" if place else "")


def _compare_forms(
    key: tuple[int, int], theirs: Batch, ours: Batch, drawn: dict[str, set[int]]
) -> list[PipelineDifference]:
    if list(theirs) != list(ours):
        return [
            PipelineDifference(
                _name(key), "places", f"{', '.join(theirs)} in the original, {', '.join(ours)} in MindSpore"
            )
        ]
    found = []
    for place, expected in theirs.items():
        actual = ours[place]
        if not _is_shape(actual.shape, expected.shape, drawn.get(place, set())):
            found.append(
                PipelineDifference(
                    _name(key, place), "shape", f"{expected.shape} in the original, {actual.shape} in MindSpore"
                )
            )
        elif expected.dtype != actual.dtype and expected.dtype.kind not in "US":
            found.append(
                PipelineDifference(
                    _name(key, place), "type", f"{expected.dtype} in the original, {actual.dtype} in MindSpore"
                )
            )
    return found


def _compare_values(
    place: str, keys: list[tuple[int, int]], theirs: Run, ours: Run, tolerance: float
) -> tuple[list[PipelineDifference], float]:
    import numpy as np

    found, largest = [], 0.0
    for key in keys:
        expected, actual = theirs.batches[key][place], ours.batches[key][place]
        if expected.dtype.kind not in "fciu" or not expected.size:
            if not np.array_equal(expected, actual):
                told = f"{expected.flat[0]!r} in the original, {actual.flat[0]!r} in MindSpore"
                found.append(PipelineDifference(_name(key, place), "values", told))
            continue
        distance = _distance(expected, actual)
        allowed = tolerance * max(1.0, _size(expected)) if expected.dtype.kind in "fc" else 0.0
        largest = max(largest, distance)
        if distance > allowed or not np.array_equal(np.isnan(expected), np.isnan(actual)):
            found.append(
                PipelineDifference(
                    _name(key, place), "values", f"differ by up to {distance:.3g}; {allowed:.3g} is allowed"
                )
            )
    return found, largest


def _distance(expected: np.ndarray[Any, Any], actual: np.ndarray[Any, Any]) -> float:
    import numpy as np

    kind = np.complex128 if expected.dtype.kind == "c" else np.float64
    return _size(expected.astype(kind) - actual.astype(kind))


def _size(values: np.ndarray[Any, Any]) -> float:
    """The largest number; one that is NaN doesn't count."""
    import numpy as np

    return float(np.nanmax(np.abs(values))) if not np.isnan(values).all() else 0.0


def _share_samples(theirs: Run, ours: Run) -> bool:
    """Whether both sides hold the same samples, in whatever order: only then is it the order that differs.

    All of them in some place; or most of them, as whole samples, since a loader that drops its last batch drops others each time.
    """
    places = [place for place in theirs.places if place in ours.places]
    sides = ([[batch[place] for batch in run.batches.values()] for run in (theirs, ours)] for place in places)
    if any(same_samples(*side) for side in sides):
        return True
    one, other = (
        {each for batch in run.batches.values() for each in _samples(batch, places)} for run in (theirs, ours)
    )
    return bool(places) and 2 * len(one & other) > min(len(one), len(other))


def _samples(batch: Batch, places: list[str]) -> list[bytes]:
    """Row for row of what has a row for each sample, as what stands in the first of the places has."""
    import numpy as np

    found = [np.atleast_1d(batch[place]) for place in places if place in batch]
    rows = zip(*(each for each in found if len(each) == len(found[0])), strict=True)
    return [b"|".join(np.ascontiguousarray(part).tobytes() for part in row) for row in rows]
