"""Which parameter became which: names, shapes and statistics on both sides, what found no place first."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from pathlib import Path

from ..artifacts import STATE, WeightsReport, load, save
from ..errors import MindferryError
from .gather import Found

LARGEST = 4 << 30  # bytes of both files together that are read for statistics
STAGE = "statistics"
UNMATCHED = {
    "mismatched": "whose shape or value does not fit",
    "missing": "in the model, not in the file",
    "unexpected": "in the file, not in the model",
    "kept": "in the model only, by design",
    "dropped": "without a counterpart, by design",
}


@dataclass(frozen=True, slots=True)
class Moments:
    low: float
    high: float
    mean: float
    std: float
    broken: int = 0  # values that are NaN or infinite


@dataclass(frozen=True, slots=True)
class Statistics:
    """Kept in `.mindferry/statistics.json`, so that the report can be made where the checkpoints are not."""

    key: str  # which files they are of
    source: dict[str, Moments] = field(default_factory=dict)
    target: dict[str, Moments] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parameter:
    source: str
    target: str
    shape: tuple[int, ...]
    dtype: str
    how: str
    before: Moments | None
    after: Moments | None

    @property
    def agrees(self) -> bool:
        return self.before == self.after


@dataclass(frozen=True, slots=True)
class Lost:
    name: str
    why: str
    is_fault: bool


@dataclass(frozen=True, slots=True)
class Weights:
    source: str
    output: str
    unmatched: tuple[Lost, ...]
    parameters: tuple[Parameter, ...]
    total: int  # values
    differing: int  # parameters whose statistics are not the same on both sides
    note: str


def weights_tab(found: Found) -> Weights | None:
    report = found.weights
    if report is None:
        return None
    statistics, note = _statistics(found, report)
    parameters = tuple(
        Parameter(
            each.source,
            each.target,
            each.shape,
            each.dtype,
            each.how,
            statistics.source.get(each.source),
            statistics.target.get(each.target),
        )
        for each in report.entries
    )
    unmatched = tuple(
        Lost(name, why, kind in ("mismatched", "missing", "unexpected"))
        for kind, why in UNMATCHED.items()
        for name in getattr(report, kind)
    )
    total = sum(math.prod(each.shape) for each in parameters)
    differing = sum(each.before is not None and each.after is not None and not each.agrees for each in parameters)
    ordered = tuple(sorted(parameters, key=lambda each: each.agrees))
    return Weights(report.source, report.output, unmatched, ordered, total, differing, note)


def _statistics(found: Found, report: WeightsReport) -> tuple[Statistics, str]:
    """Read once from the two files, then kept; or why there are none."""
    files = [_file(found.folder, name) for name in (report.source, report.output)]
    kept = _kept(found.folder)
    if not all(files):
        absent = next(name for name, file in zip((report.source, report.output), files, strict=True) if file is None)
        return (kept, "") if kept else (Statistics(""), f"no statistics: {absent} is not there any more")
    source, target = (file for file in files if file is not None)
    status = [file.stat() for file in (source, target)]
    key = hashlib.sha256(repr([(file.st_size, file.st_mtime_ns) for file in status]).encode()).hexdigest()
    if kept and kept.key == key:
        return kept, ""
    if sum(file.st_size for file in status) > LARGEST:
        return Statistics(
            ""
        ), f"no statistics: the files hold more than {LARGEST >> 30} GB; see `mindferry weights inspect`"
    try:
        made = Statistics(key, _moments(source, report.key), _moments(target, ""))
    except MindferryError as error:
        return Statistics(""), f"no statistics: {error}"
    save(made, found.folder, STAGE)
    return made, ""


def _kept(folder: Path) -> Statistics | None:
    try:
        return load(Statistics, folder, STAGE) if (folder / STATE / f"{STAGE}.json").is_file() else None
    except MindferryError:
        return None  # an older one: read the files again


def _file(folder: Path, name: str) -> Path | None:
    """Where the artifact says, or in the converted project if that was moved."""
    places = (Path(name), folder / Path(name).name, folder / STATE / "reference" / Path(name).name)
    return next((place for place in places if place.is_file()), None)


def _moments(path: Path, key: str) -> dict[str, Moments]:
    from ..weights.inspect import inspect_weights

    tensors = inspect_weights(path, key=key or None).tensors
    return {
        each.name: Moments(_short(s.minimum), _short(s.maximum), _short(s.mean), _short(s.std), s.nan + s.inf)
        for each in tensors
        if (s := each.statistics) is not None
    }


def _short(value: float) -> float:
    return float(f"{value:.6g}")
