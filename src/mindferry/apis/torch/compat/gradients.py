"""Gradients kept on the parameters, as torch keeps them: for loops that accumulate, clip, or have several optimizers."""

import contextlib
import itertools

import mindspore as ms
from mindspore import ops

from .parts import SHARES_GRADIENTS


def backward(forward, parameters, *inputs):
    """Run `forward`, which returns the loss (and more), and add the loss's gradients to each parameter's .grad."""
    parameters = list(parameters)
    result, grads = loss_and_gradients(forward, parameters, *inputs)
    add_gradients(parameters, grads)
    return result


def loss_and_gradients(forward, parameters, *inputs):
    """(what `forward` returns, the gradients of its loss by the parameters)."""
    parameters = tuple(parameters)  # a plain one: two networks may have parameters of the same name
    results, used = [], []  # not has_aux, which takes tensors only

    def loss_only(*values):
        results.append(forward(*values))
        loss = results[-1][0] if isinstance(results[-1], tuple) else results[-1]
        used[:] = reached(loss, parameters)
        return loss

    if not all(isinstance(each, ms.Tensor) for each in inputs):  # a list that `forward` appends to would be copied
        loss, grads = ms.value_and_grad(lambda: loss_only(*inputs), None, parameters)()
    else:
        loss, grads = ms.value_and_grad(loss_only, None, parameters)(*inputs)
    grads = tuple(grad if is_used else None for grad, is_used in zip(grads, used))
    return (loss, *results[-1][1:]) if isinstance(results[-1], tuple) else loss, grads


def value_and_gradients(forward, parameters):
    """ms.value_and_grad, but None for a parameter that had no part in the loss: torch's optimizers leave such a one alone."""
    return lambda *inputs: loss_and_gradients(forward, parameters, *inputs)


def reached(loss, parameters):
    """For each parameter, whether the loss was computed from it: it is found when the loss's graph is walked."""
    last = getattr(loss, "_grad_node", None)
    if last is None:  # compiled as a whole, or no graph that can be asked
        return [True] * len(parameters)
    nodes = graph_nodes([last])
    return [p._grad_node is None or p._grad_node._unique_id() in nodes for p in parameters]


def graph_nodes(last):
    """The nodes that a graph consists of, by their numbers; `last`: those that it ends with."""
    found, waiting = {}, list(last)
    while waiting:
        node = waiting.pop()
        if node is not None and node._unique_id() not in found:
            found[node._unique_id()] = node
            waiting.extend(following for following, _ in node.next_functions)
    return found


def clip_gradients(grads, limit):
    """ops.clip_by_global_norm of the gradients that there are."""
    known = [grad for grad in grads if grad is not None]
    clipped = iter(ops.clip_by_global_norm(known, limit) if known else [])
    return tuple(None if grad is None else next(clipped) for grad in grads)


def clip_values(grads, limit):
    """ops.clip_by_value of the gradients that there are."""
    return tuple(None if grad is None else ops.clamp(grad, -limit, limit) for grad in grads)


def clip_with_norm(grads, limit):
    """torch.nn.utils.clip_grad_norm_: (the clipped gradients, the norm that they had)."""
    known = [ops.sum(grad * grad) for grad in grads if grad is not None]
    norm = ops.sqrt(ops.stack(known).sum()) if known else ms.Tensor(0.0, ms.float32)
    scale = ops.minimum(limit / (norm + 1e-6), ms.Tensor(1.0, norm.dtype))
    return tuple(None if grad is None else grad * scale.astype(grad.dtype) for grad in grads), norm


def add_gradients(parameters, grads):
    """Add to what each parameter keeps in .grad; one that is listed twice, by itself and in an optimizer, counts once."""
    for parameter, grad in {id(each[0]): each for each in zip(parameters, grads)}.values():
        known = getattr(parameter, "grad", None)
        if grad is not None:
            if SHARES_GRADIENTS:
                grad = grad * getattr(parameter, "gradient_share", 1)  # of a batch that counts together with others
            parameter.grad = grad if known is None else known + grad


def apply_gradients(optimizer):
    """optimizer.step(): update with the gradients that have been gathered."""
    if SHARES_GRADIENTS and hasattr(optimizer, "apply_if_due"):
        return optimizer.apply_if_due()
    return optimizer(gathered(optimizer))


def gathered(optimizer):
    """What backward() has added up for the optimizer's parameters; None where nothing has."""
    return tuple(getattr(parameter, "grad", None) for parameter in optimizer.parameters)


