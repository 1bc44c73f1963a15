"""Methods that overwrite a tensor: here, the value that it gets. What becomes of it is the pass in_place's business."""

import ast

from ... import Case, rule
from ..._call import Call
from ..nn._initializer import HOME, bound_on_both_sides, filled, is_looked_up, is_path, is_path_or_number

PLAIN_LAYERS = frozenset(
    f"torch.nn.{name}" for name in "Linear Conv2d Conv3d ConvTranspose2d ConvTranspose3d Embedding".split()
)


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


def _parameter(call: Call) -> str:
    """`self.fc.weight` of `self.fc.weight.data.normal_()`, where the layer is known to hold it in torch's shape; otherwise ''."""
    node = call.subject
    node = node.value if isinstance(node, ast.Attribute) and node.attr == "data" else node
    is_alone = isinstance(call.reading.source.parents.get(call.node), ast.Expr) and not call.has("generator")
    if not isinstance(node, ast.Attribute) or node.attr not in ("weight", "bias") or not is_path(node) or not is_alone:
        return ""
    kind = call.reading.type(node.value)
    layer = call.reading.symbols.torch_base(kind.qual) or kind.qual
    is_known = kind.kind == "instance" and layer in PLAIN_LAYERS
    target = call.of(node)
    return target if is_known and not is_looked_up(target) else ""


@rule(
    "torch.Tensor.normal_",
    to="compat.normal_like",
    args="self mean std generator",
    drop="generator",
    cases=[
        Case(
            "x.clone().normal_(0, 0.02)",
            "ms_compat.normal_like(ops.deepcopy(x), 0, 0.02)",
            shapes=((40, 30),),
            random=True,
        ),
        Case("x.clone().normal_()", "ms_compat.normal_like(ops.deepcopy(x))", shapes=((40, 30),), random=True),
    ],
)
def normal(call: Call) -> None:
    if target := _parameter(call):
        given = [f"sigma={call.text('std', '1.0')}", *([f"mean={call.text('mean')}"] if call.has("mean") else [])]
        call.replace(filled(call, f"{call.name(f'{HOME}.Normal')}({', '.join(given)})", target))


@rule(
    "torch.Tensor.uniform_",
    to="compat.uniform_like",
    args="self from to generator",
    rename={"to": "high"},
    drop="generator",
    cases=[
        Case(
            "x.clone().uniform_(-1, 1)",
            "ms_compat.uniform_like(ops.deepcopy(x), -1, 1)",
            shapes=((40, 30),),
            random=True,
        ),
        Case("x.clone().uniform_()", "ms_compat.uniform_like(ops.deepcopy(x))", shapes=((40, 30),), random=True),
    ],
)
def uniform(call: Call) -> None:
    if target := _parameter(call):
        if (bound := bound_on_both_sides(call, "from", "to")) is not None:
            call.replace(filled(call, bound, target))
        elif call.literal("from", 0) == 0 and (not call.has("to") or is_path_or_number(call.given["to"])):
            numbers = f"{call.name('mindspore.ops.rand')}({target}.shape)"
            call.replace(f"{numbers} * {call.text('to')}" if call.has("to") else numbers)


for _name, _args, _call in (
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
