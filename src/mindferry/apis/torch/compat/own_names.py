"""Names that a network gives to its own attributes, and that MindSpore's cells have for something else."""

import functools
import sys

from mindspore import nn


class Unset:
    """In a class, hides a member of nn.Cell's: an object of the class has the name once it is set, and not before."""

    def __get__(self, cell, kind=None):
        raise AttributeError("not set")


class OwnCells:
    """`self.cells` of a network that calls its layers so. MindSpore asks every cell for `cells()`, and goes on to get its own."""

    def __init__(self, method=None):
        self.method = method  # where the network has a method of that name

    def __get__(self, cell, kind=None):
        if cell is None:
            return self
        frame = sys._getframe(1)
        asking = frame.f_globals.get("__name__", "").split(".")
        is_framework = asking[0] in ("mindspore", "mindferry") or "ms_compat" in asking
        if is_framework and frame.f_code.co_name != "get_sub_cell":  # which goes down a path, one name after another
            return nn.Cell.cells.__get__(cell, kind)
        if self.method is not None:
            return self.method.__get__(cell, kind)
        for held in (cell._cells, cell._params, cell.__dict__):
            if "cells" in held:
                own = held["cells"]
                if isinstance(own, nn.CellList):  # `net.cells()` stands for net.children(); else a list is not called
                    own.__dict__["construct"] = functools.partial(nn.Cell.cells, cell)
                return own
        raise AttributeError("cells is not set")

    def __set__(self, cell, value):
        cell.__dict__["cells"] = value


def with_own_names(*names):
    """Of a network, a class whose objects have attributes of these names: phase is no longer set when the mode is."""

    def decorate(cls):
        for name in names:
            own = vars(cls).get(name)
            if name == "cells":
                cls.cells = OwnCells(own)
            elif own is None:
                setattr(cls, name, Unset())
        if "cells" in names:
            cls.__setattr__ = _setting_cells(cls.__setattr__)
        return cls

    return decorate


def _setting_cells(set_attribute):
    def set_own(self, name, value):
        if name == "cells" and isinstance(value, nn.Cell):
            if self._cells.get(name) is not value:
                value.update_parameters_name("cells.")
            self.__dict__.pop(name, None)
            self._cells[name] = value
        else:
            set_attribute(self, name, value)

    return set_own
