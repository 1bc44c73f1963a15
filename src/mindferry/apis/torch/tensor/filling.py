"""Methods that overwrite a tensor: here, the value that it gets. What becomes of it is the pass in_place's business."""

from ... import Case, rule
from ..._call import Call


@rule(
    "torch.Tensor.zero_",
    cases=[Case("x * 2 + x.clone().zero_()", "x * 2 + ops.zeros_like(ops.deepcopy(x))", shapes=((2, 3),))],
)
def zero(call: Call) -> None:
    call.replace(f"{call.name('mindspore.ops.zeros_like')}({call.of(call.subject)})")


rule(
    "torch.Tensor.fill_",
    to="mindspore.ops.full_like",
    args="self value",
    rename={"value": "fill_value"},
    cases=[
        Case("x * x.clone().fill_(2.5)", "x * ops.full_like(ops.deepcopy(x), 2.5)", shapes=((2, 3),)),
        Case("x + x.clone().fill_(7)", "x + ops.full_like(ops.deepcopy(x), 7)", inputs=("int64[2,3]",)),
    ],
)
rule(
    "torch.Tensor.fill_diagonal_",
    to="compat.fill_diagonal",
    args="self fill_value wrap",
    cases=[
        Case("(x * 2).fill_diagonal_(5.0)", "ms_compat.fill_diagonal((x * 2), 5.0)", shapes=((4, 4),)),
        Case("x.clone().fill_diagonal_(0)", "ms_compat.fill_diagonal(ops.deepcopy(x), 0)", shapes=((5, 2),)),
        Case(
            "x.clone().fill_diagonal_(1, wrap=True)",
            "ms_compat.fill_diagonal(ops.deepcopy(x), 1, wrap=True)",
            shapes=((7, 3),),
        ),
        Case("x.clone().fill_diagonal_(7)", "ms_compat.fill_diagonal(ops.deepcopy(x), 7)", inputs=("int64[3,3,3]",)),
    ],
)
rule(
    "torch.Tensor.copy_",
    to="compat.copied",
    args="self src non_blocking",
    drop="non_blocking",
    cases=[
        Case("x.clone().copy_(y) * x", "ms_compat.copied(ops.deepcopy(x), y) * x", inputs=("float32[2,3]", "int64[3]")),
    ],
)


@rule("torch.Tensor.detach_", cases=[Case("(x * 2).detach_() * x", "ops.stop_gradient(x * 2) * x", shapes=((2, 3),))])
def detach(call: Call) -> None:
    call.replace(f"{call.name('mindspore.ops.stop_gradient')}({call.of(call.subject)})")


for _name, _args, _call in (
    ("normal", "mean std generator", "(0, 0.02)"),
    ("uniform", "from to generator", "(-1, 1)"),
    ("random", "from to generator", "(0, 10)"),
    ("bernoulli", "p generator", "(0.3)"),
    ("exponential", "lambd generator", "(1.5)"),
    ("log_normal", "mean std generator", "(0, 0.5)"),
):
    rule(
        f"torch.Tensor.{_name}_",
        to=f"compat.{_name}_like",
        args=f"self {_args}",
        rename={"to": "high"},
        drop="generator",
        cases=[
            Case(
                f"x.clone().{_name}_{_call}",
                f"ms_compat.{_name}_like(ops.deepcopy(x), {_call[1:-1]})",
                shapes=((40, 30),),
                random=True,
            ),
            Case(f"x.clone().{_name}_()", f"ms_compat.{_name}_like(ops.deepcopy(x))", shapes=((40, 30),), random=True),
        ],
    )
rule(
    "torch.Tensor.cauchy_",
    to="compat.cauchy_like",
    args="self median sigma generator",
    drop="generator",
    cases=[
        Case(
            "x.clone().cauchy_(1, sigma=0.5)",
            "ms_compat.cauchy_like(ops.deepcopy(x), 1, sigma=0.5)",
            shapes=((40, 30),),
            random=True,
        ),
    ],
)
rule(
    "torch.Tensor.geometric_",
    to="compat.geometric_like",
    args="self p generator",
    drop="generator",
    cases=[
        Case(
            "x.clone().geometric_(0.3)",
            "ms_compat.geometric_like(ops.deepcopy(x), 0.3)",
            shapes=((40, 30),),
            random=True,
        ),
    ],
)


@rule(
    "torch.Tensor.masked_fill",
    to=".masked_fill",
    args="mask value",
    cases=[
        Case("x.masked_fill(x > 0, -1e9)", "x.masked_fill(x > 0, -1e9)", shapes=((2, 3),)),
        Case(
            "x.masked_fill(mask=x == 0, value=float('-inf'))",
            "x.masked_fill(mask=x == 0, value=float('-inf'))",
            shapes=((2, 3),),
        ),
        Case("x.masked_fill(y, 7)", "x.masked_fill(y, 7)", inputs=("int64[2,3]", "bool[3]")),
        Case("x.masked_fill(y > 0, z)", "ms_compat.masked_fill(x, y > 0, z)", shapes=((2, 3), (2, 3), ())),
    ],
)
def masked_fill(call: Call) -> None:
    """A number may stay; a tensor needs its type and shape looked after."""
    if call.kind("value").kind not in ("int", "float", "bool"):
        call.use("compat.masked_fill")
