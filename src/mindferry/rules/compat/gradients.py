"""Gradients kept on the parameters, as torch keeps them: for loops that accumulate, clip, or have several optimizers."""


import contextlib

import mindspore as ms


def backward(forward, parameters, *inputs):
    """Run `forward`, which returns the loss (and more), and add the loss's gradients to each parameter's .grad."""
    parameters = list(parameters)
    several = []

    def loss_first(*values):
        result = forward(*values)
        several.append(isinstance(result, tuple))
        return result if several[-1] else (result, result)

    # A plain tuple: two networks may have parameters of the same name, which a ParameterTuple refuses.
    result, grads = ms.value_and_grad(loss_first, None, tuple(parameters), has_aux=True)(*inputs)
    for parameter, grad in zip(parameters, grads):
        known = getattr(parameter, "grad", None)
        parameter.grad = grad if known is None else known + grad
    return result if several[-1] else result[0]


def apply_gradients(optimizer):
    """optimizer.step(): update with the gradients that have been gathered."""
    return optimizer(gathered(optimizer))


def gathered(optimizer):
    """What backward() has added up for the optimizer's parameters; None where nothing has."""
    return tuple(getattr(parameter, "grad", None) for parameter in optimizer.parameters)


def closure_with_gradients(closure, optimizer):
    """step(closure) wants the loss and its gradients; torch's closures leave the gradients on the parameters."""

    def evaluate():
        return closure(), gathered(optimizer)

    return evaluate


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
