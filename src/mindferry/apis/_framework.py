"""The frameworks that projects are converted from, by name."""

from __future__ import annotations

import functools
import importlib

from ..read.framework import Framework

SOURCES = ("torch", "tensorflow")  # what projects are written for, the first one where nothing tells


def package_of(source: str) -> str:
    """Where a framework's entries are: `torch` is apis/torch/, a dotted name is a package of somebody else's."""
    return source if "." in source else f"{__package__}.{source}"


@functools.cache
def framework(source: str = "torch") -> Framework:
    """What its `_framework.py` says of it."""
    made: Framework = importlib.import_module(f"{package_of(source)}._framework").describe()
    return made
