"""tf.Module: a thing that has variables, its own and those of what it holds."""

import contextlib

import mindspore as ms

from .tensors import Names, flat


class Module:
    def __init__(self, name=None):
        self.__dict__["_name"] = name or Names.unique(type(self).__name__.lower())

    @property
    def name(self):
        return self._name

    @property
    def name_scope(self):
        return contextlib.nullcontext(self._name)

    @classmethod
    def with_name_scope(cls, method):
        return method

    @property
    def non_trainable_variables(self):
        return tuple(each for each in self.variables if not each.requires_grad)

    @property
    def submodules(self):
        held = [each for value in vars(self).values() for each in flat(value) if isinstance(each, Module)]
        return tuple(held + [inner for each in held for inner in each.submodules])

    @property
    def variables(self):
        """Its own first, by the names of its attributes, then those of what it holds."""
        held = [each for name in sorted(vars(self)) for each in flat(vars(self)[name])]
        found = {id(each): each for each in held if isinstance(each, ms.Parameter)}
        for each in (one for owner in held for one in getattr(owner, "variables", ())):
            found.setdefault(id(each), each)
        return tuple(found.values())

    @property
    def trainable_variables(self):
        return tuple(each for each in self.variables if each.requires_grad)
