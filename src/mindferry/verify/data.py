"""Two data pipelines over the same files, batch by batch: places, shapes, types, values, order, lengths, shards.

    result = compare_pipelines("data:test_loader(batch_size=8)", Path("resnet50"), Path("resnet50_ms"))
    result.passed, result.differences

A pipeline that gives other batches in its second epoch is random. Then labels and untouched samples must be the same set, and numbers
that an augmentation changes are compared by mean and spread.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .backends.process import Worker

if TYPE_CHECKING:
    import numpy as np

COLLECT = f"{__package__}.data_batches:collect"
TOLERANCE = 1e-5  # of the largest number in the batch; integers must be equal
SPREADS = 5.0  # standard errors that means may lie apart


@dataclass(frozen=True, slots=True)
class PipelineDifference:
    where: str  # such as "epoch 1, batch 3, image"
    what: str  # length, places, shape, type, values, order, distribution, shards
    detail: str


@dataclass(frozen=True, slots=True)
class PipelineComparison:
    function: str
    lengths: tuple[int, ...]  # batches in each epoch of the reference
    is_random: bool
    compared: int  # batches whose values were compared
    largest: float  # difference between two numbers
    differences: tuple[PipelineDifference, ...]

    @property
    def passed(self) -> bool:
        return not self.differences


@dataclass(frozen=True, slots=True)
class Run:
    """What one side gave: (epoch, batch) -> place -> array."""

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


def compare_pipelines(
    function: str,
    reference: Path,
    converted: Path,
    *,
    epochs: int = 2,
    batches: int = 50,
    seed: int = 0,
    shards: int = 0,
    tolerance: float = TOLERANCE,
) -> PipelineComparison:
    """Run `module:function(arguments)` of both projects and compare what they yield.

    With `shards`, the function is called with rank= and world_size= for every rank as well, and the shards must hold the same samples.
    """
    with ExitStack() as stack:
        sides = [stack.enter_context(Worker("torch", reference)), stack.enter_context(Worker("mindspore", converted))]
        payload = {"function": function, "epochs": max(epochs, 2), "batches": batches, "seed": seed}
        theirs, ours = _run(sides, payload)
        found, compared, largest = _compare(theirs, ours, tolerance)
        for rank in range(shards):
            shard = _with_arguments(function, f"rank={rank}, world_size={shards}")
            one, other = _run(sides, {**payload, "function": shard})
            found += [
                PipelineDifference(f"rank {rank}, {each.where}", each.what, each.detail) for each in _compare(one, other, tolerance)[0]
            ]
    return PipelineComparison(function, theirs.lengths, theirs.is_random, compared, largest, tuple(found))


def _with_arguments(function: str, more: str) -> str:
    return (
        f"{function[:-1].rstrip('( ')}{', ' if '=' in function or ',' in function else '('}{more})"
        if function.endswith(")")
        else f"{function}({more})"
    )


def _run(sides: list[Worker], payload: dict[str, Any]) -> list[Run]:
    import numpy as np

    for side in sides:
        side.start(COLLECT, payload)
    runs = []
    for side in sides:
        result = side.result()
        with np.load(result["file"], allow_pickle=False) as file:
            batches = {
                (epoch, number): {place: file[f"{epoch}/{number}/{place}"] for place in places}
                for epoch, number, places in result["places"]
            }
        runs.append(Run(tuple(result["lengths"]), result["announced"], batches))
    return runs


def _compare(theirs: Run, ours: Run, tolerance: float) -> tuple[list[PipelineDifference], int, float]:
    found: list[PipelineDifference] = []
    if theirs.lengths != ours.lengths:
        found.append(PipelineDifference("epochs", "length", f"{theirs.lengths} batches in torch, {ours.lengths} in MindSpore"))
    if theirs.announced != ours.announced:
        found.append(PipelineDifference("len()", "length", f"{theirs.announced} in torch, {ours.announced} in MindSpore"))
    if theirs.is_random != ours.is_random:
        order = {True: "changes from epoch to epoch", False: "is the same in every epoch"}
        found.append(
            PipelineDifference("epochs", "order", f"what torch gives {order[theirs.is_random]}, in MindSpore it {order[ours.is_random]}")
        )
    shared = [key for key in theirs.batches if key in ours.batches]
    largest = 0.0
    for key in shared:
        found += _compare_forms(key, theirs.batches[key], ours.batches[key])
    if not any(each.what in ("places", "type", "shape") for each in found):
        if theirs.is_random:
            found += _compare_random(theirs, ours)
        else:
            for key in shared:
                differences, distance = _compare_values(key, theirs.batches[key], ours.batches[key], tolerance)
                found, largest = found + differences, max(largest, distance)
    return found, len(shared), largest


Batch = dict[str, "np.ndarray[Any, Any]"]


def _name(key: tuple[int, int], place: str = "") -> str:
    return f"epoch {key[0] + 1}, batch {key[1] + 1}" + (f", {place}" if place else "")


def _compare_forms(key: tuple[int, int], theirs: Batch, ours: Batch) -> list[PipelineDifference]:
    if list(theirs) != list(ours):
        return [PipelineDifference(_name(key), "places", f"{', '.join(theirs)} in torch, {', '.join(ours)} in MindSpore")]
    found = []
    for place, expected in theirs.items():
        actual = ours[place]
        if expected.shape[1:] != actual.shape[1:] or (expected.shape != actual.shape):
            found.append(PipelineDifference(_name(key, place), "shape", f"{expected.shape} in torch, {actual.shape} in MindSpore"))
        elif expected.dtype != actual.dtype and expected.dtype.kind not in "US":
            found.append(PipelineDifference(_name(key, place), "type", f"{expected.dtype} in torch, {actual.dtype} in MindSpore"))
    return found


def _compare_values(key: tuple[int, int], theirs: Batch, ours: Batch, tolerance: float) -> tuple[list[PipelineDifference], float]:
    import numpy as np

    found, largest = [], 0.0
    for place, expected in theirs.items():
        actual = ours[place]
        if expected.dtype.kind not in "fciu" or not expected.size:
            if not np.array_equal(expected, actual):
                found.append(
                    PipelineDifference(_name(key, place), "values", f"{expected.flat[0]!r} in torch, {actual.flat[0]!r} in MindSpore")
                )
            continue
        distance = float(np.nanmax(np.abs(expected.astype(np.complex128) - actual.astype(np.complex128))))
        allowed = tolerance * max(1.0, float(np.nanmax(np.abs(expected)))) if expected.dtype.kind in "fc" else 0.0
        largest = max(largest, distance)
        if distance > allowed or not np.array_equal(np.isnan(expected), np.isnan(actual)):
            found.append(PipelineDifference(_name(key, place), "values", f"differ by up to {distance:.3g}; {allowed:.3g} is allowed"))
    return found, largest


def _compare_random(theirs: Run, ours: Run) -> list[PipelineDifference]:
    """Place by place over all epochs: the same set of samples, or at least the same mean and spread."""
    import numpy as np

    found = []
    for place in next(iter(theirs.batches.values()), {}):
        expected, actual = ([batch[place] for batch in run.batches.values()] for run in (theirs, ours))
        if _same_samples(expected, actual):
            continue
        epochs = [[batch[place] for key, batch in theirs.batches.items() if key[0] == epoch] for epoch in (0, 1)]
        if _same_samples(*epochs):  # shuffled, but neither changed nor dropped: then the other side must hold them too
            found.append(PipelineDifference(place, "order", "the epochs don't hold the same samples in both frameworks"))
            continue
        if expected[0].dtype.kind not in "fciu":
            continue
        means = [np.array([float(row.mean()) for batch in side for row in np.atleast_1d(batch)]) for side in (expected, actual)]
        error = np.sqrt(sum(each.var() / len(each) for each in means)) + 1e-6
        apart = abs(means[0].mean() - means[1].mean()) / error
        spread = (means[1].std() + 1e-6) / (means[0].std() + 1e-6)
        if apart > SPREADS or not 0.5 < spread < 2:
            detail = (
                f"mean {means[0].mean():.4g} ± {means[0].std():.2g} in torch, {means[1].mean():.4g} ± {means[1].std():.2g} in MindSpore"
            )
            found.append(PipelineDifference(place, "distribution", detail))
    return found


def _same_samples(theirs: list[np.ndarray[Any, Any]], ours: list[np.ndarray[Any, Any]]) -> bool:
    import numpy as np

    one, other = (sorted(np.ascontiguousarray(row).tobytes() for batch in side for row in np.atleast_1d(batch)) for side in (theirs, ours))
    return one == other
