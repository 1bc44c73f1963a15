"""Lossless edits of a source file: what no edit covers stays byte for byte."""

from __future__ import annotations

import ast
import bisect
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import NamedTuple

from .source import Source

BLOCK = 4096  # bytes of a file whose edits are kept together


class _Edit(NamedTuple):
    """Sorted as they are written: at one offset suffixes of what ends there, then prefixes of what starts there."""

    start: int
    side: int  # 0: a suffix, 1: a prefix or a replacement
    turn: float  # a later suffix belongs to an outer node and goes last, a later prefix goes first
    end: int
    number: int
    text: str
    owner: str
    reach: int  # where what a prefix belongs to ends, or what a suffix belongs to starts; -1: not said


class Edits:
    """Replacements and insertions by byte span. Inner nodes edit first; an outer edit may take their text and replace it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._rows: dict[int, list[_Edit]] = {}  # sorted, by the block of the file that they start in
        self._blocks: list[int] = []  # those with edits, sorted
        self._replaced: dict[int, list[_Edit]] = {}  # of the edits, the replacements
        self._replacing: list[int] = []
        self._count = 0
        self.removed: set[ast.AST] = set()  # statements that went
        self._owner, self._dropper = "", ""
        self._read: list[tuple[int, int]] = []  # what this owner has taken the text of
        self._clash: Callable[[int, str], None] | None = None

    def watch(self, dropper: str, clash: Callable[[int, str], None]) -> None:
        """Say where (line, what) one owner's edits are lost in another's. Only the dropper may leave out what it has not read."""
        self._dropper, self._clash = dropper, clash
        self.begin(dropper)

    def begin(self, owner: str) -> None:
        """From now on edits are this owner's, until another begins."""
        self._owner = owner
        self._read.clear()

    def __len__(self) -> int:
        return sum(map(len, self._rows.values()))

    def before(self, offset: int, text: str, reach: int = -1) -> None:
        """Insert as a prefix of what starts at `offset` and ends at `reach`; a later prefix belongs to an outer node and goes first."""
        self._count += 1
        self._insert(_Edit(offset, 1, -self._count, offset, self._count, text, self._owner, reach))

    def after(self, offset: int, text: str, reach: int = -1) -> None:
        """Insert as a suffix of what starts at `reach` and ends at `offset`."""
        self._count += 1
        self._insert(_Edit(offset, 0, self._count, offset, self._count, text, self._owner, reach))

    def _insert(self, edit: _Edit) -> None:
        """Unless what it would stand in is gone: an argument that was dropped takes along what is written in it later."""
        span = (
            (edit.start, edit.start) if edit.reach < 0 else (min(edit.start, edit.reach), max(edit.start, edit.reach))
        )
        covering = self._covering(*span)
        is_at_its_edge = covering is not None and span[0] == span[1] and span[0] in (covering.start, covering.end)
        if covering is None or is_at_its_edge:
            self._add(self._within_outer(edit))
        elif covering.text and covering.owner not in (self._owner, self._dropper):
            self._report(edit.start, f"what {self._owner} writes is lost in what {covering.owner} wrote")

    def _within_outer(self, edit: _Edit) -> _Edit:
        """Inside of what was put at the same offset around a larger node before."""
        if edit.reach < 0:
            return edit
        row, is_prefix = self._rows.get(edit.start // BLOCK, []), edit.side == 1
        here = row[bisect.bisect_left(row, (edit.start,)) : bisect.bisect_left(row, (edit.start + 1,))]
        beside = [each for each in here if each.side == edit.side and each.end == each.start and each.reach >= 0]
        outer = [each.turn for each in beside if (each.reach > edit.reach if is_prefix else each.reach < edit.reach)]
        if not outer:
            return edit
        step = 1 / (1 + edit.number)  # less each time: a later one stays outside of an earlier one
        return edit._replace(turn=max(outer) + step if is_prefix else min(outer) - step)

    def before_node(self, node: ast.AST, text: str) -> None:
        self.before(self.source.start(node), text, self.source.end(node))

    def after_node(self, node: ast.AST, text: str) -> None:
        self.after(self.source.end(node), text, self.source.start(node))

    def replace(self, start: int, end: int, text: str, swallows: bool = False, is_optional: bool = False) -> None:
        """Replace a span together with every edit inside it; what lies inside an earlier, larger replacement is gone already."""
        covering = self._covering(start, end)
        if covering is not None:
            if covering.owner != self._owner and not is_optional:
                self._report(start, f"what {self._owner} writes is lost in what {covering.owner} wrote")
            return
        self._count += 1
        slices = list(self._slices(start, end))
        inside = [edit for row, low, high in slices for edit in row[low:high] if _inside(edit, start, end)]
        gone = set(inside) - self._put_around(inside, start, end, text)
        for row, low, high in slices if gone else ():
            row[low:high] = [edit for edit in row[low:high] if edit not in gone]
        self._forget([edit for edit in inside if edit in gone])
        for edit in inside if not swallows else ():
            if edit in gone and not self._may_drop(edit):
                self._report(edit.start, f"what {edit.owner} wrote is lost in what {self._owner} writes")
        self._add(_Edit(start, 1, 0, end, self._count, text, self._owner, -1))

    def _put_around(self, edits: list[_Edit], start: int, end: int, text: str) -> set[_Edit]:
        """What others put around the very span that the dropper replaces, and its text does not hold: it stands around the new text too."""
        if self._owner != self._dropper:
            return set()
        wraps = [each for each in edits if each.owner != self._owner and _is_around(each, start, end)]
        owners = {each.owner for each in wraps if each.text.strip() not in text}
        return {each for each in wraps if each.owner in owners}

    def _may_drop(self, edit: _Edit) -> bool:
        """Its own, or one whose text it has taken along."""
        if self._owner in (edit.owner, self._dropper):
            return True
        index = bisect.bisect_right(self._read, edit.start, key=itemgetter(0)) - 1
        return index >= 0 and edit.end <= self._read[index][1]

    def _report(self, offset: int, message: str) -> None:
        if self._clash is not None:
            self._clash(self.source.position(offset)[0], message)

    def _covering(self, start: int, end: int) -> _Edit | None:
        """The larger replacement that holds the span. Replacements don't overlap, so it is the last one that starts before."""
        index = bisect.bisect_right(self._replacing, start // BLOCK) - 1
        if index < 0:
            return None
        row = self._replaced[self._replacing[index]]
        if row[0].start > start:  # in the same block, but behind it
            if index == 0:
                return None
            row = self._replaced[self._replacing[index - 1]]
        edit = row[bisect.bisect_left(row, (start + 1,)) - 1]
        return edit if end <= edit.end and edit.end - edit.start > end - start else None

    def replace_node(self, node: ast.AST, text: str, swallows: bool = False) -> None:
        self.replace(self.source.start(node), self.source.end(node), text, swallows)

    def is_touched(self, node: ast.AST) -> bool:
        """Whether some edit starts within the node."""
        start, end = self.source.start(node), self.source.end(node)
        block = start // BLOCK
        if block == end // BLOCK:  # most are: their own row is enough
            row = self._rows.get(block, ())
            return bisect.bisect_left(row, (start,)) < bisect.bisect_left(row, (end + 1,))
        return any(low < high for _, low, high in self._slices(start, end))

    def replacements(self) -> list[tuple[int, int]]:
        """The spans that were replaced, in order; none overlaps another."""
        return [(edit.start, edit.end) for block in self._blocks for edit in self._rows[block] if edit.end > edit.start]

    def written(self) -> list[str]:
        """What was put in, in order."""
        return [edit.text for block in self._blocks for edit in self._rows[block] if edit.text]

    def text(self, node: ast.AST) -> str:
        """The node's text with all edits so far applied; what was put around a larger one is no part of it."""
        return self.span(self.source.start(node), self.source.end(node))

    def span(self, start: int, end: int) -> str:
        if self._owner != self._dropper:
            self._note_read(start, end)
        data, pieces, position = self.source.data, [], start
        if start // BLOCK == end // BLOCK and start // BLOCK not in self._rows:  # nothing was changed far and wide
            return data[start:end].decode("utf-8")
        for row, low, high in self._slices(start, end):
            for edit in row[low:high]:
                if _inside(edit, start, end):
                    pieces += [data[position : edit.start].decode("utf-8"), edit.text]
                    position = edit.end
        return "".join([*pieces, data[position:end].decode("utf-8")])

    def _note_read(self, start: int, end: int) -> None:
        """None of these spans lies in another one, so that they are ordered by their ends too."""
        first = bisect.bisect_left(self._read, start, key=itemgetter(0))
        if first > 0 and self._read[first - 1][1] >= end:
            return
        last = first
        while last < len(self._read) and self._read[last][1] <= end:
            last += 1
        if last == first < len(self._read) and self._read[first][0] == start:
            return  # a larger one begins at the same place
        self._read[first:last] = [(start, end)]

    def apply(self) -> str:
        return self.span(0, len(self.source.data))

    def _slices(self, start: int, end: int) -> Iterator[tuple[list[_Edit], int, int]]:
        """(row, from, to) of the edits that start within the span, its end included."""
        first, last, blocks = start // BLOCK, end // BLOCK, self._blocks
        for block in blocks[bisect.bisect_left(blocks, first) : bisect.bisect_right(blocks, last)]:
            row = self._rows[block]
            low = bisect.bisect_left(row, (start,)) if block == first else 0
            yield row, low, bisect.bisect_left(row, (end + 1,)) if block == last else len(row)

    def _add(self, edit: _Edit) -> None:
        _put(edit, self._rows, self._blocks)
        if edit.end > edit.start:
            _put(edit, self._replaced, self._replacing)

    def _forget(self, edits: list[_Edit]) -> None:
        """Of those that went, the replacements."""
        for edit in edits:
            if edit.end > edit.start:
                block = edit.start // BLOCK
                self._replaced[block].remove(edit)
                if not self._replaced[block]:
                    del self._replaced[block]
                    self._replacing.remove(block)


def _put(edit: _Edit, rows: dict[int, list[_Edit]], blocks: list[int]) -> None:
    block = edit.start // BLOCK
    row = rows.get(block)
    if row is None:
        rows[block] = [edit]
        bisect.insort(blocks, block)
    else:
        bisect.insort(row, edit)


def _is_around(edit: _Edit, start: int, end: int) -> bool:
    """Whether it is a prefix or a suffix of exactly this span."""
    edges = (edit.start, edit.reach) if edit.side else (edit.reach, edit.start)
    return edit.end == edit.start and edges == (start, end)


def _inside(edit: _Edit, start: int, end: int) -> bool:
    """Whether an edit that starts from `start` to `end` belongs to that span."""
    if edit.end > edit.start:
        return edit.end <= end
    if start == end:
        return True
    if edit.side == 0:  # a suffix: of what ends here, unless that begins before the span
        return edit.start != start and not (edit.start == end and 0 <= edit.reach < start)
    return edit.start != end and not (edit.start == start and edit.reach > end)
