"""Gradients kept on the parameters, as torch keeps them: for loops that accumulate, clip, or have several optimizers."""

import contextlib
import itertools
import types

import mindspore as ms
from mindspore import nn, ops

from .parts import LACKS_GRADIENTS, LEAVES_OUT_PARAMETERS, SHARES_GRADIENTS, WRAPS_OPTIMIZERS


def backward(forward, parameters, *inputs):
    """Run `forward`, which returns the loss (and more), and add the loss's gradients to each parameter's .grad."""
    parameters = list(parameters)
    result, grads = loss_and_gradients(forward, parameters, *inputs)
    add_gradients(parameters, grads)
    return result


def partial_backward(forward, parameters, *inputs):
    """backward() of a loss in which some of the parameters may have no part: their .grad stays as it is."""
    return backward(forward, parameters, *inputs)


def loss_and_gradients(forward, parameters, *inputs):
    """(what `forward` returns, the gradients of its loss by the parameters)."""
    parameters = tuple(parameters)  # a plain one: two networks may have parameters of the same name
    results, used = [], []  # not has_aux, which takes tensors only

    def loss_only():
        results.append(forward(*inputs))
        loss = results[-1][0] if isinstance(results[-1], tuple) else results[-1]
        if LEAVES_OUT_PARAMETERS:
            used[:] = reached(loss, parameters)
        return loss

    # Given as arguments, a list that `forward` appends to would be copied, and a tensor could not be written to.
    loss, grads = ms.value_and_grad(loss_only, None, parameters)()
    if LEAVES_OUT_PARAMETERS:
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
        if not LEAVES_OUT_PARAMETERS or grad is not None:
            if SHARES_GRADIENTS:
                grad = grad * getattr(parameter, "gradient_share", 1)  # of a batch that counts together with others
            parameter.grad = grad if known is None else known + grad


def with_gradients(loss, parameters, grads):
    """A loss that another function differentiates, together with its gradients; see take_gradients."""
    if loss.size != 1:
        raise ValueError(f"a loss is a single number, and this one has the shape {loss.shape}")
    loss.brought = (parameters, grads)
    return loss


def take_gradients(loss, create_graph=False):
    """loss.backward() of a loss that brings its gradients: adds them to each parameter's .grad."""
    if create_graph:
        raise NotImplementedError("these gradients keep no graph: MindSpore takes second derivatives of functions")
    add_gradients(*brought_by(loss))


def carried(loss, compute):
    """What a function makes of such a loss, which brings the gradients of that; a loss that is only evaluated brings none."""
    if not hasattr(loss, "brought"):
        return compute(loss)
    value, grads = carried_gradients(loss, compute)
    return with_gradients(value, brought_by(loss)[0], grads)


def carried_gradients(loss, compute):
    """(what `compute` makes of the loss, the loss's gradients times the derivative of that)."""
    value, rate = ms.value_and_grad(compute)(loss)
    return value, tuple(None if grad is None else grad * rate for grad in brought_by(loss)[1])


def brought_by(loss):
    if not hasattr(loss, "brought"):
        raise RuntimeError("this loss comes without gradients: where it is computed, take them by ms.value_and_grad")
    return loss.brought


def apply_gradients(optimizer):
    """optimizer.step(): update with the gradients that have been gathered."""
    if SHARES_GRADIENTS and hasattr(optimizer, "apply_if_due"):
        return optimizer.apply_if_due()
    if WRAPS_OPTIMIZERS and not hasattr(optimizer, "parameters"):
        return optimizer.step()
    grads = gathered(optimizer)
    return optimizer(grads) if LACKS_GRADIENTS or grads[0] is not None else None


def gathered(optimizer):
    """What backward() has added up for the optimizer's parameters; None where nothing has."""
    return tuple(getattr(parameter, "grad", None) for parameter in optimizer.parameters)


def closure_with_gradients(closure, optimizer):
    """step(closure) wants the loss and its gradients; torch's closures leave the gradients on the parameters.

    So does the step() of an optimizer that the project defines itself: it calls the closure for the loss alone.
    """
    owner = next(kind for kind in type(optimizer).__mro__ if "step" in vars(kind))
    if closure is None or "takes_gradients" not in vars(owner):
        return closure

    def evaluate():
        return closure(), gathered(optimizer)

    return evaluate


def clear_gradients(owner):
    """zero_grad() of an optimizer or a network."""
    if SHARES_GRADIENTS and hasattr(owner, "clear_if_due"):
        return owner.clear_if_due()
    if WRAPS_OPTIMIZERS and not (hasattr(owner, "parameters") or hasattr(owner, "trainable_params")):
        return owner.zero_grad()
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
    return list(dict.fromkeys(found))  # a network may come twice, and has one gradient


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


