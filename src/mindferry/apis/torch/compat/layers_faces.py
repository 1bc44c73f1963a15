"""A layer's parameters and sizes under torch's names, where nothing tells which layer it is."""

from collections.abc import MutableMapping

from mindspore import nn, ops

from .layers_container import add_module

BATCH_NORM_LAYERS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.SyncBatchNorm)
NORM_LAYERS = (*BATCH_NORM_LAYERS, nn.LayerNorm, nn.GroupNorm)
FLAT_LAYERS = (nn.Conv1dTranspose, nn.MaxPool1d, nn.AvgPool1d)
DRAWN_PARAMETERS = ("weight", "gamma", "embedding_table", "w", "weight_ih_l0", "weight_ih")
# What MindSpore's own layers are used for only where torch's have the usual value.
USUAL_SETTINGS = {
    "affine": True,
    "track_running_stats": True,
    "elementwise_affine": True,
    "padding_mode": "zeros",
    "padding": 0,
    "dilation": 1,
    "ceil_mode": False,
    "count_include_pad": True,
    "return_indices": False,
    "inplace": False,
    "max_norm": None,
    "norm_type": 2.0,
    "scale_grad_by_freq": False,
    "sparse": False,
    "divisor_override": None,
}
# Those that MindSpore's layers keep under another name.
RENAMED_SETTINGS = {"eps": "epsilon", "negative_slope": "alpha"}


def layer_parameter(layer, name):
    """m.weight, m.running_mean, m.in_features of any layer. What is no layer of MindSpore's keeps its own names."""
    if isinstance(layer, nn.BatchNorm3d):
        return norm_face(layer.bn2d, name)
    if isinstance(layer, NORM_LAYERS):
        return norm_face(layer, name)
    if isinstance(layer, nn.Embedding):
        return embedding_face(layer, name)
    if isinstance(layer, nn.Dense) and name == "in_features":
        return layer.in_channels
    if isinstance(layer, nn.Dense) and name == "out_features":
        return layer.out_channels
    if isinstance(layer, nn.PReLU) and name == "weight":
        return layer.w
    if isinstance(layer, nn.Cell) and name == "bias":
        return getattr(layer, "bias", None)
    if isinstance(layer, nn.Cell) and name == "groups" and hasattr(layer, "group"):
        return layer.group
    return getattr(layer, name)


def has_member(layer, name):
    """hasattr(m, name), as torch's layer answers."""
    if not isinstance(layer, nn.Cell) or not is_ready_layer(layer):
        return hasattr(layer, name)
    layer = getattr(layer, "bn2d", layer)  # BatchNorm3d holds one
    held = layer._params
    if name == "reset_parameters":
        return hasattr(layer, name) or any(each in held for each in DRAWN_PARAMETERS)
    if name == "weight" and isinstance(layer, (*NORM_LAYERS, nn.PReLU, nn.Embedding)):
        return True
    if name == "bias":
        return isinstance(layer, NORM_LAYERS) or hasattr(layer, "has_bias") or hasattr(layer, name)
    if name in ("running_mean", "running_var", "reset_running_stats") and isinstance(layer, BATCH_NORM_LAYERS):
        return True
    renamed = {"in_features": nn.Dense, "out_features": nn.Dense}
    renamed |= {"num_embeddings": nn.Embedding, "embedding_dim": nn.Embedding}
    return hasattr(layer, name) or isinstance(layer, renamed.get(name, ()))


def get_member(layer, name, *default):
    """getattr(m, name, default) of what may be a layer."""
    return layer_parameter(layer, name) if has_member(layer, name) else getattr(layer, name, *default)


def is_ready_layer(cell):
    """Whether its class is, or stands on, a layer of MindSpore's."""
    kinds = type(cell).__mro__
    return any(kind.__module__.startswith("mindspore.") for kind in kinds[: kinds.index(nn.Cell)])


def layer_setting(layer, name):
    """m.affine, m.padding of any layer. What has the setting under torch's name, and as torch has it, is left to itself."""
    if isinstance(layer, FLAT_LAYERS) and name in ("kernel_size", "stride", "padding", "dilation", "output_padding"):
        return flat_setting(layer, name)
    if isinstance(layer, nn.Cell) and name == "padding" and hasattr(layer, "pad_mode"):
        return padding_face(layer)
    if isinstance(layer, nn.Cell) and name == "output_padding" and hasattr(layer, "kernel_size"):
        extra = getattr(layer, "extra", getattr(layer, "output_padding", 0))
        return extra if isinstance(extra, tuple) else (extra,) * len(layer.kernel_size)
    if not isinstance(layer, nn.Cell) or hasattr(layer, name):
        return getattr(layer, name)
    if isinstance(layer, nn.BatchNorm3d):
        return layer_setting(layer.bn2d, name)
    if name == "transposed" and hasattr(layer, "pad_mode"):
        return "Transpose" in type(layer).__name__
    if isinstance(layer, nn.AdaptiveAvgPool2d) and name == "output_size":
        return tuple(None if size == -1 else size for size in layer.adaptive_avgpool2d.output_size)
    if isinstance(layer, nn.MSELoss) and name == "reduction":
        return ("mean" if layer.average else "sum") if layer.reduce else "none"
    if name in RENAMED_SETTINGS and hasattr(layer, RENAMED_SETTINGS[name]):
        return getattr(layer, RENAMED_SETTINGS[name])
    return USUAL_SETTINGS[name] if name in USUAL_SETTINGS else getattr(layer, name)


