"""Modules that are imported by a call: `__import__("torch")`, `importlib.import_module("torch.nn")`."""

from __future__ import annotations

import ast

from .framework import Framework


def imported_by_call(qual: str, node: ast.Call, framework: Framework) -> str:
    """The framework's module that the call of `qual` gives; '' if it gives none."""
    match node.args:
        case [ast.Constant(value=str(name)), *others] if framework.is_own(name):
            if qual == "builtins.__import__":
                return name if len(others) == 3 else name.partition(".")[0]
            return name if qual == "importlib.import_module" else ""
    return ""
