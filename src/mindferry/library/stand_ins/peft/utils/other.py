"""Adapters: which weights are trained, and which share memory. MindSpore keeps no graph, and shows no storage."""


def _set_layer_requires_grad(layer, requires_grad):
    for parameter in [layer] if isinstance(layer, torch.Tensor) else layer.parameters():
        parameter.requires_grad = requires_grad


def id_tensor_storage(tensor):
    """Which weights share memory: those that are one object."""
    return "", id(tensor), 0
