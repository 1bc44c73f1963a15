"""A layer's setting that changes after the layer was built: MindSpore's layers read most of them only then."""

from mindspore import nn, ops

from .functional_conv import convolve
from .layers_conv import pad_edges
from .layers_faces import layer_parameter, layer_setting
from .layers_norm import RMSNorm
from .layers_pool import AvgPool2d, MaxPool2d

FIXED_LAYERS = (
    nn.Conv1d,
    nn.Conv3d,
    nn.Conv1dTranspose,
    nn.Conv2dTranspose,
    nn.Conv3dTranspose,
    nn.MaxPool1d,
    nn.MaxPool3d,
    nn.AvgPool1d,
    nn.AvgPool3d,
)
GEOMETRY = ("kernel_size", "stride", "padding", "dilation", "groups", "ceil_mode", "count_include_pad")


def set_layer_setting(cell, name, value):
    """m.name = value, and what the layer made of the old value is made again; a graph that ms.jit compiled before keeps the old one.

    What is no layer of these only gets the attribute.
    """
    if isinstance(cell, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)) and name in (
        "momentum",
        "eps",
        "track_running_stats",
    ):
        set_batch_norm(cell, name, value)
    elif isinstance(cell, nn.Dropout) and name == "p":
        cell.dropout, cell.p = nn.Dropout(p=float(value)).dropout, float(value)
    elif isinstance(cell, nn.LayerNorm) and name in ("eps", "epsilon"):
        cell.eps = cell.epsilon = float(value)
        cell.layer_norm = ops.LayerNorm(cell.begin_norm_axis, cell.begin_params_axis, cell.epsilon)
    elif isinstance(cell, RMSNorm) and name == "eps":
        cell.eps = cell.least = value
    elif isinstance(cell, nn.Conv2d) and name in GEOMETRY:
        set_convolution(cell, name, value)
    elif isinstance(cell, (nn.MaxPool2d, nn.AvgPool2d)) and name in GEOMETRY:
        set_pool(cell, name, value)
    elif isinstance(cell, FIXED_LAYERS) and name in GEOMETRY:
        raise NotImplementedError(f"{type(cell).__name__} reads {name} only when it is built: give it there")
    else:
        setattr(cell, name, value)


def set_batch_norm(cell, name, value):
    """Its momentum is torch's, the share of the new value; without tracking, training leaves the running statistics alone."""
    setattr(cell, name, value)
    cell = getattr(cell, "bn2d", cell)  # BatchNorm3d holds one
    if name == "momentum":
        if hasattr(cell, "batches"):
            cell.batches = 0 if value is None else None
        elif value is None:
            raise NotImplementedError("give momentum=None when the batch norm is built")
    setattr(cell, name, (value or 0.0) if name == "momentum" else value)
    share = float(cell.momentum) if getattr(cell, "track_running_stats", True) else 0.0
    cell.bn_train = ops.BatchNorm(True, float(cell.eps), share, cell.format)
    cell.bn_infer = ops.BatchNorm(False, float(cell.eps), 0.1, cell.format)


def set_convolution(cell, name, value):
    """Stride, padding, dilation or groups of a Conv2d; the weight stays."""
    if getattr(cell, "pads", None) is not None:
        raise NotImplementedError(
            f"a Conv2d that pads by {cell.padding_mode} reads {name} only when it is built: give it there"
        )
    if name == "padding" and isinstance(value, str):
        cell.pad_mode, cell.padding = value, 0
    elif name == "padding":
        cell.pad_mode, cell.padding = "pad", tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    elif name == "groups":
        cell.group = cell.groups = value
    else:
        setattr(cell, name, tuple(value) if isinstance(value, (tuple, list)) else (value, value))
    around = cell.padding if cell.pad_mode == "pad" else 0
    if isinstance(around, tuple) and len(around) == 2:
        around = (around[0], around[0], around[1], around[1])
    cell.conv2d = ops.Conv2D(
        cell.out_channels,
        cell.kernel_size,
        1,
        cell.pad_mode,
        around,
        cell.stride,
        cell.dilation,
        cell.group,
        cell.data_format,
    )


def convolve_with(layer, input, weight, bias):
    """layer._conv_forward(input, weight, bias): the layer's convolution with another weight."""
    if weight.ndim == 4 and len(layer.kernel_size) == 1:  # MindSpore's Conv1d keeps an axis more
        weight = weight.squeeze(2)
    padding, pads = layer_setting(layer, "padding"), getattr(layer, "pads", None)
    if pads is not None:
        input, padding = pad_edges(input, pads, layer.padding_mode), 0
    return convolve(input, weight, bias, layer.stride, padding, layer.dilation, layer_parameter(layer, "groups"))


def set_pool(cell, name, value):
    """A MaxPool2d or AvgPool2d with one setting changed and the others as they are."""
    now = {"kernel_size": cell.kernel_size, "stride": cell.stride}
    if isinstance(cell, nn.MaxPool2d):
        old, now["return_indices"] = cell.max_pool, cell.return_indices
        if cell.use_pad:
            now |= {"padding": tuple(old.pads)[-2:], "dilation": tuple(old.dilation)[-2:], "ceil_mode": old.ceil_mode}
        now[name] = value
        new = MaxPool2d(**now)
        cell.max_pool, cell.use_pad = new.max_pool, new.use_pad
    else:
        old = cell.avg_pool
        if cell.is_expand:
            now |= {
                "padding": (old.pad[2], old.pad[4]),
                "ceil_mode": old.ceil_mode,
                "count_include_pad": old.count_include_pad,
                "divisor_override": old.divisor_override or None,
            }
        now[name] = value
        new = AvgPool2d(**now)
        cell.avg_pool, cell.is_expand = new.avg_pool, new.is_expand
    cell.kernel_size, cell.stride = new.kernel_size, new.stride
    if name not in ("kernel_size", "stride"):
        setattr(cell, name, value)
