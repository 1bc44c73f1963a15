"""Tensors inside what a model returns: outputs may be tuples, dictionaries, dataclasses, objects, nested."""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Tensor = Any  # torch.Tensor or mindspore.Tensor: both sides use this
DEEPEST = 12  # an object that holds itself has no bottom
PLAIN = (bool, int, float, complex, str, type(None))
LARGEST = 1 << 16  # elements of a numpy array that are looked at
ATTRIBUTE = " (an attribute)"
FRAMEWORKS = ("torch", "mindspore", "numpy")
NETWORKS = ("_modules", "_cells", "param_groups")  # what a module, a cell and an optimizer have


@dataclasses.dataclass(frozen=True)
class Opaque:
    """Something in an output that nothing is known of: a generator, a function, an object without attributes."""

    kind: str


def leaves(value: Any, is_tensor: Callable[[Any], bool], objects: bool = False) -> list[Tensor]:
    """The tensors in `value`, in order; a dictionary's in the order of its keys' names.

    With `objects`, also those that are attributes of an object of a class that is nobody's container.
    """
    return [leaf for _, leaf in parts(value, is_tensor, objects) if is_tensor(leaf)]


def in_order(function: Any, args: Any, named: dict[str, Any]) -> tuple[Any, list[str]]:
    """What a call is given, by the order of the function's parameters, and the names: the other side may give by position what this one names."""
    try:
        known = [*inspect.signature(function).parameters]
    except (TypeError, ValueError):
        known = []
    names = sorted(named, key=lambda name: (known.index(name) if name in known else len(known), name))
    return (args, [named[name] for name in names]), names


def rebuilt_call(
    given: Any, names: list[str], tensors: Iterator[Tensor], is_tensor: Callable[[Any], bool]
) -> tuple[Any, dict[str, Any]]:
    """Positional and named arguments again, of what `in_order` gave, with other tensors."""
    args, values = rebuild(given, tensors, is_tensor)
    return args, dict(zip(names, values, strict=True))


def tensors_at(place: str, value: Any, is_tensor: Callable[[Any], bool]) -> Iterator[tuple[str, Tensor]]:
    """Each tensor in an attribute, with its place: `past`, `past[0]`, `cache[keys.0]`."""
    for way, leaf in parts(value, is_tensor):
        if is_tensor(leaf):
            yield f"{place}[{way}]" if way else place, leaf


def parts(
    value: Any, is_tensor: Callable[[Any], bool], objects: bool = False, way: str = "", depth: int = 0
) -> list[tuple[str, Any]]:
    """Every tensor and every plain value, with the way to it: `logits`, `1.boxes`; "" if there is nothing around it."""
    if is_tensor(value) or isinstance(value, PLAIN):
        return [(way, value)]
    items = held_in(value, objects) if depth <= DEEPEST else []
    if not items and not isinstance(value, dict | list | tuple):
        return [(way, _as_plain(value))]
    found: list[tuple[str, Any]] = []
    for name, item in items:
        found += parts(item, is_tensor, objects, f"{way}.{name}" if way else name, depth + 1)
    return found


def containers(
    value: Any, is_tensor: Callable[[Any], bool], way: str = "", depth: int = 0
) -> Iterator[tuple[str, str]]:
    """The way to every list, tuple and dictionary, and which it is, with a tuple's names."""
    if is_tensor(value) or isinstance(value, PLAIN) or depth > DEEPEST:
        return
    for kind in (dict, list, tuple):
        if isinstance(value, kind):
            names = getattr(value, "_fields", ()) if kind is tuple else ()
            yield way, f"{kind.__name__}{_other_keys(value)}{' of ' if names else ''}{', '.join(names)}"
    for name, item in held_in(value, True):
        yield from containers(item, is_tensor, f"{way}.{name}" if way else name, depth + 1)


def _other_keys(value: Any) -> str:
    """Which keys of a dictionary are no texts."""
    kinds = sorted({type(key).__name__ for key in value} - {"str"}) if isinstance(value, dict) else []
    return f" with keys of type {', '.join(kinds)}" if kinds else ""


def _as_plain(value: Any) -> Any:
    """numpy's values and sets as lists; what can't be told is Opaque."""
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        if value.dtype.kind in "biuf" and value.size <= LARGEST:
            return value.tolist() if not value.shape else [str(value.dtype), list(value.shape), value.ravel().tolist()]
    elif isinstance(value, set | frozenset) and all(isinstance(item, PLAIN) for item in value):
        return ["set", sorted(map(repr, value))]
    return Opaque(type(value).__name__)


def rebuild(
    value: Any, replacements: Iterator[Tensor], is_tensor: Callable[[Any], bool], objects: bool = False, depth: int = 0
) -> Any:
    """`value` with its tensors replaced, in the order of `leaves`."""
    if is_tensor(value):
        return next(replacements)
    if isinstance(value, PLAIN) or depth > DEEPEST:
        return value
    items = {name: rebuild(item, replacements, is_tensor, objects, depth + 1) for name, item in held_in(value, objects)}
    if isinstance(value, dict):
        copied = copy.copy(value)  # keeps what a subclass holds beside its items
        for key in value:
            copied[key] = items[str(key)]
        return _with_attributes(copied, items)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*items.values())
    if isinstance(value, list | tuple):
        made = type(value)(item for name, item in items.items() if not name.endswith(ATTRIBUTE))
        return _with_attributes(made, items)
    if items and dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(value, **items)
    if items:
        copied = copy.copy(value)
        for name, item in items.items():
            object.__setattr__(copied, name, item)
        return copied
    return value


def held_in(value: Any, objects: bool) -> list[tuple[str, Any]]:
    """What a container holds, by name; with `objects`, also an object of somebody's own class."""
    if isinstance(value, dict):
        return [*((str(key), value[key]) for key in sorted(value, key=str)), *_beside(value, value.values(), objects)]
    if isinstance(value, list | tuple):  # MindSpore makes plain tuples of named ones
        return [*((str(index), item) for index, item in enumerate(value)), *_beside(value, value, objects)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value) if f.init]
    if objects and _is_holder(value):
        held = vars(value)
        return [(name, held[name]) for name in sorted(held) if not name.startswith("__")]
    return []


def _beside(value: Any, items: Iterable[Any], objects: bool) -> Iterator[tuple[str, Any]]:
    """Attributes of a container of somebody's own class that are not among its items."""
    if objects and type(value).__module__.partition(".")[0] not in ("builtins", "collections", *FRAMEWORKS):
        inside, held = {id(item) for item in items}, getattr(value, "__dict__", {})
        for name in sorted(held):
            if not name.startswith("_") and id(held[name]) not in inside:
                yield f"{name}{ATTRIBUTE}", held[name]


def _with_attributes(value: Any, items: dict[str, Any]) -> Any:
    for name, item in items.items():
        if name.endswith(ATTRIBUTE):
            object.__setattr__(value, name.removesuffix(ATTRIBUTE), item)
    return value


def _is_holder(value: Any) -> bool:
    """An object of somebody's own class, which may hold tensors as attributes."""
    if isinstance(value, type) or callable(value) or any(hasattr(type(value), name) for name in NETWORKS):
        return False
    return hasattr(value, "__dict__") and type(value).__module__.partition(".")[0] not in ("builtins", "types", "numpy")
