"""Two versions of a file -> rows that stand beside each other."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence

LONG = 3000  # lines; beyond it, lines that repeat often don't count as landmarks
LARGEST_BLOCK = 6400  # pairs of lines to weigh against each other
ALIKE = 0.4
_WORD = re.compile(r"\w+|[^\w\s]")

Step = tuple[
    str, int, int
]  # "=" both sides, "~" a changed line, "-" left only, "+" right only; how many left, how many right


def steps(before: Sequence[str], after: Sequence[str]) -> list[Step]:
    """How to walk down both sides at once."""
    if not before or not after:
        return [("-", len(before), 0)] * bool(before) + [("+", 0, len(after))] * bool(after)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=len(before) > LONG)
    result: list[Step] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            result.append(("=", i2 - i1, j2 - j1))
        else:
            result += _pair(before[i1:i2], after[j1:j2])
    return result


def _pair(left: Sequence[str], right: Sequence[str]) -> list[Step]:
    """Lines of a changed block that resemble each other share a row, in order; the rest stand alone."""
    result: list[Step] = []
    i = j = 0
    for a, b in (*_matches(left, right), (len(left), len(right))):
        result += [("-", a - i, 0)] * (a > i) + [("+", 0, b - j)] * (b > j) + [("~", 1, 1)] * (a < len(left))
        i, j = a + 1, b + 1
    return result


def _matches(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """The pairs in order with the largest total likeness."""
    if len(left) * len(right) > LARGEST_BLOCK:
        return [(n, n) for n in range(min(len(left), len(right)))]
    words = [Counter(_WORD.findall(line)) for line in left], [Counter(_WORD.findall(line)) for line in right]
    best = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in reversed(range(len(left))):
        for j in reversed(range(len(right))):
            alike = _likeness(words[0][i], words[1][j])
            best[i][j] = max(best[i + 1][j], best[i][j + 1], alike + best[i + 1][j + 1] if alike else 0.0)
    pairs, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if best[i][j] == best[i + 1][j]:
            i += 1
        elif best[i][j] == best[i][j + 1]:
            j += 1
        else:
            pairs.append((i, j))
            i, j = i + 1, j + 1
    return pairs


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    share = 2 * (one & other).total() / total if total else 0.0
    return share if share >= ALIKE else 0.0
