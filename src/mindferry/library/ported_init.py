"""Parts of libraries that this project reaches, converted with it. What was left behind is listed in NOTICE.md."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

IN_FUNCTION = 1  # CO_OPTIMIZED: the code of a function, not of a module or a class


class NotCarried:
    """A name that was left behind. While the libraries are imported it keeps quiet; where it is used, it says why."""

    _name: str
    _why: str

    def __init__(self, name: str, why: str) -> None:
        self.__dict__.update(_name=name, _why=why)

    def __getattr__(self, attribute: str) -> NotCarried:
        if attribute.startswith("__") and attribute.endswith("__"):
            raise AttributeError(attribute)
        return NotCarried(f"{self._name}.{attribute}", self._why)

    def _say(self, otherwise: Any) -> Any:
        user = sys._getframe(2)
        is_import = str(user.f_globals.get("__name__")).startswith(f"{__name__}.")
        if user.f_code.co_flags & IN_FUNCTION or not is_import:
            raise NotImplementedError(f"{self._name} was not carried along: {self._why}")
        return otherwise

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        owner, _, last = self._name.rpartition(".")
        if last.startswith(("is_", "_is_", "has_")):  # is_fsdp_enabled(): there is no such thing here
            return False
        if owner.rpartition(".")[2].isupper() and last in (
            "keys",
            "values",
            "items",
            "get",
        ):  # a table with nothing in it
            return None if last == "get" else ()
        return self._say(self)

    def __getitem__(self, index: Any) -> NotCarried:  # an annotation, perhaps
        return self

    def __iter__(self) -> Iterator[Any]:
        if not self._name.rpartition(".")[2].isupper():
            self._say(())
        return iter(())

    def __bool__(self) -> bool:
        return False

    def __contains__(self, item: object) -> bool:
        return False

    def __or__(self, other: object) -> NotCarried:  # an annotation
        return self

    __ror__ = __or__

    def __instancecheck__(self, value: object) -> bool:
        return False

    __subclasscheck__ = __instancecheck__

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        """As a base class it adds nothing."""
        return ()

    def __repr__(self) -> str:
        return f"<{self._name}, not carried along>"


def not_carried(name: str, why: str) -> Any:
    return NotCarried(name, why)


def lazy_names(package: str, names: dict[str, tuple[str, str]]) -> Callable[[str], Any]:
    """A package's __getattr__: each name is imported from its module when it is first asked for."""

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"{package} has no {name} here: nothing that the project uses reaches it")
        module, original = names[name]
        try:
            value = getattr(importlib.import_module(module, package), original)
        except AttributeError as error:  # which would be taken for an answer: there is no such name
            raise ImportError(f"{package}.{name} can't be imported: {error}") from error
        setattr(sys.modules[package], name, value)
        return value

    return find
