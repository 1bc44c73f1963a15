"""Completes what is known about a file before fixers see it: what only torch's own meaning tells, and names that get a value in place."""

from __future__ import annotations

from ..apis import Table
from ..read.infer import Reading
from ..read.types import TENSOR
from .facts import Facts
from .fixers import data_arrays
from .fixers.in_place.find import find_in_place
from .settings import Settings


def gather(reading: Reading, rules: Table, settings: Settings, is_notebook: bool) -> Facts:
    facts = Facts(reading, rules, settings, is_notebook)
    if reading.symbols.framework.name != "torch":
        return facts
    if settings.applies("data_arrays"):
        for call in facts.derived(data_arrays.images_made_tensors):
            reading.types[call] = TENSOR
    if settings.applies("in_place"):
        facts.derived(find_in_place)  # `x.add_(1)` is read as `x = x.add_(1)` from here on
    return facts
