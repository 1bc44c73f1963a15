"""One batch on its way from torch to MindSpore: pickled, with a number in each tensor's place, so that it may be any object.

Classes of the project are found in the converted project by their names, where the copy of a library goes before the library.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable
from typing import Any

from ..errors import MindferryError
from ..frameworks.project_modules import import_of_project

ADVICE = "which can't be handed to the conversion; let the loader return tensors"


def take_apart(batch: Any, to_numpy: Callable[[Any], Any]) -> tuple[bytes, list[Any]]:
    """The batch without its tensors, and these as arrays, each once."""
    arrays: list[Any] = []
    numbers: dict[int, int] = {}

    class Pickler(pickle.Pickler):
        def persistent_id(self, value: Any) -> int | None:
            if not (hasattr(type(value), "detach") and hasattr(type(value), "dtype")):
                return None
            if id(value) not in numbers:
                numbers[id(value)] = len(arrays)
                arrays.append(to_numpy(value))
            return numbers[id(value)]

    buffer = io.BytesIO()
    try:
        Pickler(buffer).dump(batch)
    except Exception as error:  # an object says in its own way that it can't be pickled
        held = type(batch).__name__
        raise MindferryError(f"a batch is a {held} or holds something, {ADVICE} ({error})") from None
    return buffer.getvalue(), arrays


def put_together(record: bytes, arrays: list[Any], to_tensor: Callable[[Any], Any]) -> Any:
    """The batch, with tensors and classes of this side's."""
    tensors = [to_tensor(array) for array in arrays]

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, number: int) -> Any:
            return tensors[number]

        def find_class(self, module: str, name: str) -> Any:
            return _of_this_side(module, name)

    return Unpickler(io.BytesIO(record)).load()


def _of_this_side(module: str, name: str) -> Any:
    if (module, name) == ("torch", "Size"):
        return tuple
    for place in (f"ported.{module}", module):
        try:
            found: Any = sys.modules[place] if place in sys.modules else import_of_project(place)
            for each in name.split("."):
                found = getattr(found, each)
        except (ImportError, AttributeError):
            continue
        return found
    raise MindferryError(f"a batch holds a {module}.{name}, {ADVICE}")
