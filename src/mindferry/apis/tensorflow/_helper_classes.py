"""Which methods and attributes the helper classes have: what a class of Keras' has beyond them is left with a finding."""

from __future__ import annotations

import ast
import functools
from importlib.resources import files

NAMED = {"tensorflow.data.Dataset": "Dataset", "keras.Model": "Model", "keras.Sequential": "Sequential"}


@functools.cache
def classes() -> dict[str, tuple[tuple[str, ...], frozenset[str]]]:
    """Helper class -> (bases, what it defines)."""
    found: dict[str, tuple[tuple[str, ...], frozenset[str]]] = {}
    for path in files(__package__).joinpath("compat").iterdir():
        if not path.name.endswith(".py"):
            continue
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                bases = tuple(ast.unparse(base).rpartition(".")[2] for base in node.bases)
                found[node.name] = bases, frozenset(_defined(node))
    return found


def _defined(node: ast.ClassDef) -> set[str]:
    names: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef):
            names.add(part.name)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            names.add(part.id)
        elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            names.add(part.attr)
        elif isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant):
            names.add(str(part.slice.value))
    return names


def has_method(qual: str, name: str) -> bool:
    """Whether the helper for a class of TensorFlow's or Keras' has it; true where there is no helper to look at."""
    helper = NAMED.get(qual, qual.rpartition(".")[2])
    if qual.startswith("keras.metrics.") and f"{helper}Metric" in classes():
        helper = f"{helper}Metric"  # a loss has the same name
    return helper not in classes() or _has(helper, name)


def _has(helper: str, name: str) -> bool:
    bases, defined = classes().get(helper, ((), frozenset()))
    return name in defined or (name.startswith("__") and name.endswith("__")) or any(_has(base, name) for base in bases)
