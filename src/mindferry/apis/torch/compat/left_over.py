"""What stands for names of torch's that were left: a file that mentions one can be imported, and says what is missing when it is used."""

import sys

IN_FUNCTION = 1  # CO_OPTIMIZED: the code of a function, not of a module or a class


class Missing:
    """A name of torch's that has no counterpart. While modules are imported it keeps quiet; in a function it raises."""

    def __init__(self, name, notes):
        self.__dict__.update(_name=name, _notes=notes)

    def __getattr__(self, attribute):
        if attribute == "__version__":
            return "0"  # older than whatever a library asks for
        if attribute in ("__name__", "__qualname__"):  # a registry asks for it
            return self._name.rpartition(".")[2]
        if attribute.startswith("__") and attribute.endswith("__"):
            raise AttributeError(attribute)
        return Missing(f"{self._name}.{attribute}", self._notes)

    def _say(self, otherwise):
        """Called by what uses the name: raise, unless a module is just being imported."""
        if sys._getframe(2).f_code.co_flags & IN_FUNCTION:
            why = [
                note for name, note in self._notes.items() if self._name.startswith(name) or name.startswith(self._name)
            ]
            raise NotImplementedError("; ".join(why) or f"{self._name} has no counterpart in MindSpore")
        return otherwise

    def __call__(self, *args, **kwargs):
        return self._say(self)

    def __getitem__(self, index):
        return self._say(self)

    def __iter__(self):
        return self._say(iter(()))

    def __bool__(self):
        return self._say(False)

    def __int__(self):
        return self._say(0)

    def __lt__(self, other):
        return self._say(False)

    __le__ = __gt__ = __ge__ = __contains__ = __lt__

    def __or__(self, other):  # an annotation
        return self

    __ror__ = __or__

    def __instancecheck__(self, value):
        return False

    __subclasscheck__ = __instancecheck__

    def __mro_entries__(self, bases):
        """As a base class: deriving from it is quiet, making an object of it is not."""
        return (type(self._name.rpartition(".")[2], (MissingBase,), {"missing": self}),)


class MissingBase:
    def __new__(cls, *args, **kwargs):
        return cls.missing(*args, **kwargs)
