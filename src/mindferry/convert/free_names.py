"""Names for what a conversion adds to a file: those that nothing in it has yet."""

from __future__ import annotations

from collections.abc import Iterable


class FreeNames:
    """`grads`, `grads_`, then `grads_2`, `grads_3`: a thousandth name is no longer than the third, and as soon found."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._numbers: dict[str, int] = {}  # by wish: all below are taken

    def find(self, wish: str) -> str:
        """The wish, or what is nearest to it; it stays free."""
        for name in (wish, f"{wish}_"):
            if name not in self._taken:
                return name
        number = self._numbers.get(wish, 2)
        while (name := f"{wish}_{number}") in self._taken:
            number += 1
        self._numbers[wish] = number
        return name

    def take(self, wish: str) -> str:
        """The same, for good."""
        name = self.find(wish)
        self._taken.add(name)
        return name
