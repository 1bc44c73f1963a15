"""Autograd. MindSpore differentiates functions, so switching gradients off or on has no meaning outside of one."""

import ast

from ... import Case, rule
from ..._call import Call
from ..nn._context import parent_of

OFF = ("torch.no_grad", "torch.autograd.no_grad", "torch.inference_mode")

# With statements, decorators and bare calls go altogether (the pass `gradients_off`); as values the others do nothing.
for _api in (
    *OFF,
    "torch.enable_grad",
    "torch.autograd.enable_grad",
    "torch.set_grad_enabled",
    "torch.autograd.set_grad_enabled",
    "torch.autograd.detect_anomaly",
    "torch.autograd.graph.save_on_cpu",
    "torch.autograd.profiler.record_function",
    "torch.profiler.record_function",
):

    @rule(
        _api,
        like="compat.no_grad" if _api in OFF else "compat.no_context",
        args="mode",
        differs="gradients are computed only of what value_and_grad is given",
        cases=[
            Case(
                f"{_api}()",
                "ms_compat.no_grad()" if _api in OFF else "contextlib.nullcontext()",
                runs=False,
                why="a context alone computes nothing",
            ),
            Case(
                f"{_api}",
                "ms_compat.no_grad" if _api in OFF else "ms_compat.no_context",
                runs=False,
                why="a context alone computes nothing",
            ),
        ],
    )
    def no_context(call: Call) -> None:
        parent, is_off = parent_of(call), call.rule.api in OFF
        if isinstance(parent, ast.Call) and parent.func is call.node:  # torch.no_grad()(function)
            call.replace(call.name("compat.without_gradients" if is_off else "compat.uncompiled"))
        elif is_off and not _is_chosen(call):
            call.use_like()
        else:
            call.replace(f"{call.name('contextlib.nullcontext')}()")


def _is_chosen(call: Call) -> bool:
    """Whether the block that it opens is seen: named by `with` or by a variable of one value. Then what it computes is detached there."""
    parents, top = call.reading.source.parents, parent_of(call)
    while isinstance(top, ast.IfExp):
        top = parents.get(top)
    if not isinstance(top, ast.Assign) or not isinstance(top.targets[0], ast.Name):
        return isinstance(top, ast.withitem | ast.Expr)
    scope: ast.AST | None = top
    while scope is not None and not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
        scope = parents.get(scope)
    name = top.targets[0].id
    return scope is not None and len(call.reading.source.bound_within(name, scope)) == 1


@rule("torch.is_grad_enabled", cases=[Case("torch.is_grad_enabled() * x", "True * x", shapes=((2, 3),))])
def is_grad_enabled(call: Call) -> None:
    call.replace("True")


@rule(
    "torch.is_inference_mode_enabled",
    cases=[Case("(not torch.is_inference_mode_enabled()) * x", "(not False) * x", shapes=((2, 3),))],
)
def is_inference_mode_enabled(call: Call) -> None:
    call.replace("False")


@rule(
    "torch.autograd.Variable",
    to="mindspore.Tensor",
    args="data requires_grad volatile",
    like="compat.Variable",
    cases=[
        Case("torch.autograd.Variable(x, requires_grad=True) * 2", "x * 2", shapes=((2, 3),), gradient=False),
        Case(
            "torch.autograd.Variable(x + 1, volatile=True)",
            "(x + 1)",
            shapes=((2, 3),),
            runs=False,
            why="torch warns of volatile",
        ),
        Case("isinstance(x, torch.autograd.Variable) * x", "isinstance(x, ms.Tensor) * x", shapes=((2, 3),)),
    ],
)
def variable(call: Call) -> None:
    if call.has("data"):
        call.replace(call.text("data"))
    else:
        call.use_like()


rule(
    "torch.autograd.Function",
    to="compat.Function",
    like="compat.Function",
    differs="forward and backward run in PyNative mode only",
    cases=[
        Case(
            "torch.autograd.Function",
            "ms_compat.Function",
            runs=False,
            why="a base class; tests/convert/test_tensor_methods.py runs one",
        ),
    ],
)
for _name in ("torch.autograd.function.once_differentiable", "torch.autograd.function.FunctionCtx"):
    rule(
        _name,
        to="compat.uncompiled",
        like="compat.uncompiled",
        cases=[
            Case(_name, "ms_compat.uncompiled", runs=False, why="marks a function, changes nothing"),
        ],
    )

ADVICE = "write the part to differentiate as a function and call ms.grad(fn, position)(inputs) or ms.value_and_grad"
for _name in (
    "torch.autograd.grad",
    "torch.autograd.backward",
):
    rule(
        _name,
        missing="MindSpore differentiates functions, not the tensors they returned",
        strategy="equivalent",
        advice=ADVICE,
    )
rule(
    "torch.autograd.gradcheck",
    missing="MindSpore has no numerical gradient check",
    strategy="wrapper",
    advice="compare with finite differences, or verify against torch with `mindferry verify`",
)
PROFILING = "times nothing and prints nothing: use mindspore.profiler.profile to measure"
for _name in ("torch.autograd.profiler.profile", "torch.profiler.profile"):

    @rule(
        _name,
        to="compat.unprofiled",
        like="compat.unprofiled",
        differs=PROFILING,
        cases=[
            Case(
                f"{_name}(record_shapes=True)", "ms_compat.unprofiled(record_shapes=True)", runs=False, why="profiling"
            ),
        ],
    )
    def profile(call: Call) -> None:
        call.note = PROFILING


for _name in ("torch.profiler.schedule", "torch.profiler.tensorboard_trace_handler", "torch.profiler.ProfilerActivity"):
    rule(
        _name,
        to=f"mindspore.profiler.{_name.rpartition('.')[2]}",
        like=f"mindspore.profiler.{_name.rpartition('.')[2]}",
        cases=[
            Case(_name, f"ms.profiler.{_name.rpartition('.')[2]}", runs=False, why="profiling"),
        ],
    )


@rule(
    "torch.utils.checkpoint.checkpoint",
    args="function",
    like="compat.checkpoint",
    differs="nothing is recomputed: the same values, more memory",
    cases=[
        Case(
            "torch.utils.checkpoint.checkpoint(lambda a, b: a * b, x, y, use_reentrant=False)",
            "ms_compat.checkpoint(lambda a, b: a * b, x, y)",
            shapes=((2, 3), (2, 3)),
        ),
    ],
)
def checkpoint(call: Call) -> None:
    extra = [f"{key.arg}={call.of(key.value)}" for key in call.node.keywords if key.arg not in SETTINGS]
    arguments = ", ".join([call.of(each) for each in call.node.args] + extra)
    call.replace(f"{call.name('compat.checkpoint')}({arguments})")


SETTINGS = ("use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop")
rule(
    "torch.utils.checkpoint.checkpoint_sequential",
    to="compat.checkpoint_sequential",
    like="compat.checkpoint_sequential",
    args="functions segments input use_reentrant",
    drop="use_reentrant",
    cases=[
        Case(
            "torch.utils.checkpoint.checkpoint_sequential([lambda a: a * 2, lambda a: a + 1], 2, x, use_reentrant=False)",
            "ms_compat.checkpoint_sequential([lambda a: a * 2, lambda a: a + 1], 2, x)",
            shapes=((2, 3),),
        ),
    ],
)
