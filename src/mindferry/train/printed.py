"""What a script prints, where no loss tells what it computes: numbers that chance does not decide, compared line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w])")
_ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_CHECKPOINT = re.compile(r"\.(?:pth\.tar|pth|pt|ckpt)\b")
# Of the machine and the moment, not of what is computed.
_BESIDE = re.compile(
    r"(?i)warning|\bversion|\btime|\belapsed|\btook\b|\bfps\b|\bit/s|\bs/it|\bsec|\bms\b|[\d.]s\b|memory|\bdate\b|device"
)
ROUGHLY = 1e-3  # of a printed number: float32 after a whole network
LAST_DIGIT = 1.5  # in units of it: rounding may fall to either side


@dataclass(frozen=True, slots=True)
class Printed:
    compared: int = 0  # numbers
    wrong: str = ""  # the first that is another
    missed: str = ""  # the first line that was not compared


def compare_printed(ours: str, runs: Sequence[str]) -> Printed:
    """Lines count that the original prints alike in all of its runs, whose random numbers differ."""
    theirs, others = _by_text(runs[0]), [_by_text(each) for each in runs[1:]]
    found, compared, missed = _by_text(ours), 0, ""
    for text, lines in theirs.items():
        if not others or any(each.get(text) != lines for each in others) or len(found.get(text, [])) != len(lines):
            missed = missed or _line(text, lines[0])
            continue
        for line, own in zip(lines, found[text], strict=True):
            if any(not is_alike(one, other) for one, other in zip(line, own, strict=True)):
                wrong = f"it prints `{_line(text, own)}`, the original `{_line(text, line)}`"
                return Printed(compared, wrong)
            compared += len(line)
    return Printed(compared, "", missed)


def is_alike(one: str, other: str) -> bool:
    """Whether two printed numbers may be one; a whole number has to be."""
    decimals = max(_decimals(one), _decimals(other))
    if not decimals and "e" not in (one + other).lower():
        return float(one) == float(other)
    allowed = max(ROUGHLY * abs(float(one)), LAST_DIGIT * 10.0**-decimals if "e" not in one.lower() else 0.0)
    return abs(float(one) - float(other)) <= allowed


def _decimals(number: str) -> int:
    return len(number.lower().partition("e")[0].partition(".")[2])


def _by_text(printed: str) -> dict[str, list[list[str]]]:
    """Line without its numbers -> the numbers of each such line, in order."""
    found: dict[str, list[list[str]]] = {}
    for line in _lines(printed):
        found.setdefault(NUMBER.sub("#", line), []).append(NUMBER.findall(line))
    return found


def _lines(printed: str) -> Iterator[str]:
    is_warned = False
    for line in re.split(r"[\r\n]+", _ESCAPE.sub("", printed)):
        is_code = is_warned and line.startswith("  ")  # the line that a warning is about
        is_warned = "Warning" in line
        if not is_code and not _BESIDE.search(line) and NUMBER.search(line):
            yield " ".join(_CHECKPOINT.sub("", line).split())


def _line(text: str, numbers: Sequence[str]) -> str:
    parts = text.split("#")
    return "".join(part + number for part, number in zip(parts, [*numbers, ""], strict=False))[:120]