def gradients(forward, positions, inputs, weights=None, again=False):
    """torch.autograd.grad: of forward(*inputs), weighted, by the inputs at the positions; an input may be a list of tensors.
    They are constants, unless they are differentiated again."""
    is_plain = not any(isinstance(inputs[position], (list, tuple)) for position in positions)
    if again and is_plain and is_recorded() and not takes_gradients(forward):
        return compiled_gradients(forward, positions, inputs, weights)
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

    with indices_as_tuples():
        found = ms.grad(weighted, tuple(range(len(parts))))(*parts)
    found = found if isinstance(found, tuple) else (found,)
    return found if again else tuple(ops.stop_gradient(each) for each in found)


def is_recorded():
    """Whether a gradient is being taken around this call: the result of an operation knows then what it was computed from."""
    probe = ms.Parameter(ms.Tensor(1.0, ms.float32), name="probe")
    return getattr(probe * 1.0, "_grad_node", None) is not None


COMPILED = {}


def compiled_once(function, made_for, make):
    """make(), compiled, kept for the function, what it reads, and whatever else it was made for.

    A graph goes on with the memory that parameters had: after set_data() or load_state_dict() it is compiled anew.
    """
    held = tuple(held_by(function))
    key, memory = (*identity(function, held), made_for), memory_of(held)
    if key not in COMPILED or COMPILED[key][2] != memory:
        COMPILED[key] = ms.jit(make()), held, memory  # what is held keeps its id
    return COMPILED[key][0]


def memory_of(held):
    """Where the values of all parameters are."""
    flat = [part for each in held for part in (each if isinstance(each, (list, tuple)) else [each])]
    flat += [part for each in flat if not isinstance(each, nn.Cell) for part in getattr(each, "__dict__", {}).values()]
    found = [each for part in flat if isinstance(part, nn.Cell) for each in part.get_parameters()]
    return tuple(each.data_ptr() for each in (*found, *flat) if isinstance(each, ms.Parameter))


def identity(function, held):
    """The same for a lambda that is made anew, as long as it reads the same things."""
    code = getattr(function, "__code__", type(function))
    return code, *((id(each), getattr(each, "training", None)) for each in held)


def held_by(function, seen=()):
    """What a function reads besides its arguments, and the functions that it calls read; a graph takes it as it is now."""
    if not hasattr(function, "__code__"):
        return [function]
    closure = [each.cell_contents for each in function.__closure__ or ()]
    globals_read = [function.__globals__[name] for name in function.__code__.co_names if name in function.__globals__]
    found = [each for each in (*closure, *globals_read) if not isinstance(each, types.ModuleType)]
    for each in [each for each in found if isinstance(each, types.FunctionType) and each not in seen]:
        found += held_by(each, (*seen, function))
    return found


def takes_gradients(function):
    """Whether it, or a function that it calls, asks for gradients itself: such a one is not compiled."""
    functions = [each for each in (function, *held_by(function)) if isinstance(each, types.FunctionType)]
    return any("gradients" in name for each in functions for name in each.__code__.co_names)


def compiled_gradients(forward, positions, inputs, weights=None):
    """gradients() that are differentiated again: MindSpore 2.10 follows a reshape or a sum twice in a graph only."""

    def weighted(*values):
        return ops.sum(forward(*values)) if weights is None else ops.sum(forward(*values[:-1]) * values[-1])

    run = compiled_once(forward, (positions, weights is None), lambda: ms.grad(weighted, positions))
    found = run(*inputs) if weights is None else run(*inputs, weights)
    return found if isinstance(found, tuple) else (found,)


@contextlib.contextmanager
def indices_as_tuples():
    """MindSpore 2.10 refuses x[0] in a gradient that is taken inside of another one; it takes x[(0,)]."""
    plain = ms.Tensor.__getitem__

    def by_tuple(tensor, index):
        return plain(tensor, (index,) if type(index) is int else index)

    ms.Tensor.__getitem__ = by_tuple
    try:
        yield
    finally:
        ms.Tensor.__getitem__ = plain


def parameter_gradients(forward, parameters, weights=None, again=False):
    """torch.autograd.grad of forward() by parameters."""
    with indices_as_tuples():
        found = ms.grad(lambda: weighted_sum(forward(), weights), None, tuple(parameters))()
    return found if again else tuple(ops.stop_gradient(each) for each in found)


def weighted_sum(output, weights):
    """What torch.autograd.grad differentiates: the output itself, or its product with grad_outputs."""
    return output if weights is None else ops.sum(output * weights)