def flat_setting(layer, name):
    """A size of a layer over a line, where MindSpore has one for each of two axes."""
    found = getattr(layer, name, USUAL_SETTINGS.get(name, 0))
    last = found[-1] if isinstance(found, tuple) else found
    return last if isinstance(layer, nn.MaxPool1d) else (last,)


def padding_face(layer):
    """As torch has it: a number or one for each axis, where MindSpore has one for each side."""
    padding, kernel = getattr(layer, "padding", 0), layer.kernel_size
    if not hasattr(layer, "in_channels"):  # a pool: a number for all, or one for each of three axes
        return padding[-1] if isinstance(padding, tuple) and len(set(padding[-2:])) == 1 else padding
    if isinstance(padding, str):
        return padding
    if layer.pad_mode == "same":
        return "same"
    if not isinstance(padding, tuple):
        return (padding,) * len(kernel)
    return padding[::2] if len(padding) == 2 * len(kernel) else padding


def is_stand_in(layer, name):
    """Whether it is a scale of one or a shift of zero that MindSpore's norm needs, and torch's doesn't have."""
    if not isinstance(layer, NORM_LAYERS) or name not in ("gamma", "beta"):
        return False
    is_affine = getattr(layer, "affine", True) and getattr(layer, "elementwise_affine", True)
    return not is_affine or (name == "beta" and getattr(layer, "lacks_bias", False))


def norm_face(layer, name):
    """Of a norm layer: weight is gamma, bias is beta."""
    if name == "weight":
        return None if is_stand_in(layer, "gamma") else layer.gamma
    if name == "bias":
        return None if is_stand_in(layer, "beta") else layer.beta
    if name == "running_mean":
        return layer.moving_mean
    if name == "running_var":
        return layer.moving_variance
    return getattr(layer, name)


def embedding_face(layer, name):
    """Of an embedding."""
    if name == "weight":
        return layer.embedding_table
    if name == "num_embeddings":
        return layer.vocab_size
    if name == "embedding_dim":
        return layer.embedding_size
    return getattr(layer, name)


def drop_bias(layer):
    """m.bias = None: a norm layer's is zero and never learns, as MindSpore's needs one."""
    layer = getattr(layer, "bn2d", layer)
    if isinstance(layer, NORM_LAYERS):
        layer.beta.set_data(ops.zeros(layer.beta.shape, layer.beta.dtype))
        layer.beta.requires_grad, layer.lacks_bias = False, True
    else:
        layer.has_bias, layer.bias = False, None


def forward_name(owner):
    """What a class or an object calls its forward method: construct, if it is a network."""
    is_network = issubclass(owner, nn.Cell) if isinstance(owner, type) else isinstance(owner, nn.Cell)
    return "construct" if is_network else "forward"


class ModulesInside(MutableMapping):
    """The layers of a network by name; what is put in or taken out, the network runs or no longer runs."""

    def __init__(self, cell):
        self.cell = cell

    def __getitem__(self, name):
        return self.cell._cells[name]

    def __iter__(self):
        return iter(self.cell._cells)

    def __len__(self):
        return len(self.cell._cells)

    def __reversed__(self):
        return reversed(list(self.cell._cells))

    def values(self):
        return dict(self.cell._cells).values()  # which can be gone through backwards, as a flow's inverse does

    def items(self):
        return dict(self.cell._cells).items()

    def __setitem__(self, name, child):
        add_module(self.cell, name, child)

    def __delitem__(self, name):
        delattr(self.cell, name)
        if isinstance(self.cell, nn.SequentialCell):
            self.cell.cell_list = list(self.cell._cells.values())


def modules_inside(cell):
    """m._modules: the layers by name, as they are kept."""
    return ModulesInside(cell) if isinstance(cell, nn.Cell) else cell._modules


def shaped_weight(layer):
    """m.weight of any layer, in torch's shape."""
    return (
        flat_weight(layer) if isinstance(layer, (nn.Conv1d, nn.Conv1dTranspose)) else layer_parameter(layer, "weight")
    )


def flat_weight(layer):
    """The weight of a Conv1d in torch's shape: MindSpore's has an axis more, (out, in, 1, width)."""
    return layer.weight.squeeze(2) if layer.weight.ndim == 4 else layer.weight
