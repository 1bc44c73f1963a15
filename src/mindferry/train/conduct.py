"""What a script does besides its steps: the figures that it prints, the tensors that it saves, the modes in which it calls its networks.

Both runs have the same weights, batches and random numbers, so what they print of losses and scores has to agree, and so do checkpoints; a
validation that averages otherwise or forgets eval mode, or an average of weights that stands still, changes no training step.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, zip_longest
from pathlib import Path
from types import FrameType
from typing import Any

from .exchange import Exchange, sample

SAVED, OURS = "saved", "ours-saved"
ENTRY, FILLED = "entry:", "filled:"  # before the names of entries of a checkpoint that are no tensors
FILE = "file:"  # before the name of the file that it was saved to
MOST = 2000  # lines that are kept
SHOWN = 100  # letters of a line
SAVES = 20  # of which the tensors are kept
DRIFT = 3.0  # times the distance of the weights themselves
LEAST = 1e-3  # of its length, that a saved tensor may be off in any case
ROUNDING = 1e-6  # of the largest of its kind: the moments of a bias before a norm, whose gradient is nought
CLOSE = 1e-2  # of a printed figure: a rounding that training has made larger
METRIC = re.compile(
    r"loss|acc|score|f1|auc|mse|mae|rmse|psnr|ssim|bleu|rouge|iou|dice|error|recall|precision|perplexity|ppl|reward|r2|map\b",
    re.IGNORECASE,
)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.]*\w)")
TIMED = re.compile(r"time|elapsed|eta|took|speed|sec|seed|/s|\bms\b|\bs\b|min\b|[gmk]b\b|memory", re.IGNORECASE)
CLOCKED = re.compile(  # the name before a number, whole: 'eval_samples_per_second': '12.6'
    r"(?:per_?sec(?:ond)?|seconds?|time|elapsed|duration|speed|throughput)\W{1,4}$", re.IGNORECASE
)
NEAR = 8  # letters around a number that tell what it is of


class _Kept(io.TextIOBase):
    """Standard output that is also kept."""

    def __init__(self, target: io.TextIOBase) -> None:
        self.target, self.lines, self._open = target, list[str](), ""

    def write(self, text: str) -> int:
        *whole, self._open = (self._open + text).split("\n")
        self.lines += whole[: MOST - len(self.lines)]
        return self.target.write(text)

    def flush(self) -> None:
        self.target.flush()


@contextlib.contextmanager
def listening() -> Iterator[list[str]]:
    """While the block runs, the lines that are printed."""
    original = sys.stdout
    kept = _Kept(original)  # type: ignore[arg-type]
    sys.stdout = kept
    try:
        yield kept.lines
    finally:
        sys.stdout = original


def other_figures(theirs: Sequence[str], ours: Sequence[str]) -> Iterator[str]:
    """Lines about a loss or a score that say the same in other numbers; those of which only one side has such a line are not looked at."""
    seen: Counter[str] = Counter()
    found: dict[tuple[str, int], str] = {}
    for line in ours:
        words = NUMBER.sub("#", line)
        found[words, seen[words]] = line
        seen[words] += 1
    seen.clear()
    for line in theirs:
        words = NUMBER.sub("#", line)
        other = found.get((words, seen[words]))
        seen[words] += 1
        if other is not None and METRIC.search(line) and not _agree(line, other):
            yield f"figures: the original prints `{line.strip()[:SHOWN]}`, the conversion `{other.strip()[:SHOWN]}`"


def _agree(one: str, other: str) -> bool:
    pairs = zip_longest(NUMBER.finditer(one), NUMBER.finditer(other))
    return all(a is not None and b is not None and (_is_timed(a) or _is_close(a[0], b[0])) for a, b in pairs)


def _is_timed(number: re.Match[str]) -> bool:
    start, end = number.span()
    around = number.string[max(0, start - NEAR) : start] + " " + number.string[end : end + NEAR // 2]
    return TIMED.search(around) is not None or CLOCKED.search(number.string[:start]) is not None


def _is_close(one: str, other: str) -> bool:
    digits = min(len(text.partition("e")[0].partition(".")[2]) for text in (one.lower(), other.lower()))
    step = 10.0**-digits if "e" not in one.lower() else 0.0
    is_whole = "." not in one and "." not in other
    allowed = 0.0 if is_whole else max(1.5 * step, CLOSE * abs(float(one)))
    return abs(float(one) - float(other)) <= allowed


class Loops:
    """Which loader each loop reads."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self._loaders: list[Any] = []  # held, or another could be taken for one that is gone

    def add(self, loader: Any) -> None:
        place = next((index for index, each in enumerate(self._loaders) if each is loader), len(self._loaders))
        if place == len(self._loaders):
            self._loaders.append(loader)
        self.numbers.append(place)


def other_loops(theirs: Sequence[int], ours: Sequence[int]) -> Iterator[str]:
    """A loop that reads again what another one read, and not in the original: its batches were the original's all the same."""
    pairs = list(zip(theirs, ours, strict=False))
    for number, (one, other) in enumerate(pairs):
        if any(other == ours_before and one != theirs_before for theirs_before, ours_before in pairs[:number]):
            yield f"loops: the original reads another loader in loop {number + 1} than the conversion"
            return


def is_of(package: str, frame: FrameType) -> bool:
    """Whether code of this package runs there: what it copies is a part of what it builds, and no network of the script's."""
    return package in str(frame.f_globals.get("__name__", "")).split(".")


