"""Batches that can't be equal number by number, because an augmentation or the data set draws them: how alike they still are.

The original is run once more with other seeds, in the same order of samples. What stays the same there was not drawn, and
must be the same in the conversion. Where a sample's mean follows its place in the order, as a crop of the same image does,
it must do so in the conversion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Batches = Sequence[np.ndarray[Any, Any]]

SPREADS = 5.0  # standard errors that means may lie apart
FOLLOWS = 0.5  # correlation of two runs of the original from which on samples are known by their means
MANY = 48  # samples of each side from which more is compared than mean and spread
SLIGHT = 0.05  # of a trait: what differs less is not worth a word
FEWEST = 12  # samples that make a correlation worth something
NO_NUMBER = "random, and no number"
ANOTHER_ORDER = "the same samples in another order"
MEAN_AND_SPREAD = "the same mean and spread"


@dataclass(frozen=True, slots=True)
class Alike:
    """How random batches agree, or what is wrong with them."""

    told: str = ""
    what: str = ""  # values, order, distribution
    detail: str = ""


def is_unknown(place: str) -> bool:
    """Whether nothing can be said of it: words that are drawn at random."""
    return place.endswith(NO_NUMBER)


def compare_random(theirs: Batches, ours: Batches, again: Batches | None, repeats: bool) -> Alike:
    """`again` is what another run of the original gave; `repeats`: its epochs hold the same samples in some order."""
    is_drawn = again is not None and not same_samples(theirs, again)
    if same_samples(theirs, ours):
        return Alike(ANOTHER_ORDER)
    if repeats and not is_drawn:  # shuffled, but neither changed nor dropped: then the other side must hold them too
        return Alike("", "values", "in whatever order: the epochs hold other samples in MindSpore")
    if theirs[0].dtype.kind not in "fciu":
        return Alike(NO_NUMBER)
    for measure in ("mean", "std"):
        both = _each_sample(theirs, measure), _each_sample(ours, measure)
        if not _is_same_distribution(*both):
            told = [f"{each.mean():.4g} ± {each.std():.2g}" for each in both]
            name = "mean" if measure == "mean" else "spread within a sample"
            return Alike("", "distribution", f"{name} {told[0]} in the original, {told[1]} in MindSpore")
    for name, (one, other) in traits(theirs, ours).items():
        otherwise = _drawn_otherwise(one, other)
        if otherwise:
            return Alike("", "distribution", f"{name}: {otherwise}")
    if again is not None and _lost_its_order(*(_each_sample(side, "mean") for side in (theirs, again, ours))):
        return Alike(
            "", "order", "samples stand at other places than in the original, where every run has them at the same"
        )
    return Alike(MEAN_AND_SPREAD)


def traits(theirs: Batches, ours: Batches) -> dict[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """What tells one way to draw from another where mean and spread are the same, for each sample of both sides.

    Flips show in how one half differs from the other, crops and shifts in where the weight lies, blurs in how rough a sample
    is, erased patches and borders in how much of it is its least value, noise of another kind in how much lies far out.
    """
    import numpy as np

    sides = [[np.asarray(row, np.float64) for batch in side for row in np.atleast_1d(batch)] for side in (theirs, ours)]
    shapes = {row.shape for side in sides for row in side}
    found: dict[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = {}
    if len(shapes) != 1 or min(map(len, sides)) < MANY or not np.prod(next(iter(shapes))) > 1:
        return found
    one, other = (np.nan_to_num(np.stack(side)) for side in sides)
    least = min(float(one.min()), float(other.min()))
    found["the share of the least value"] = _share(one, least), _share(other, least)
    found["how much lies far from the mean"] = _kurtosis(one), _kurtosis(other)
    for axis in range(1, one.ndim):
        if one.shape[axis] > 3:
            where = f"axis {axis - one.ndim}"
            found[f"one half against the other along {where}"] = _tilt(one, axis), _tilt(other, axis)
            found[f"how rough it is along {where}"] = _roughness(one, axis), _roughness(other, axis)
    return found


def _share(samples: np.ndarray[Any, Any], least: float) -> np.ndarray[Any, Any]:
    import numpy as np

    return np.asarray((samples == least).reshape(len(samples), -1).mean(1))


def _kurtosis(samples: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    import numpy as np

    flat = samples.reshape(len(samples), -1)
    off = flat - flat.mean(1, keepdims=True)
    return np.asarray((off**4).mean(1) / np.maximum((off**2).mean(1) ** 2, 1e-12))


def _tilt(samples: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    import numpy as np

    places = np.linspace(-1, 1, samples.shape[axis]).reshape(
        [-1 if each == axis else 1 for each in range(samples.ndim)]
    )
    return np.asarray((samples * places).reshape(len(samples), -1).mean(1))


def _roughness(samples: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    import numpy as np

    return np.asarray(np.abs(np.diff(samples, axis=axis)).reshape(len(samples), -1).mean(1))


def _drawn_otherwise(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> str:
    """Whether mean or variance of a trait lie further apart than chance puts them."""
    import numpy as np

    size = max(float(np.abs(one).max()), float(np.abs(other).max()), 1e-12)
    for name, (a, b) in {
        "mean": (one, other),
        "variance": ((one - one.mean()) ** 2, (other - other.mean()) ** 2),
    }.items():
        error = float(np.sqrt(a.var() / len(a) + b.var() / len(b)))
        apart = abs(float(a.mean() - b.mean()))
        least = SLIGHT * max(abs(float(a.mean())), float(a.std()), 1e-9 * size)
        if apart > SPREADS * error + least:
            return f"a {name} of {a.mean():.4g} in the original, {b.mean():.4g} in MindSpore"
    return ""


def _each_sample(batches: Batches, measure: str) -> np.ndarray[Any, Any]:
    import numpy as np

    rows = (row for batch in batches for row in np.atleast_1d(batch) if np.size(row))
    return np.array([float(getattr(np, measure)(row)) for row in rows])


def _is_same_distribution(theirs: np.ndarray[Any, Any], ours: np.ndarray[Any, Any]) -> bool:
    import numpy as np

    if not (len(theirs) and len(ours)):
        return len(theirs) == len(ours)
    scale = max(float(abs(theirs).max()), 1e-6)
    error = np.sqrt(sum(each.var() / len(each) for each in (theirs, ours))) + 1e-6 * scale
    apart = abs(theirs.mean() - ours.mean()) / error
    least = 1e-3 * scale  # a spread that is next to none tells nothing
    spread = (ours.std() + least) / (theirs.std() + least)
    return bool(apart <= SPREADS and 0.5 < spread < 2)


def _lost_its_order(theirs: np.ndarray[Any, Any], again: np.ndarray[Any, Any], ours: np.ndarray[Any, Any]) -> bool:
    """Whether samples are known by their means in two runs of the original, and are not in the conversion."""
    import numpy as np

    if not len(theirs) == len(again) == len(ours) >= FEWEST or min(theirs.std(), again.std(), ours.std()) == 0:
        return False
    known, found = (float(np.corrcoef(theirs, each)[0, 1]) for each in (again, ours))
    return known > FOLLOWS and found < known / 3


def same_samples(theirs: Batches, ours: Batches) -> bool:
    import numpy as np

    one, other = (
        sorted(np.ascontiguousarray(row).tobytes() for batch in side for row in np.atleast_1d(batch))
        for side in (theirs, ours)
    )
    return one == other
