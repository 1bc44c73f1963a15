"""Which weights of an adapter are trained: all parameters are leaves, as MindSpore keeps no graph."""


def _set_layer_requires_grad(layer, requires_grad):
    for parameter in [layer] if isinstance(layer, torch.Tensor) else layer.parameters():
        parameter.requires_grad = requires_grad
