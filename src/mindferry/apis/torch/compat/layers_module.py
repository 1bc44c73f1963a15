"""What torch's Module does and mindspore.nn.Cell does otherwise: buffers, parameters without buffers, casts."""

import math

import mindspore as ms
from mindspore import nn, ops
from mindspore.common.initializer import Normal, Uniform, initializer

from .layers_faces import drop_bias, is_stand_in, layer_parameter
from .parts import FREEZES_PARAMETERS, RENAMES_ENTRIES
from .state_names import TORCH_NAMES

TRANSPOSED_CONVOLUTIONS = (nn.Conv1dTranspose, nn.Conv2dTranspose, nn.Conv3dTranspose)
CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d, *TRANSPOSED_CONVOLUTIONS)
BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.SyncBatchNorm)
RENAMING = (*BATCH_NORMS, nn.LayerNorm, nn.GroupNorm, nn.Embedding, nn.PReLU)
CLASS_NAMES = {
    "Dense": "Linear",
    "SequentialCell": "Sequential",
    "CellList": "ModuleList",
    "CellDict": "ModuleDict",
    "Conv1dTranspose": "ConvTranspose1d",
    "Conv2dTranspose": "ConvTranspose2d",
    "Conv3dTranspose": "ConvTranspose3d",
}


def layer_name(cell):
    """m.__class__.__name__ as torch has it."""
    kind = type(cell)
    return CLASS_NAMES.get(kind.__name__, kind.__name__) if kind.__module__.startswith("mindspore.") else kind.__name__


def own_name(cell, name):
    """What MindSpore calls a layer's parameter."""
    options = [own for own, torch_name in TORCH_NAMES.items() if torch_name == name and hasattr(cell, own)]
    return options[0] if options and isinstance(cell, RENAMING) else name


def set_layer_parameter(cell, name, value):
    """m.weight = value, such as another layer's weight: both then learn together. m.bias = None: it goes."""
    if value is None and name == "bias" and isinstance(cell, nn.Cell):
        return drop_bias(cell)
    if name == "bias" and isinstance(value, ms.Parameter) and getattr(cell, "has_bias", None) is False:
        cell.has_bias = True  # it was built without one
        if not hasattr(cell, "bias_add"):
            cell.bias_add = ops.BiasAdd()
    return setattr(cell, own_name(cell, name), value)


def reset_parameters(cell):
    """m.reset_parameters(): the layer's own way, or torch's for layers that MindSpore has without it."""
    if hasattr(cell, "reset_parameters"):
        cell.reset_parameters()
    else:
        reset_layer(cell)


def reset_layer(cell):
    """What the class of torch's does that the layer is of: its parameters as they are drawn first."""
    cell = getattr(cell, "bn2d", cell)  # BatchNorm3d holds one
    if isinstance(cell, (nn.Dense, *CONVOLUTIONS)):
        reset_uniform(cell)
    elif isinstance(cell, nn.Embedding) or hasattr(cell, "embedding_dim"):
        table = layer_parameter(cell, "weight")
        table.set_data(initializer(Normal(1.0), table.shape, table.dtype))
        if getattr(cell, "padding_idx", None) is not None:
            table[cell.padding_idx] = 0.0
    elif hasattr(cell, "gamma"):
        reset_running_stats(cell)
        fill_parameters(cell, {"gamma": 1.0, "beta": 0.0})
    elif isinstance(cell, nn.PReLU):
        fill_parameters(cell, {"w": getattr(cell, "init", 0.25)})
    elif getattr(cell, "hidden_size", None) is not None:
        for parameter in cell.get_parameters():
            bound = 1 / math.sqrt(cell.hidden_size)
            parameter.set_data(initializer(Uniform(bound), parameter.shape, parameter.dtype))
    elif hasattr(cell, "normalized_shape") or hasattr(cell, "num_features"):
        reset_running_stats(cell)
        fill_parameters(cell, {"weight": 1.0, "bias": 0.0})
    elif getattr(cell, "weight", None) is not None:
        reset_uniform(cell)


def fill_parameters(cell, values):
    """Give a cell's parameters these values, those that it has."""
    for name, value in values.items():
        if getattr(cell, name, None) is not None:
            old = getattr(cell, name)
            old.set_data(ops.full(old.shape, value, dtype=old.dtype))


def reset_running_stats(cell):
    """m.reset_running_stats(): a norm forgets what it has seen."""
    if hasattr(cell, "reset_running_stats"):
        cell.reset_running_stats()
    else:
        cell = getattr(cell, "bn2d", cell)
        fill_parameters(cell, {"moving_mean": 0.0, "moving_variance": 1.0, "running_mean": 0.0, "running_var": 1.0})
        if getattr(cell, "batches", None) is not None:
            cell.batches = 0


def reset_uniform(cell):
    """torch's first values of convolutions and linear layers: even up to 1 / sqrt(fan in)."""
    inputs = cell.weight.shape[1:2] if hasattr(cell, "in1_features") else cell.weight.shape[1:]  # of Bilinear, one
    bound = 1 / math.sqrt(math.prod(inputs))
    cell.weight.set_data(initializer(Uniform(bound), cell.weight.shape, cell.weight.dtype))
    if getattr(cell, "bias", None) is not None:
        cell.bias.set_data(initializer(Uniform(bound), cell.bias.shape, cell.bias.dtype))


def parameter(data=None, requires_grad=True):
    """torch.nn.Parameter."""
    return ms.Parameter(ops.zeros((0,)) if data is None else data.copy(), requires_grad=requires_grad)


