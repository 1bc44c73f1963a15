"""Gradients along the graph that MindSpore records while the code runs, for losses that no single function computes. PyNative mode."""

import contextlib
import gc
import weakref

import mindspore as ms
from mindspore import ops
from mindspore._c_expression import run_backward
from mindspore.common.api import _pynative_executor

from .gradients import add_gradients, graph_nodes

_LEAVES = weakref.WeakValueDictionary()  # number of a graph's leaf -> the parameter


def record_graphs():
    """From now on everything that is computed keeps its graph, as in torch; no_grad keeps that from happening."""
    _pynative_executor.set_grad_flag(True)


class switch_recording(contextlib.ContextDecorator):
    """torch.set_grad_enabled: at once, and until the block ends if it opens one."""

    def __init__(self, mode=True):
        self.mode, self.was_on = bool(mode), _pynative_executor.enable_grad()
        _pynative_executor.set_enable_grad(self.mode)

    def __enter__(self):
        _pynative_executor.set_enable_grad(self.mode)

    def __exit__(self, *error):
        _pynative_executor.set_enable_grad(self.was_on)
        return False


def backward_along_graph(loss, gradient=None, retain_graph=False, create_graph=False, inputs=None):
    """loss.backward(): add the gradients of a loss, or of several, to the .grad of each parameter that it was computed from."""
    if create_graph:
        raise NotImplementedError("create_graph: a second derivative; differentiate a function, ms.grad(f), instead")
    losses = list(loss) if isinstance(loss, (list, tuple)) else [loss]
    if any(each._grad_node is None for each in losses):
        raise RuntimeError(
            "this loss has no graph: it was computed from no parameter, under no_grad, or after a value_and_grad "
            "elsewhere, which ends the recording; call record_graphs() after that"
        )
    if inputs is None:
        parameters = graph_parameters(losses)
    else:
        parameters = [inputs] if isinstance(inputs, ms.Tensor) else list(inputs)
    _, grads = recorded_gradients(loss, parameters, gradient, retain_graph)
    add_gradients(parameters, grads)


def gradients_along_graph(outputs, inputs, grad_outputs=None, retain_graph=False, create_graph=False):
    """torch.autograd.grad: the gradients of what was computed, by tensors that it was computed from."""
    if create_graph:
        raise NotImplementedError("create_graph: a second derivative; differentiate a function, ms.grad(f), instead")
    return recorded_gradients(
        outputs, [inputs] if isinstance(inputs, ms.Tensor) else inputs, grad_outputs, retain_graph
    )[1]


def recorded_gradients(loss, parameters, gradient=None, retain_graph=False):
    """(the loss, its gradients by the parameters); `gradient`: what each loss is weighted by."""
    losses = tuple(loss) if isinstance(loss, (list, tuple)) else (loss,)
    weights = tuple(gradient) if isinstance(gradient, (list, tuple)) else (gradient,) * len(losses)
    weights = tuple(ops.ones_like(each) if given is None else given for each, given in zip(losses, weights))
    grads = run_backward(losses, weights, bool(retain_graph), False, tuple(parameters), True, accumulate_grad=False)
    return losses[0], tuple(grads)


def graph_parameters(losses):
    """The parameters that losses were computed from: they are the ends of the graph."""
    nodes = graph_nodes(each._grad_node for each in losses)
    ends = {number for number, node in nodes.items() if not node.next_functions}
    if not ends <= set(_LEAVES):  # some that were not met before
        for each in gc.get_objects():
            if issubclass(type(each), ms.Parameter) and each.requires_grad and each._grad_node is not None:
                _LEAVES[each._grad_node._unique_id()] = each
    return [_LEAVES[number] for number in sorted(ends) if number in _LEAVES]
