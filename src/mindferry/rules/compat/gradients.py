"""Gradients kept on the parameters, as torch keeps them: for loops that accumulate, clip, or have several optimizers."""
# ruff: noqa: B905 (zip takes no strict= under ms.jit)

import contextlib

import mindspore as ms
from mindspore import ops


def backward(forward, parameters, *inputs):
    """Run `forward`, which returns the loss (and more), and add the loss's gradients to each parameter's .grad."""
    parameters = list(parameters)
    several = []

    def loss_first(*values):
        result = forward(*values)
        several.append(isinstance(result, tuple))
        return result if several[-1] else (result, 0)

    result, grads = ms.value_and_grad(loss_first, None, ms.ParameterTuple(parameters), has_aux=True)(*inputs)
    for parameter, grad in zip(parameters, grads):
        known = getattr(parameter, "grad", None)
        parameter.grad = grad if known is None else known + grad
    return result if several[-1] else result[0]


def apply_gradients(optimizer):
    """optimizer.step(): update with the gradients that have been gathered."""
    grads = [getattr(parameter, "grad", None) for parameter in optimizer.parameters]
    return optimizer(tuple(ops.zeros_like(p) if g is None else g for p, g in zip(optimizer.parameters, grads)))


def clear_gradients(owner):
    """zero_grad() of an optimizer or a network."""
    for parameter in owner.trainable_params() if hasattr(owner, "cells_and_names") and not hasattr(owner, "param_groups") else owner.parameters:
        parameter.grad = None


@contextlib.contextmanager
def statistics_kept(*networks):
    """Run networks in training mode without moving their running statistics."""
    buffers = [p for network in networks for p in network.get_parameters() if not p.requires_grad]
    values = [p.value().copy() for p in buffers]
    try:
        yield
    finally:
        for p, value in zip(buffers, values):
            p.set_data(value)
