"""What is noted of an object, for as long as the object lives, whatever it says of its equality.

A `WeakKeyDictionary` asks the key for its hash, and a class may answer by attributes that it does not have yet (torchmetrics'
`Metric`, while it is being made), or not at all (a loader with an `__eq__` of its own).
"""

from __future__ import annotations

import weakref
from typing import Any


class ByIdentity:
    def __init__(self) -> None:
        self._noted: dict[int, tuple[weakref.ref[Any], Any]] = {}

    def note(self, key: Any, value: Any) -> None:
        number, noted = id(key), self._noted

        def forget(reference: weakref.ref[Any]) -> None:
            if (held := noted.get(number)) is not None and held[0] is reference:
                del noted[number]

        noted[number] = (weakref.ref(key, forget), value)

    def get(self, key: Any, otherwise: Any = None) -> Any:
        reference, value = self._noted.get(id(key), (None, otherwise))
        return value if reference is not None and reference() is key else otherwise

    def living(self) -> list[Any]:
        """The objects themselves, in the order in which they were noted."""
        objects = [reference() for reference, _ in list(self._noted.values())]
        return [each for each in objects if each is not None]
