"""Python's and numpy's random numbers, the same on both sides: what a forward pass draws from them needs no recording."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Iterator


def host_state() -> tuple[object, ...]:
    """Where both generators are."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return (random.getstate(),)
    kind, numbers, *rest = numpy.random.get_state()
    return random.getstate(), kind, numbers.tobytes(), *rest


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Both generators start from `seed`, and go on afterwards where they were."""
    before = random.getstate()
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    state = numpy.random.get_state() if numpy is not None else None
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
    try:
        yield
    finally:
        random.setstate(before)
        if numpy is not None and state is not None:
            numpy.random.set_state(state)
