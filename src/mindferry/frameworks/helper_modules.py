"""The ms_compat of a converted project, imported before its script is run."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from .project_modules import import_of_project
from .watch.mindferry_watch.helper_package import as_one_module


def helpers_of(names: Iterable[str]) -> list[Any]:
    """By their paths; and one of them, which are all alike, by the bare name under which a script in a folder of its own imports it."""
    found = {name: import_of_project(name) for name in names}
    for name, module in found.items():
        sys.modules.setdefault(name.rpartition(".")[2], module)
    different = {id(module): module for module in found.values()}  # a folder's may be the root's
    return [as_one_module(module) for module in different.values()]
