"""A network's own parameters by name: put in, taken out, and computed anew where one was taken out."""

from collections.abc import MutableMapping

import mindspore as ms
from mindspore import nn

from .layers_module import BATCH_NORMS, RENAMING, set_layer_parameter
from .layers_weight import put_weight
from .state_names import NORM_NAMES, TORCH_NAMES


def kept_as(cell, name):
    """What MindSpore's layer calls the parameter, whether it is there or was taken out."""
    if not isinstance(cell, RENAMING):
        return name
    if isinstance(cell, nn.Embedding):
        own = {"weight": "embedding_table"}
    else:
        own = {"weight": "w"} if isinstance(cell, nn.PReLU) else {name: own for own, name in NORM_NAMES.items()}
    return own.get(name, name)


class ParametersInside(MutableMapping):
    """By torch's names. What is taken out leaves room for a tensor: `del m._parameters["weight"]; m.weight = v * g`."""

    def __init__(self, cell):
        self.cell = cell

    def __getitem__(self, name):
        return self.cell._params[kept_as(self.cell, name)]

    def __iter__(self):
        is_renamed, is_counting = isinstance(self.cell, RENAMING), isinstance(self.cell, BATCH_NORMS)
        names = [each for each in self.cell._params if not (is_counting and each.startswith("moving_"))]
        return iter([TORCH_NAMES.get(each, each) if is_renamed else each for each in names])

    def __len__(self):
        return len(list(iter(self)))

    def __setitem__(self, name, value):
        set_layer_parameter(self.cell, name, value)

    def __delitem__(self, name):
        del self.cell._params[kept_as(self.cell, name)]


def parameters_inside(cell):
    """m._parameters: the network's own parameters by torch's names."""
    return ParametersInside(cell) if isinstance(cell, nn.Cell) else cell._parameters


def set_by_name(owner, name, value):
    """setattr(m, name, value) with a name that only running tells: a layer's parameter goes by MindSpore's own."""
    if isinstance(owner, nn.Cell) and isinstance(value, ms.Parameter):
        set_layer_parameter(owner, name, value)
    elif isinstance(owner, nn.Cell) and isinstance(value, ms.Tensor) and kept_as(owner, name) not in owner._params:
        put_weight(owner, kept_as(owner, name), value)
    else:
        setattr(owner, name, value)
