"""torch.func and torch.autograd.functional: derivatives of functions of tensors, and mapping them over a dimension."""

import mindspore as ms
from mindspore import ops

from .gradients import compiled_once, held_by, identity, is_recorded

AROUND = []  # what is being differentiated by a function of this module


def derivative(func, argnums):
    """ms.grad of the sum of func(*args) * cotangent, by cotangent and args; compiled where it is differentiated again, as MindSpore
    2.10 follows a reshape or a sum twice in a graph only."""
    is_again = is_recorded()
    function = getattr(func, "in_graph", func) if is_again else func

    def weighted(cotangent, *args):
        return ops.sum(function(*args) * cotangent)

    places = tuple(each + 1 for each in argnums) if isinstance(argnums, tuple) else argnums + 1
    if is_again:  # a graph that was compiled for one gradient around it gives zeros to another
        return compiled_once(func, (argnums, tuple(AROUND)), lambda: ms.grad(weighted, places))
    return lambda *given: inside(func, argnums, ms.grad(weighted, places), given)


def inside(func, argnums, run, given):
    """run(*given), which differentiates func."""
    AROUND.append((identity(func, held_by(func)), argnums))
    try:
        return run(*given)
    finally:
        AROUND.pop()


def func_grad(func, argnums=0, has_aux=False):
    """torch.func.grad."""

    def run(*args):
        found = func_grad_and_value(func, argnums, has_aux)(*args)
        return (found[0], found[1][1]) if has_aux else found[0]

    if not has_aux:
        run.in_graph = ms.grad(getattr(func, "in_graph", func), argnums)
    return run


def func_grad_and_value(func, argnums=0, has_aux=False):
    """torch.func.grad_and_value."""

    def run(*args):
        results = []

        def value_only(*given):
            results.append(func(*given))
            return results[-1][0] if has_aux else results[-1]

        if is_recorded():
            value = func(*args)
            loss = (lambda *given: func(*given)[0]) if has_aux else func
            one = ops.ones_like(value[0] if has_aux else value)
            return derivative(loss, argnums)(one, *args), value
        value, grads = inside(func, argnums, ms.value_and_grad(value_only, argnums), args)
        return grads, (value, results[-1][1]) if has_aux else value

    return run


def func_jacobian(func, argnums=0):
    """torch.func.jacrev, jacfwd: the outputs' dimensions, then the input's."""
    if isinstance(argnums, tuple):
        return lambda *args: tuple(func_jacobian(func, each)(*args) for each in argnums)

    def run(*args):
        output = func(*args)
        pull_back = derivative(func, argnums)
        places = ops.eye(output.size, output.size, output.dtype).reshape((output.size, *output.shape))
        rows = [pull_back(place, *args) for place in ops.unbind(places)]
        return ops.stack(rows).reshape((*output.shape, *args[argnums].shape))

    return run


def func_hessian(func, argnums=0):
    """torch.func.hessian."""
    return func_jacobian(func_grad(func, argnums), argnums)


def func_vjp(func, *primals):
    """torch.func.vjp: the output, and a function from its cotangent to the inputs'."""

    def pull_back(cotangent):
        found = derivative(func, tuple(range(len(primals))))(cotangent, *primals)
        return found if isinstance(found, tuple) else (found,)

    return func(*primals), pull_back


def func_jvp(func, primals, tangents):
    """torch.func.jvp, by differentiating the pull-back once more."""
    primals, tangents = tuple(primals), tuple(tangents)
    output = func(*primals)

    def pulled(cotangent):
        grads = func_vjp(func, *primals)[1](cotangent)
        return sum(ops.sum(grad * tangent) for grad, tangent in zip(grads, tangents))

    return output, ms.grad(pulled)(ops.zeros_like(output))


def as_inputs(inputs):
    return inputs if isinstance(inputs, tuple) else (inputs,)


def autograd_jacobian(func, inputs):
    """torch.autograd.functional.jacobian."""
    found = tuple(func_jacobian(func, place)(*as_inputs(inputs)) for place in range(len(as_inputs(inputs))))
    return found if isinstance(inputs, tuple) else found[0]


def autograd_hessian(func, inputs):
    """torch.autograd.functional.hessian."""
    given = as_inputs(inputs)
    found = tuple(
        tuple(func_jacobian(func_grad(func, row), column)(*given) for column in range(len(given)))
        for row in range(len(given))
    )
    return found if isinstance(inputs, tuple) else found[0][0]


def autograd_vjp(func, inputs, v=None):
    """torch.autograd.functional.vjp."""
    output, pull_back = func_vjp(func, *as_inputs(inputs))
    found = pull_back(ops.ones_like(output) if v is None else v)
    return output, found if isinstance(inputs, tuple) else found[0]


def autograd_jvp(func, inputs, v=None):
    """torch.autograd.functional.jvp."""
    tangents = [ops.ones_like(each) for each in as_inputs(inputs)] if v is None else as_inputs(v)
    return func_jvp(func, as_inputs(inputs), tangents)


def vmap(func, in_dims=0, out_dims=0):
    """torch.vmap, one call after another: every function may be mapped."""

    def run(*args, **kwargs):
        dims = in_dims if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args)
        count = next(arg.shape[dim] for arg, dim in zip(args, dims) if dim is not None)
        slices = [
            [arg if dim is None else ops.narrow(arg, dim, place, 1).squeeze(dim) for arg, dim in zip(args, dims)]
            for place in range(count)
        ]
        results = [func(*each, **kwargs) for each in slices]
        if isinstance(results[0], tuple):
            outs = out_dims if isinstance(out_dims, (tuple, list)) else (out_dims,) * len(results[0])
            return tuple(ops.stack(column, out) for column, out in zip(zip(*results), outs))
        return ops.stack(results, out_dims)

    return run


class unprofiled:
    """torch.profiler.profile without a profiler: the block runs, nothing is timed."""

    def __init__(self, *args, **kwargs):
        self.step_num = 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def start(self):
        pass

    stop = start

    def step(self):
        self.step_num += 1

    def key_averages(self, *args, **kwargs):
        return self

    def table(self, *args, **kwargs):
        return "not profiled: use mindspore.profiler.profile"

    def events(self):
        return []

    def export_chrome_trace(self, path):
        pass

    export_stacks = export_memory_timeline = export_chrome_trace
