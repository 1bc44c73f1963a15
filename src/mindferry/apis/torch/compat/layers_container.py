"""Containers with torch's meaning."""

import re
from collections import OrderedDict
from collections.abc import Mapping

import mindspore as ms
from mindspore import nn

from .state_names import TORCH_NAMES


def hold(cell, name, child):
    """Give a cell a child, which a SequentialCell then runs too.

    MindSpore refuses a name like "my head" as the beginning of a parameter's, torch doesn't. What the child's parameters are called
    begins as in the cell's own: MindSpore names a layer by its owners only while the network is being built.
    """
    owners = next(
        (each.name[: -len(path)] for path, each in cell.parameters_and_names() if each.name.endswith(path)), ""
    )
    if not isinstance(child, nn.Cell) or re.fullmatch(r"[\w.-]*", name, re.ASCII):
        setattr(cell, name, child)
    else:
        cell.insert_child_to_cell(name, child)
        for parameter in child.get_parameters():
            parameter.name = f"{name}.{parameter.name}"
    for parameter in child.get_parameters() if isinstance(child, nn.Cell) else ():
        if not parameter.name.startswith(owners):
            parameter.name = owners + parameter.name
    if isinstance(cell, nn.SequentialCell):
        cell.cell_list = list(cell._cells.values())


def let_go(owner, name):
    """`del owner.name`: a SequentialCell no longer runs that child; a norm's weight goes by MindSpore's name."""
    own = [own for own, torch_name in TORCH_NAMES.items() if torch_name == name and hasattr(owner, own)]
    delattr(owner, name if hasattr(owner, name) or not own else own[0])
    if isinstance(owner, nn.SequentialCell):
        owner.cell_list = list(owner._cells.values())


def add_module(cell, name, module):
    """torch.nn.Module.add_module."""
    hold(cell, name, module)


class Sequential(nn.SequentialCell):
    """nn.SequentialCell that keeps its parameters' names when it is sliced, and also runs the cells set as its attributes."""

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if isinstance(value, nn.Cell):
            self.cell_list = list(self._cells.values())  # name_cells() leaves out a layer that stands there twice

    def __delattr__(self, name):
        super().__delattr__(name)
        if "cell_list" in self.__dict__:
            self.cell_list = list(self._cells.values())

    def __getitem__(self, index):
        if not isinstance(index, slice):
            return super().__getitem__(index)
        part = Sequential()
        for name, cell in list(self._cells.items())[index]:
            part.insert_child_to_cell(name, cell)
            part.cell_list.append(cell)
        return part

    def __add__(self, others):
        return Sequential(*self.cell_list, *others.cell_list)

    def append(self, cell):
        super().append(cell)
        return self

    def extend(self, cells):
        for cell in cells:
            self.append(cell)
        return self

    __iadd__ = extend

    def insert(self, index, cell):
        cells = [self[position] for position in range(len(self))]
        cells.insert(index, cell)
        for position, each in enumerate(cells):
            if position < len(self):
                self[position] = each
            else:
                self.append(each)
        return self

    def pop(self, index):
        cell = self[index]
        del self[index]
        return cell

    def construct(self, input):
        for cell in self.cell_list:
            input = cell(input)
        return input


class Nothing(nn.Cell):
    """The place of a None in a list of modules."""

    def construct(self, input, *others):
        return input


class ModuleList(nn.CellList):
    """nn.CellList that takes any iterable, and None in it, keeps its parameters' names when sliced, and returns itself as torch's does."""

    def __init__(self, modules=None):
        super().__init__()
        self.extend(modules if modules is not None else [])

    def __iter__(self):
        return (None if isinstance(cell, Nothing) else cell for cell in super().__iter__())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return nn.CellList([Nothing() if cell is None else cell for cell in self][index], auto_prefix=False)
        cell = super().__getitem__(index)
        return None if isinstance(cell, Nothing) else cell

    def __setitem__(self, index, cell):
        super().__setitem__(index, Nothing() if cell is None else cell)

    def __add__(self, others):
        return ModuleList([*self, *others])

    def append(self, cell):
        super().append(Nothing() if cell is None else cell)
        return self

    def extend(self, cells):
        for cell in cells:
            self.append(cell)
        return self

    def pop(self, index):
        cell = self[index]
        del self[index]
        return cell


