"""torch.autograd.Function, and wrappers that have nothing to do here."""

import contextlib
import functools

import mindspore as ms
from mindspore import nn, ops
from mindspore.common.api import _pynative_executor


class FunctionContext:
    """What forward keeps for backward."""

    def __init__(self, inputs):
        self.saved_tensors = ()
        self.needs_input_grad = tuple(isinstance(each, ms.Tensor) for each in inputs)

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def mark_dirty(self, *tensors):
        pass

    def mark_non_differentiable(self, *tensors):
        pass

    def set_materialize_grads(self, value):
        pass


class FunctionCell(nn.Cell):
    """One call of a Function, with its own gradient. It is given the tensors alone: MindSpore takes lists and tables apart."""

    def __init__(self, function, inputs):
        super().__init__(auto_prefix=False)
        self.function, self.context = function, FunctionContext(inputs)
        object.__setattr__(self, "given", inputs)  # parameters among them are not the cell's own

    def construct(self, *tensors):
        waiting = iter(tensors)
        inputs = tuple(next(waiting) if isinstance(each, ms.Tensor) else each for each in self.given)
        if not hasattr(self.function, "setup_context"):
            return self.function.forward(self.context, *inputs)
        output = self.function.forward(*inputs)
        self.function.setup_context(self.context, inputs, output)
        return output

    def bprop(self, *values):
        tensors, gradient = values[:-2], values[-1]
        gradients = self.function.backward(self.context, *(gradient if isinstance(gradient, tuple) else (gradient,)))
        gradients = gradients if isinstance(gradients, tuple) else (gradients,)
        wanted = [given for given, each in zip(gradients, self.given, strict=False) if isinstance(each, ms.Tensor)]
        return tuple(
            ops.zeros_like(each) if given is None else given for each, given in zip(tensors, wanted, strict=False)
        )


class Function:
    """torch.autograd.Function: static forward(ctx, ...) and backward(ctx, gradient). PyNative mode."""

    @classmethod
    def apply(cls, *inputs):
        return FunctionCell(cls, inputs)(*(each for each in inputs if isinstance(each, ms.Tensor)))


class no_context(contextlib.ContextDecorator):
    """torch.no_grad and its like: MindSpore computes gradients only of what value_and_grad is given."""

    def __init__(self, *arguments, **settings):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


class no_grad(contextlib.ContextDecorator):
    """torch.no_grad as a value, such as one of two contexts: what is computed inside has no gradient. PyNative mode."""

    def __init__(self, mode=True):
        self.is_off, self.was_on = bool(mode), True

    def __enter__(self):
        self.was_on = _pynative_executor.enable_grad()
        if self.is_off:
            _pynative_executor.set_enable_grad(False)

    def __exit__(self, *error):
        _pynative_executor.set_enable_grad(self.was_on)
        return False


def Variable(data, requires_grad=False, volatile=None):
    """torch.autograd.Variable: the tensor itself."""
    return data


def uncompiled(function=None, *arguments, **settings):
    """A wrapper or decorator for torch's compiler: the function itself."""
    return function if function is not None else uncompiled


def assert_true(condition, message=""):
    """torch._assert."""
    assert condition, message


def checkpoint(function, *arguments, **keywords):
    """torch.utils.checkpoint: the same values, without recomputation."""
    return function(*arguments, **keywords)


def checkpoint_sequential(functions, segments, input):
    """torch.utils.checkpoint.checkpoint_sequential: one after the other, without recomputation."""
    for function in functions:
        input = function(input)
    return input


def detached(value):
    """What torch computed without gradients, cut off from them; a parameter stays what it is, as in torch."""
    if isinstance(value, ms.Tensor):
        return value if isinstance(value, ms.Parameter) else ops.stop_gradient(value)
    if isinstance(value, (list, tuple)):
        parts = [detached(each) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return {key: detached(each) for key, each in value.items()} if type(value) is dict else value


def without_gradients(function):
    """torch.no_grad()(function): what it returns is cut off from gradients."""

    @functools.wraps(function)
    def call(*arguments, **keywords):
        return detached(function(*arguments, **keywords))

    return call