def closure_with_gradients(closure, optimizer):
    """step(closure) wants the loss and its gradients; torch's closures leave the gradients on the parameters.

    So does the step() of an optimizer that the project defines itself: it calls the closure for the loss alone.
    """
    owner = next(kind for kind in type(optimizer).__mro__ if "step" in vars(kind))
    if "takes_gradients" not in vars(owner):
        return closure

    def evaluate():
        return closure(), gathered(optimizer)

    return evaluate


def clear_gradients(owner):
    """zero_grad() of an optimizer or a network."""
    if SHARES_GRADIENTS and hasattr(owner, "clear_if_due"):
        return owner.clear_if_due()
    is_optimizer = hasattr(owner, "param_groups") or not hasattr(owner, "trainable_params")
    for parameter in owner.parameters if is_optimizer else owner.trainable_params():
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


def parameters_of(*networks):
    """What backward() gives gradients to, of networks that are known only when they run."""
    found = []
    for network in networks:
        own = leaves_in(
            network if hasattr(network, "trainable_params") else list(getattr(network, "__dict__", {}).values())
        )
        if not own and not hasattr(network, "trainable_params"):
            raise TypeError(f"no parameters are known of {network!r}: name the network that this loss trains")
        found += own
    return found


_numbers = itertools.count(1)


def leaf(tensor):
    """A tensor that requires a gradient, as a parameter with a name of its own."""
    if not isinstance(tensor, ms.Parameter):
        return ms.Parameter(tensor.copy(), name=f"leaf{next(_numbers)}")
    tensor.requires_grad = True
    return tensor


def hold_leaf(network, name, tensor):
    """A tensor that requires a gradient, beside the network's own parameters: its parameters() don't have it."""
    network.__dict__[name] = leaf(tensor)


def leaves_in(value):
    """The parameters in a list or a dictionary, however deep, and those of the networks in it."""
    if isinstance(value, ms.Parameter):
        return [value]
    if hasattr(value, "trainable_params"):
        return list(value.trainable_params())
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [leaf for part in parts for leaf in leaves_in(part)]


def along(output, gradient=None):
    """The number whose gradient is what `output.backward(gradient)` gives; of several outputs, the sum of theirs."""
    if isinstance(output, (list, tuple)):
        return sum(along(*pair) for pair in zip(output, [None] * len(output) if gradient is None else gradient))
    return ops.sum(output if gradient is None else output * ops.stop_gradient(gradient))


def gradients(forward, positions, inputs, weights=None):
    """torch.autograd.grad: of forward(*inputs), weighted, by the inputs at the positions; an input may be a list of tensors."""
    parts = [
        value
        for position in positions
        for value in (inputs[position] if isinstance(inputs[position], (list, tuple)) else [inputs[position]])
    ]

    def weighted(*parts):
        left, values = list(parts), list(inputs)
        for position in positions:
            size = len(values[position]) if isinstance(values[position], (list, tuple)) else 0
            values[position] = [left.pop(0) for _ in range(size)] if size else left.pop(0)
        return weighted_sum(forward(*values), weights)

    found = ms.grad(weighted, tuple(range(len(parts))))(*parts)
    return found if isinstance(found, tuple) else (found,)


COMPILED = {}


def compiled_gradients(forward, positions, inputs, weights=None):
    """gradients() that are differentiated again: MindSpore 2.10 follows a reshape or a sum twice in a graph only."""
    held = tuple(each.cell_contents for each in forward.__closure__ or ())
    key = (
        forward.__code__,
        positions,
        weights is None,
        *((id(each), getattr(each, "training", None)) for each in held),
    )
    if key not in COMPILED:

        def weighted(*values):
            return ops.sum(forward(*values)) if weights is None else ops.sum(forward(*values[:-1]) * values[-1])

        COMPILED[key] = ms.jit(ms.grad(weighted, positions)), held  # what is held keeps its id
    found = COMPILED[key][0](*inputs) if weights is None else COMPILED[key][0](*inputs, weights)
    return found if isinstance(found, tuple) else (found,)


def parameter_gradients(forward, parameters, weights=None):
    """torch.autograd.grad of forward() by parameters."""
    return ms.grad(lambda: weighted_sum(forward(), weights), None, tuple(parameters))()


def weighted_sum(output, weights):
    """What torch.autograd.grad differentiates: the output itself, or its product with grad_outputs."""
    return output if weights is None else ops.sum(output * weights)