def is_being_made(is_network: Callable[[Any], bool], frame: FrameType | None) -> bool:
    """Whether a network is under construction there: what it copies, loads or tries is a part of it, and is met with it."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "__init__" and code.co_argcount and is_network(frame.f_locals.get(code.co_varnames[0])):
            return True
        frame = frame.f_back
    return False


def called_in(name: str, is_training: bool) -> str:
    return f"{name} in {'train' if is_training else 'eval'} mode"


def other_modes(theirs: Sequence[str], ours: Sequence[str]) -> Iterator[str]:
    """Networks that only the reference calls in a mode, of those that both call at all."""
    called = {each.partition(" ")[0] for each in ours}
    for each in sorted(set(theirs) - set(ours)):
        if each.partition(" ")[0] in called:
            yield f"modes: the original calls {each}, the conversion never does"


def saved_tensors(value: Any, read: str, way: str = "") -> Iterator[tuple[str, Any]]:
    """(way to it, tensor) of everything in a checkpoint; `read` is the method that only tensors have."""
    if hasattr(type(value), read):
        yield way, value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from saved_tensors(each, read, f"{way}.{name}".lstrip("."))
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            yield from saved_tensors(each, read, f"{way}.{index}".lstrip("."))


def _entries(tensors: Mapping[str, Any], held: Any) -> dict[str, Any]:
    import numpy as np

    found = {}
    for name, value in held.items() if isinstance(held, Mapping) else ():
        if isinstance(value, int | float) and not TIMED.search(str(name)):
            found[f"{ENTRY}{name}"] = np.array([value], np.float64)
        elif isinstance(value, Mapping | list | tuple):
            found[f"{FILLED}{name}"] = np.array([any(way.startswith(f"{name}.") for way in tensors)], np.float64)
    return found


def _other_entries(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[str]:
    """Numbers in a checkpoint (an epoch, a best score), and parts of it that hold nothing here."""
    for way in theirs.keys() & ours.keys():
        one, other = float(theirs[way][0]), float(ours[way][0])
        if way.startswith(ENTRY) and not _is_close(f"{one:g}", f"{other:g}"):
            yield f"checkpoints: {way.removeprefix(ENTRY)} is {one:g} in what the original saves, {other:g} here"
        elif way.startswith(FILLED) and one and not other:
            yield f"checkpoints: {way.removeprefix(FILLED)} holds tensors in what the original saves, and none here"
    has_entries = any(way.startswith((ENTRY, FILLED)) for way in ours)
    for way in theirs.keys() - ours.keys() if has_entries else ():
        if way.startswith(ENTRY) and not way.startswith(f"{ENTRY}_"):  # a scheduler's own notes
            yield f"checkpoints: the original saves {way.removeprefix(ENTRY)}, and the conversion does not"


class Saves:
    """Writes down what a script saves, a file after another."""

    def __init__(self, exchange: Exchange, name: str) -> None:
        self._exchange, self._name, self._numbers = exchange, name, count()

    def keep(self, tensors: Mapping[str, Any], held: Any = None, target: Any = None) -> None:
        """Arrays by their way, and of the entries of what is saved those that are numbers, and whether the others hold tensors."""
        import numpy as np

        number = next(self._numbers)
        if number < SAVES:
            arrays = {way: sample(array) for way, array in tensors.items() if array.dtype.kind == "f"}
            file = Path(target).name.split(".")[0] if isinstance(target, str | os.PathLike) else ""
            told = {f"{FILE}{file}": np.zeros(1)} | _entries(tensors, held)
            self._exchange.write_step(f"{self._name}-{number}", arrays | told)


Saved = Mapping[str, Any]


def _paired(theirs: Sequence[Saved], ours: Sequence[Saved]) -> Iterator[tuple[Saved, Saved]]:
    """Files of one name belong together, the second to the second; the others follow each other: a loss may stand in a name.

    A library of the original's saves files of its own between, of which the conversion's form of it has none.
    """
    left = [dict(enumerate(each)) for each in (theirs, ours)]
    places: list[dict[tuple[str, int], int]] = []
    for side in left:
        seen: Counter[str] = Counter()
        named: dict[tuple[str, int], int] = {}
        for number, each in side.items():
            file = next((way for way in each if way.startswith(FILE)), "")
            named[file, seen[file]] = number
            seen[file] += 1
        places.append(named)
    for key in [key for key in places[0] if key in places[1]]:
        yield left[0].pop(places[0][key]), left[1].pop(places[1][key])
    yield from zip(left[0].values(), left[1].values(), strict=False)


def other_saves(exchange: Exchange, distances: Sequence[float]) -> Iterator[str]:
    """Tensors of one name that are further apart than the weights of the networks are."""
    import numpy as np

    allowed = max(LEAST, DRIFT * max(distances, default=0.0))
    sides = [[exchange.read_step(f"{name}-{number}") for number in range(SAVES)] for name in (SAVED, OURS)]
    for theirs, ours in _paired(*([each for each in side if each] for side in sides)):
        yield from _other_entries(theirs, ours)
        theirs, ours = ({way: each for way, each in side.items() if ":" not in way} for side in (theirs, ours))
        largest: dict[str, float] = {}
        for way, one in theirs.items():
            kind = way.rpartition(".")[2]
            largest[kind] = max(largest.get(kind, 0.0), float(np.linalg.norm(one)))
        for way in theirs.keys() & ours.keys():
            one, other = theirs[way], ours[way]
            bound = max(allowed * np.linalg.norm(one), ROUNDING * largest[way.rpartition(".")[2]])
            if one.shape == other.shape and np.linalg.norm(one - other) > bound:
                yield f"checkpoints: {way} is another tensor in what the script saves"
                break
