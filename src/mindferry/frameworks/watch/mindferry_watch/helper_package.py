"""ms_compat as a package, seen as one module: what is replaced in it is replaced in every module that took it over by name."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class HelperPackage:
    """Reads a name from the package, and sets it wherever it stands."""

    def __init__(self, package: ModuleType) -> None:
        start = f"{package.__name__}."
        modules = [
            package,
            *(each for name, each in sys.modules.items() if name.startswith(start) and each is not None),
        ]
        self.__dict__["modules"] = tuple(modules)
        for module in reversed(modules):
            self.__dict__.update(vars(module))  # so that vars() shows them all

    def __setattr__(self, name: str, value: Any) -> None:
        for module in self.__dict__["modules"]:
            if name in vars(module):
                setattr(module, name, value)
        self.__dict__[name] = value


def as_one_module(module: ModuleType) -> Any:
    """The module itself, or all modules of a package at once."""
    return HelperPackage(module) if hasattr(module, "__path__") else module


def gradient_functions(helper: Any) -> list[str]:
    """Functions of an ms_compat that take a loss's gradients, which are added to the parameters afterwards."""
    return [name for name in ("loss_and_gradients", "carried_gradients", "recorded_gradients") if hasattr(helper, name)]
