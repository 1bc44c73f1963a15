"""Parts of libraries that this project reaches, converted with it. What was left behind is listed in NOTICE.md."""

import importlib
import sys

IN_FUNCTION = 1  # CO_OPTIMIZED: the code of a function, not of a module or a class


class NotCarried:
    """A name that was left behind. While modules are imported it keeps quiet; where a function uses it, it says why."""

    def __init__(self, name, why):
        self.__dict__.update(_name=name, _why=why)

    def __getattr__(self, attribute):
        if attribute.startswith("__") and attribute.endswith("__"):
            raise AttributeError(attribute)
        return NotCarried(f"{self._name}.{attribute}", self._why)

    def _say(self, otherwise):
        if sys._getframe(2).f_code.co_flags & IN_FUNCTION:
            raise NotImplementedError(f"{self._name} was not carried along: {self._why}")
        return otherwise

    def __call__(self, *args, **kwargs):
        owner, _, last = self._name.rpartition(".")
        if last.startswith(("is_", "_is_", "has_")):  # is_fsdp_enabled(): there is no such thing here
            return False
        if owner.rpartition(".")[2].isupper() and last in ("keys", "values", "items", "get"):  # a table with nothing in it
            return None if last == "get" else ()
        return self._say(self)

    def __getitem__(self, index):  # an annotation, perhaps
        return self

    def __iter__(self):
        return iter(()) if self._name.rpartition(".")[2].isupper() else self._say(iter(()))

    def __bool__(self):
        return False

    def __contains__(self, item):
        return False

    def __or__(self, other):  # an annotation
        return self

    __ror__ = __or__

    def __instancecheck__(self, value):
        return False

    __subclasscheck__ = __instancecheck__

    def __mro_entries__(self, bases):
        """As a base class it adds nothing."""
        return ()

    def __repr__(self):
        return f"<{self._name}, not carried along>"


def not_carried(name, why):
    return NotCarried(name, why)


def lazy_names(package, names):
    """A package's __getattr__: each name is imported from its module when it is first asked for."""

    def find(name):
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
