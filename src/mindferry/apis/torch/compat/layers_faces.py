"""A layer's parameters and sizes under torch's names, where nothing tells which layer it is."""

from mindspore import nn, ops

BATCH_NORM_LAYERS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.SyncBatchNorm)
NORM_LAYERS = (*BATCH_NORM_LAYERS, nn.LayerNorm, nn.GroupNorm)


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


def norm_face(layer, name):
    """Of a norm layer: weight is gamma, bias is beta."""
    if name == "weight":
        return layer.gamma
    if name == "bias":
        return layer.beta
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
        layer.beta.requires_grad = False
    else:
        layer.has_bias, layer.bias = False, None


def forward_name(owner):
    """What a class or an object calls its forward method: construct, if it is a network."""
    is_network = issubclass(owner, nn.Cell) if isinstance(owner, type) else isinstance(owner, nn.Cell)
    return "construct" if is_network else "forward"


def modules_inside(cell):
    """m._modules: the layers by name, as they are kept."""
    return cell._cells


def parameters_inside(cell):
    """m._parameters: the network's own parameters by torch's names, as they are now."""
    names = {"gamma": "weight", "beta": "bias", "embedding_table": "weight"}
    is_renamed = isinstance(cell, (*NORM_LAYERS, nn.Embedding))
    return {names.get(name, name) if is_renamed else name: value for name, value in cell._params.items()}


def shaped_weight(layer):
    """m.weight of any layer, in torch's shape."""
    return (
        flat_weight(layer) if isinstance(layer, (nn.Conv1d, nn.Conv1dTranspose)) else layer_parameter(layer, "weight")
    )


def flat_weight(layer):
    """The weight of a Conv1d in torch's shape: MindSpore's has an axis more, (out, in, 1, width)."""
    return layer.weight.squeeze(2) if layer.weight.ndim == 4 else layer.weight
