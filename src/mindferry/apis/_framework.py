"""The frameworks that projects are converted from, by name."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterable

from ..read.framework import Framework

SOURCES = ("torch", "tensorflow")  # what projects are written for, the first one where nothing tells
TITLES = {"torch": "torch", "tensorflow": "TensorFlow"}


def package_of(source: str) -> str:
    """Where a framework's entries are: `torch` is apis/torch/, a dotted name is a package of somebody else's."""
    return source if "." in source else f"{__package__}.{source}"


@functools.cache
def framework(source: str = "torch") -> Framework:
    """What its `_framework.py` says of it."""
    made: Framework = importlib.import_module(f"{package_of(source)}._framework").describe()
    return made


def title_of(names: Iterable[str]) -> str:
    """What people call the framework that these dotted names are of, or both."""
    roots = {name.partition(".")[0] for name in names}
    found = [TITLES[source] for source in SOURCES if roots & set(framework(source).roots)]
    return " and ".join(found) or TITLES[SOURCES[0]]
