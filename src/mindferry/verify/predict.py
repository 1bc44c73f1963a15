"""Both models' predictions over their own data pipelines, saved batch by batch, and how far they agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..artifacts import Predictions
from ..errors import MindferryError
from .goldenfile import RecordError
from .named import build

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

SHOWN = 100  # differing samples listed
TIE = 1e-4  # two classes closer than this, relative to the largest score, may change places


def batches(spec: str, samples: int) -> Iterator[tuple[list[Any], Any]]:
    """(inputs, labels) from the user's `module:function`, until `samples` have passed."""
    try:
        data = build(spec)
    except RecordError as error:
        raise MindferryError(f"{error} (test_data)") from None
    seen = 0
    for batch in data:
        items = list(batch.values()) if isinstance(batch, dict) else list(batch)
        if len(items) < 2:
            raise MindferryError(f"{spec} gives batches without labels; (inputs, labels) is expected")
        yield items[:-1], items[-1]
        seen += len(items[-1])
        if seen >= samples:
            return


def save(scored: Iterable[tuple[Array, Array]], folder: Path, told: Callable[[int], None]) -> Path:
    """Write the two best classes, their scores and the labels of all samples."""
    import numpy as np

    best, margins, labels = [], [], []
    for scores, label in scored:
        if scores.ndim < 2:
            raise MindferryError("test_data needs a model whose first output is (samples, classes, …)")
        two = np.sort(np.partition(scores, -2, axis=1)[:, -2:], axis=1) if scores.shape[1] > 1 else None
        largest = np.abs(scores).max(axis=1)
        gap = (two[:, 1] - two[:, 0]) / np.maximum(largest, 1e-30) if two is not None else np.ones_like(largest)
        best.append(scores.argmax(axis=1).reshape(len(scores), -1))
        margins.append(gap.reshape(len(scores), -1))
        labels.append(np.asarray(label).reshape(len(scores), -1))
        told(sum(map(len, labels)))
    if not labels:
        raise MindferryError("test_data gave no batch")
    path = folder / "predictions.npz"
    np.savez(path, best=np.concatenate(best), margins=np.concatenate(margins), labels=np.concatenate(labels))
    return path


def agreement(reference: Path, converted: Path) -> Predictions:
    """Same predictions, same accuracy; the samples that differ."""
    import numpy as np

    with np.load(reference) as file:
        best, margins, labels = file["best"], file["margins"], file["labels"]
    with np.load(converted) as file:
        other, other_labels = file["best"], file["labels"]
    if best.shape != other.shape:
        note = f"{len(best)} samples from torch's pipeline, {len(other)} from MindSpore's"
        return Predictions(min(len(best), len(other)), 0, 0.0, 0.0, (), False, note)
    unequal = best != other
    differing = np.flatnonzero(unequal.any(axis=1))
    ties = bool((margins[unequal] < TIE).all())
    same_labels = bool((labels == other_labels).all())
    note = "" if same_labels else "the two pipelines give other labels, or another order"
    if len(differing) and ties:
        note = "the samples that differ are ties"
    accuracies = [_accuracy(a, b) for a, b in ((best, labels), (other, other_labels))]
    shown = tuple(int(index) for index in differing[:SHOWN])
    agree = len(best) - len(differing)
    return Predictions(len(best), agree, accuracies[0], accuracies[1], shown, ties and same_labels, note)


def _accuracy(best: Array, labels: Array) -> float:
    return float((best == labels).mean()) if best.shape == labels.shape else float("nan")
