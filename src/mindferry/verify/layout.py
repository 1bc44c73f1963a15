"""A module that is given its axes in another order, or two of them as one: the same values in another layout are no difference.

A batch norm over channels in the middle takes (batch × length, channels) in a conversion by hand, a convolution of width one becomes a
dense layer on the last axis. Only what lies inside of a network may lie otherwise, and only if the values are the same there.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import Any

from .golden import Golden

Array = Any  # numpy.ndarray
MOST = 5  # axes that are put in every order
CLOSE = 1e-3  # of the largest value: enough to tell one order from another; how far it is off is measured afterwards


def order_of(reference: Array, value: Array) -> tuple[int, ...] | None:
    """The order of the reference's axes in which it reads like the value; None if there is none."""
    import numpy as np

    if reference.size != value.size or not 1 < reference.ndim <= MOST or value.size < 2:
        return None
    if not {reference.dtype.kind, value.dtype.kind} <= {"f"}:
        return None
    with np.errstate(all="ignore"):
        allowed = CLOSE * float(np.abs(reference[np.isfinite(reference)]).max(initial=0.0))
        for order in itertools.permutations(range(reference.ndim)):
            off = np.abs(reference.transpose(order).reshape(value.shape) - value)
            if float(np.nanmax(off, initial=0.0)) <= allowed and math.isfinite(allowed) and allowed:
                return order
    return None


@dataclass(slots=True)
class Layouts:
    """What was found to lie otherwise: key of a value or of its gradient -> order of axes."""

    golden: Golden
    _orders: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def reference(self, key: str, gradient: str, value: Array, is_inside: bool, is_writable: bool = True) -> Array:
        """What the golden file holds, as the conversion lays it out."""
        found = self.golden.lent(key, is_writable=is_writable)
        if found.shape == value.shape or not is_inside:
            return found
        order = order_of(found, value)
        if order is None:
            return found
        self._orders[gradient] = order
        return _laid_out(found, order, value)

    def gradient(self, key: str, value: Array) -> Array:
        """The same of a gradient that arrives where a value lies otherwise."""
        found = self.golden.lent(key, is_writable=True)
        order = self._orders.get(key)
        return found if order is None or found.size != value.size else _laid_out(found, order, value)


def _laid_out(found: Array, order: tuple[int, ...], value: Array) -> Array:
    import numpy as np

    return np.ascontiguousarray(found.transpose(order).reshape(value.shape))