class ModuleDict(nn.Cell):
    """torch.nn.ModuleDict: holds containers too, and may have a construct of its own, which ms.jit allows no nn.CellDict."""

    def __init__(self, modules=None):
        super().__init__()
        self.cell_names, self.cell_list = [], []
        self.update(modules if modules is not None else {})

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if not isinstance(value, nn.Cell):
            return
        if name in self.cell_names:
            self.cell_list[self.cell_names.index(name)] = value
        else:
            self.cell_names, self.cell_list = [*self.cell_names, name], [*self.cell_list, value]

    def update(self, modules):
        for key, cell in modules.items() if hasattr(modules, "items") else modules:
            self[key] = cell

    def __setitem__(self, key, cell):
        hold(self, key, cell)
        if key not in self.cell_names:  # a name that is no attribute's
            self.cell_names, self.cell_list = [*self.cell_names, key], [*self.cell_list, cell]

    def __getitem__(self, key):
        return self.cell_list[self.cell_names.index(key)]

    def __delitem__(self, key):
        kept = [name for name in self.cell_names if name != key]
        self.cell_names, self.cell_list = kept, [self[name] for name in kept]
        delattr(self, key)

    def __len__(self):
        return len(self.cell_names)

    def __iter__(self):
        return iter(self.cell_names)

    def __contains__(self, key):
        return key in self.cell_names

    def __bool__(self):
        return True

    def keys(self):
        return self.cell_names

    def values(self):
        return self.cell_list

    def items(self):
        return list(zip(self.cell_names, self.cell_list))

    def pop(self, key):
        cell = self[key]
        del self[key]
        return cell

    def clear(self):
        for key in list(self.cell_names):
            del self[key]


def as_parameter(value):
    """Containers of parameters make one of a plain tensor."""
    is_plain = isinstance(value, ms.Tensor) and not isinstance(value, ms.Parameter)
    return ms.Parameter(value.copy()) if is_plain else value


class ParameterList(nn.Cell):
    """torch.nn.ParameterList: parameters named 0, 1, 2 below this cell."""

    def __init__(self, values=None):
        super().__init__()
        self.count = 0
        self.extend(values if values is not None else [])

    def append(self, value):
        setattr(self, str(self.count), as_parameter(value))
        self.count += 1
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if isinstance(index, slice):
            return [getattr(self, str(position)) for position in range(self.count)[index]]
        return getattr(self, str(index if index >= 0 else self.count + index))

    def __setitem__(self, index, value):
        setattr(self, str(index if index >= 0 else self.count + index), as_parameter(value))

    def __iter__(self):
        return iter(self[:])

    def __bool__(self):
        return True


class ParameterDict(nn.Cell):
    """torch.nn.ParameterDict: parameters under their keys."""

    def __init__(self, parameters=None):
        super().__init__()
        self.names = []
        self.update(parameters if parameters is not None else {})

    def update(self, parameters):
        entries = parameters.items() if hasattr(parameters, "items") else parameters
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            entries = sorted(entries)  # as torch's does, and nn.ModuleDict not
        for key, value in entries:
            self[key] = value

    def __setitem__(self, key, value):
        if key not in self.names:
            self.names.append(key)
        setattr(self, key, as_parameter(value))

    def __getitem__(self, key):
        return getattr(self, key)

    def __delitem__(self, key):
        self.names.remove(key)
        delattr(self, key)

    def __contains__(self, key):
        return key in self.names

    def __iter__(self):
        return iter(self.names)

    def __len__(self):
        return len(self.names)

    def __bool__(self):
        return True

    def keys(self):
        return list(self.names)

    def values(self):
        return [self[key] for key in self.names]

    def items(self):
        return [(key, self[key]) for key in self.names]

    def get(self, key, default=None):
        return self[key] if key in self.names else default

    def pop(self, key):
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        key = self.names[-1]
        return key, self.pop(key)

    def clear(self):
        for key in list(self.names):
            del self[key]

    def copy(self):
        return ParameterDict(self.items())

    def setdefault(self, key, default=None):
        if key not in self.names:
            self[key] = default
        return self[key]
