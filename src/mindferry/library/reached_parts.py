"""What of a library a project reaches, and what it uses and does not get."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from .sources import Module


@dataclass(slots=True, eq=False)
class Reached:
    """What of one module is needed."""

    module: Module
    names: set[str] = field(default_factory=set)
    statements: set[ast.stmt] = field(default_factory=set)  # outside of functions
    methods: set[ast.AST] = field(default_factory=set)  # of classes among them
    pulled_by: str = ""  # the module that it was first reached from


@dataclass(frozen=True, slots=True)
class Left:
    """A name that is used and not carried along."""

    name: str
    why: str
    pulled_by: str
