"""What a value is, as plain lists: ["tensor"], ["instance", "models.Net"], ["list", "", [["tensor"]]]."""

from __future__ import annotations

import itertools
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

ELEMENTS = 8  # looked at in a container
DEEPEST = 3
PLAIN: dict[type, str] = {int: "int", float: "float", bool: "bool", str: "str", type(None): "none"}


def describe(value: Any, depth: int = 0) -> list[Any]:
    kind = type(value)
    if kind in PLAIN:
        return [PLAIN[kind]]
    torch, numpy, tensorflow = (sys.modules.get(name) for name in ("torch", "numpy", "tensorflow"))
    if torch is not None and isinstance(value, getattr(torch, "Tensor", ())):
        return ["tensor"]
    if tensorflow is not None and isinstance(
        value, (getattr(tensorflow, "Tensor", ()), getattr(tensorflow, "Variable", ()))
    ):
        return ["tensor"]
    if tensorflow is not None and isinstance(value, getattr(tensorflow, "TensorShape", ())):
        return ["size"]
    if torch is not None and isinstance(value, getattr(torch, "Size", ())):
        return ["size"]
    if numpy is not None and isinstance(value, getattr(numpy, "ndarray", ())):
        return ["ndarray"]
    if kind in (list, tuple, set, dict):
        return _container(kind.__name__, value, depth)
    if isinstance(value, ModuleType):
        return ["ref", value.__name__]
    if isinstance(value, type):
        return ["ref", public_name(value)]
    if isinstance(value, FunctionType | BuiltinFunctionType):
        return ["ref", f"{value.__module__}.{value.__qualname__}"]
    return ["instance", public_name(kind), [public_name(each) for each in kind.__mro__[1:-1]][:12]]


def is_container(value: Any) -> bool:
    return isinstance(value, list | tuple | set | dict)


def _container(name: str, value: Any, depth: int) -> list[Any]:
    if depth >= DEEPEST:
        return [name]
    items = value.values() if isinstance(value, dict) else value
    try:
        kinds = [describe(each, depth + 1) for each in itertools.islice(items, ELEMENTS)]
    except RuntimeError:  # changed by another thread meanwhile
        return [name]
    if name == "tuple":
        return [name, "", kinds] if len(value) <= ELEMENTS else [name]
    distinct = [each for number, each in enumerate(kinds) if each not in kinds[:number]]
    return [name, "" if kinds else "empty", distinct]


def public_name(kind: type) -> str:
    """The shortest dotted name under which its package offers the class: torch.nn.Linear."""
    module, name = kind.__module__, kind.__qualname__
    parts = module.split(".")
    if parts[0] in ("torch", "torchvision"):
        for count in range(1, len(parts)):
            package = ".".join(parts[:count])
            if getattr(sys.modules.get(package), name, None) is kind:
                return f"{package}.{name}"
    if module.startswith("keras.src."):  # keras.src.layers.core.dense.Dense is keras.layers.Dense
        homes = ("keras", *(f"keras.{'.'.join(parts[2:count])}" for count in range(3, len(parts))))
        return next((f"{home}.{name}" for home in homes if hasattr(sys.modules.get(home), name)), f"keras.{name}")
    return f"{module}.{name}"