class ParameterClass(ms.Parameter):
    """torch.nn.Parameter as a base class. MindSpore makes parameters of a class of its own, which this one joins."""

    def __new__(cls, data=None, *arguments, **keywords):
        made = parameter(data)
        made.__class__ = type(cls.__name__, (cls, type(made)), {})
        return made

    def __init__(self, data=None, requires_grad=True, **keywords):
        super().__init__(ops.zeros((0,)) if data is None else data.copy(), requires_grad=requires_grad)


def buffer(data, persistent=True):
    """torch.nn.Buffer: a parameter without gradient, so that checkpoints hold it; a plain tensor if they should not."""
    if data is None or not persistent:
        return data
    kept = ms.Parameter(data, requires_grad=False)
    kept.is_buffer = True  # so that it is not counted among the parameters, whoever holds it
    return kept


def register_buffer(cell, name, tensor, persistent=True):
    """torch.nn.Module.register_buffer. The cell remembers the name, so that the buffer is not counted among the parameters."""
    setattr(cell, name, buffer(tensor, persistent))
    cell.buffer_names = (*getattr(cell, "buffer_names", ()), name)


def walk_tensors(cell, prefix, recurse):
    """(path as torch spells it, tensor, is it a buffer) of everything that the cell holds, each once."""
    seen = set()
    for path, owner in list(cell.cells_and_names(name_prefix=prefix)) if recurse else [(prefix, cell)]:
        if RENAMES_ENTRIES and path.endswith("bn2d") and isinstance(owner, nn.BatchNorm2d):  # BatchNorm3d holds one
            path = path[:-4].rstrip(".")
        buffers = getattr(owner, "buffer_names", ())
        held = dict(owner.parameters_and_names(expand=False))
        held.update((name, getattr(owner, name)) for name in buffers if getattr(owner, name, None) is not None)
        is_norm = RENAMES_ENTRIES and isinstance(owner, BATCH_NORMS)
        for name, tensor in held.items():
            is_statistic = is_norm and name.startswith("moving_")
            is_absent = (is_statistic and owner.use_batch_statistics) or (RENAMES_ENTRIES and is_stand_in(owner, name))
            if id(tensor) in seen or is_absent:  # torch's would hold none
                continue
            seen.add(id(tensor))
            is_buffer = is_statistic or name in buffers or getattr(tensor, "is_buffer", False)
            name = TORCH_NAMES.get(name, name) if RENAMES_ENTRIES and isinstance(owner, RENAMING) else name
            yield f"{path}.{name}" if path else name, tensor, is_buffer


def named_parameters(cell, prefix="", recurse=True):
    """torch.nn.Module.named_parameters: without buffers and running statistics, and with torch's names (weight, not gamma)."""
    for name, tensor, is_buffer in walk_tensors(cell, prefix, recurse):
        if not is_buffer:
            yield name, tensor


def parameters(cell, recurse=True):
    """torch.nn.Module.parameters: frozen ones too, buffers and running statistics not."""
    if FREEZES_PARAMETERS:
        for _, tensor in named_parameters(cell, "", recurse):
            yield tensor
    else:
        yield from cell.trainable_params(recurse)  # nothing is frozen here


def named_buffers(cell, prefix="", recurse=True):
    """torch.nn.Module.named_buffers: the running statistics too."""
    for name, tensor, is_buffer in walk_tensors(cell, prefix, recurse):
        if is_buffer:
            yield name, tensor


def buffers(cell, recurse=True):
    """torch.nn.Module.buffers."""
    for _, tensor in named_buffers(cell, "", recurse):
        yield tensor


def buffers_inside(cell):
    """m._buffers: the network's own buffers by name, as they are now."""
    return dict(named_buffers(cell, recurse=False)) if isinstance(cell, nn.Cell) else cell._buffers


def get_parameter(cell, target):
    """torch.nn.Module.get_parameter, get_buffer: by dotted path."""
    path, _, name = target.rpartition(".")
    return layer_parameter(cell.get_sub_cell(path) if path else cell, name)


def set_requires_grad(cell, requires_grad=True):
    """torch.nn.Module.requires_grad_."""
    for each in parameters(cell):
        each.requires_grad = requires_grad
    return cell


def cell_to(cell, *args, **kwargs):
    """torch.nn.Module.to: casts to a dtype; devices are MindSpore's own affair."""
    for each in (*args, *kwargs.values()):
        if each in (ms.float16, ms.float32, ms.float64, ms.bfloat16):
            return cell.to(each)
    return cell


def with_own_train(cls):
    """A class with a train(mode) of its own: set_train() runs it, of the network around it too, as torch does."""
    own_train = cls.train

    def train(self, mode=True):
        before, self._in_own_train = self._in_own_train, True
        try:
            own_train(self, mode)
        finally:
            self._in_own_train = before
        return self

    def set_train(self, mode=True):
        return super(cls, self).set_train(mode) if self._in_own_train else self.train(mode)

    def add_flags_recursive(self, **flags):  # this is how a cell's set_train() reaches those below it
        if "training" in flags and not self._in_own_train:
            return self.train(flags["training"])
        return super(cls, self).add_flags_recursive(**flags)

    cls.train, cls.set_train, cls.add_flags_recursive, cls._in_own_train = train, set_train, add_flags_recursive, False
    return cls


def in_training(network):
    """A network as torch makes it: in training mode, but for parts that were put in evaluation mode while it was made."""
    if isinstance(network, nn.Cell) and network.phase != "predict":
        network.add_flags(training=True)
        for part in network.cells():
            in_training(part)
    return network
