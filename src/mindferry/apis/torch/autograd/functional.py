"""torch.func, torch.vmap and torch.autograd.functional: derivatives of functions, which is what MindSpore differentiates."""

from ... import Case, rule

CUBE = "lambda v: torch.sum(v ** 3)"
CUBED = "lambda v: ops.sum(v ** 3)"
WAVES = "lambda v: torch.sin(v) * y"
WAVED = "lambda v: ops.sin(v) * y"
for _api, _args in (("torch.func.grad", "func argnums has_aux"), ("torch.func.grad_and_value", "func argnums has_aux")):
    _to = f"func_{_api.rpartition('.')[2]}"
    rule(
        _api,
        to=f"compat.{_to}",
        args=_args,
        like=f"compat.{_to}",
        cases=[
            Case(
                f"{_api}({CUBE})(x)",
                f"ms_compat.{_to}(\n        {CUBED}\n    )(x)",
                shapes=((2, 3),),
                runs=False,
                why="tests/apis runs it",
            ),
        ],
    )
for _name, _after in (("jacrev", "func_jacobian"), ("jacfwd", "func_jacobian"), ("hessian", "func_hessian")):
    rule(
        f"torch.func.{_name}",
        to=f"compat.{_after}",
        args="func argnums",
        like=f"compat.{_after}",
        cases=[
            Case(
                f"torch.func.{_name}({CUBE})(x)",
                f"ms_compat.{_after}(\n        {CUBED}\n    )(x)",
                shapes=((2, 3),),
                runs=False,
                why="tests/train/test_function_derivatives.py runs it",
            ),
        ],
    )
for _name, _after in (("jacobian", "jacobian"), ("hessian", "hessian")):
    rule(
        f"torch.autograd.functional.{_name}",
        to=f"compat.autograd_{_after}",
        args="func inputs create_graph strict vectorize",
        drop="create_graph strict vectorize",
        like=f"compat.autograd_{_after}",
        cases=[
            Case(
                f"torch.autograd.functional.{_name}({CUBE}, x)",
                f"ms_compat.autograd_{_after}(\n        {CUBED}\n    , x)",
                shapes=((2, 3),),
                runs=False,
                why="tests/train/test_function_derivatives.py runs it",
            ),
        ],
    )
for _name, _args in (("vjp", "func inputs v create_graph strict"), ("jvp", "func inputs v create_graph strict")):
    rule(
        f"torch.autograd.functional.{_name}",
        to=f"compat.autograd_{_name}",
        args=_args,
        drop="create_graph strict",
        like=f"compat.autograd_{_name}",
        cases=[
            Case(
                f"torch.autograd.functional.{_name}({WAVES}, x, y)",
                f"ms_compat.autograd_{_name}(\n        {WAVED}\n    , x, y)",
                shapes=((2, 3), (2, 3)),
                runs=False,
                why="tests/train/test_function_derivatives.py runs it",
            ),
        ],
    )
rule(
    "torch.func.vjp",
    to="compat.func_vjp",
    args="func",
    like="compat.func_vjp",
    cases=[
        Case(
            f"torch.func.vjp({WAVES}, x)[1](y)",
            f"ms_compat.func_vjp(\n        {WAVED}\n    , x)[1](y)",
            shapes=((2, 3), (2, 3)),
            gradient=False,
        ),
    ],
)
rule(
    "torch.func.jvp",
    to="compat.func_jvp",
    args="func primals tangents",
    like="compat.func_jvp",
    cases=[
        Case(
            f"torch.func.jvp({WAVES}, (x,), (y,))",
            f"ms_compat.func_jvp(\n        {WAVED}\n    , (x,), (y,))",
            shapes=((2, 3), (2, 3)),
            runs=False,
            why="tests/train/test_function_derivatives.py runs it",
        ),
    ],
)
for _api in ("torch.vmap", "torch.func.vmap"):
    rule(
        _api,
        to="compat.vmap",
        args="func in_dims out_dims randomness",
        drop="randomness",
        like="compat.vmap",
        differs="one call after another, so that every function may be mapped",
        cases=[
            Case(
                f"{_api}(lambda a, b: torch.sum(a * b))(x, y)",
                "ms_compat.vmap(lambda a, b: ops.sum(a * b))(x, y)",
                shapes=((4, 3), (4, 3)),
            ),
            Case(
                f"{_api}(torch.dot, in_dims=(0, None))(x, y)",
                "ms_compat.vmap(ms_compat.dot, in_dims=(0, None))(x, y)",
                shapes=((4, 3), (3,)),
            ),
        ],
    )
for _name in ("functional_call", "stack_module_state"):
    rule(
        f"torch.func.{_name}",
        missing="a Cell can't be called with other parameters than its own",
        strategy="equivalent",
        advice="load the parameters into a copy of the network, or use mindspore.value_and_grad with weights",
    )
