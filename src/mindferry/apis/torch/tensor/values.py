"""Copies, and what autograd hangs on a tensor in torch. In MindSpore a function is differentiated, not a tensor."""

import ast

from ... import Case, Form, rule
from ..._call import Call


@rule(
    "torch.Tensor.clone",
    args="memory_format",
    cases=[
        Case("x.clone() * x", "ops.deepcopy(x) * x", shapes=((2, 3),)),
        Case("(x + 1).clone() * x", "(x + 1).copy() * x", shapes=((2, 3),)),
    ],
)
def clone(call: Call) -> None:
    """No gradient flows through `Parameter.copy()`, so what may be a parameter is copied by the operator."""
    if isinstance(call.subject, ast.Name | ast.Attribute):
        call.replace(f"{call.name('mindspore.ops.deepcopy')}({call.of(call.subject)})")
    else:
        call.replace(f"{call.target}.copy()")


@rule(
    "torch.Tensor.detach",
    cases=[
        Case("x.detach() * x", "ops.stop_gradient(x) * x", shapes=((2, 3),)),
        Case("x.detach().clone() * x", "ops.stop_gradient(x).copy() * x", shapes=((2, 3),)),
    ],
)
def detach(call: Call) -> None:
    call.replace(f"{call.name('mindspore.ops.stop_gradient')}({call.of(call.subject)})")


@rule(
    "torch.Tensor.detach",
    form=Form.UNKNOWN,
    cases=[Case("vars()['x'].detach() * x", "ops.stop_gradient(vars()['x']) * x", shapes=((2, 3),))],
)
def any_detach(call: Call) -> None:
    if call.edits.source.mentions("torch") and not call.node.args and not call.node.keywords:
        detach(call)
    else:
        call.keep()


rule(
    "torch.Tensor.data",
    form=Form.ATTRIBUTE,
    to="mindspore.ops.stop_gradient",
    cases=[Case("x.data * x", "ops.stop_gradient(x) * x", shapes=((2, 3),))],
)
rule(
    "torch.Tensor.device",
    form=Form.ATTRIBUTE,
    to=".device",
    differs="a string such as 'CPU' or 'Ascend:0'",
    cases=[
        Case("x.device", "x.device", shapes=((2, 3),), runs=False, why="device names differ"),
    ],
)
rule(
    "torch.Tensor.dtype",
    form=Form.ATTRIBUTE,
    to=".dtype",
    cases=[Case("y.to(x.dtype) * x", "y.to(x.dtype) * x", inputs=("float64[2]", "float32[2]"))],
)
rule(
    "torch.Tensor.nbytes",
    form=Form.ATTRIBUTE,
    to=".nbytes",
    cases=[Case("x.nbytes * x", "x.nbytes * x", shapes=((2, 3),))],
)
rule(
    "torch.Tensor.itemsize",
    form=Form.ATTRIBUTE,
    to=".itemsize",
    cases=[Case("x.itemsize * x", "x.itemsize * x", shapes=((2, 3),))],
)
rule(
    "torch.Tensor.real",
    form=Form.ATTRIBUTE,
    to="mindspore.ops.real",
    cases=[Case("x.real * 2", "ops.real(x) * 2", inputs=("complex64[3]",), gradient=False)],
)
rule(
    "torch.Tensor.imag",
    form=Form.ATTRIBUTE,
    to="mindspore.ops.imag",
    cases=[Case("x.imag * 2", "ops.imag(x) * 2", inputs=("complex64[3]",), gradient=False)],
)

ON_ACCELERATOR = "({x}.device != 'CPU')"
for _name in ("is_cuda", "is_xpu", "is_mps"):
    rule(
        f"torch.Tensor.{_name}",
        form=Form.ATTRIBUTE,
        to=ON_ACCELERATOR,
        differs="true on any accelerator",
        cases=[
            Case(f"x.{_name}", "(x.device != 'CPU')", shapes=((2, 3),), gradient=False),
        ],
    )
rule(
    "torch.Tensor.is_cpu",
    form=Form.ATTRIBUTE,
    to="({x}.device == 'CPU')",
    cases=[Case("x.is_cpu", "(x.device == 'CPU')", shapes=((2, 3),), gradient=False)],
)
rule(
    "torch.Tensor.is_sparse",
    form=Form.ATTRIBUTE,
    to="compat.is_sparse",
    cases=[
        Case("x * (not x.is_sparse)", "x * (not ms_compat.is_sparse(x))", shapes=((2, 3),)),
    ],
)
rule(
    "torch.Tensor.lu",
    to="compat.lu",
    args="pivot get_infos",
    cases=[
        Case("x.lu()[0]", "ms_compat.lu(x)[0]", shapes=((4, 4),)),
    ],
)
rule(
    "torch.Tensor.is_quantized",
    form=Form.ATTRIBUTE,
    to="False",
    differs="MindSpore has no quantized tensors",
    cases=[
        Case("x * (not x.is_quantized)", "x * (not False)", shapes=((2, 3),)),
    ],
)
rule(
    "torch.Tensor.layout",
    form=Form.ATTRIBUTE,
    missing="MindSpore's sparse tensors are classes of their own",
    strategy="not needed",
    advice="remove the test",
)
rule(
    "torch.Tensor.requires_grad",
    form=Form.ATTRIBUTE,
    to="getattr({x}, 'requires_grad', False)",
    differs="only parameters have it",
    cases=[
        Case("nn.Linear(2, 3).weight.requires_grad", "getattr(nn.Dense(2, 3).weight, 'requires_grad', False)"),
    ],
)

FUNCTIONS = "MindSpore differentiates functions: tensors carry no graph"
ADVICE = "take the gradient from ms.value_and_grad(forward_fn, None, parameters)"
rule(
    "torch.Tensor.grad",
    form=Form.ATTRIBUTE,
    to="getattr({x}, 'grad', None)",
    differs="parameters keep gradients, in training steps that need them",
    cases=[
        Case(
            "nn.Linear(2, 3).weight.grad is None",
            "getattr(nn.Dense(2, 3).weight, 'grad', None) is None",
            gradient=False,
        ),
    ],
)
for _name in ("grad_fn", "is_leaf"):
    rule(f"torch.Tensor.{_name}", form=Form.ATTRIBUTE, missing=FUNCTIONS, strategy="equivalent", advice=ADVICE)
rule("torch.Tensor.retain_grad", missing=FUNCTIONS, strategy="equivalent", advice=ADVICE)
rule(
    "torch.Tensor.register_hook",
    to=".register_hook",
    args="hook",
    like=".register_hook",
    platforms="CPU Ascend",
    cases=[
        Case(
            "x.register_hook(print)",
            "x.register_hook(print)",
            shapes=((2, 3),),
            runs=False,
            why="a hook on a leaf has no value to compare",
        ),
    ],
)


@rule(
    "torch.Tensor.requires_grad_",
    args="requires_grad",
    differs="a function's arguments are what it is differentiated by",
    cases=[
        Case("x.requires_grad_() * 2", "x * 2", shapes=((2, 3),)),
        Case("x.requires_grad_(False) * 2", "ops.stop_gradient(x) * 2", inputs=("float32[2,3]",), gradient=False),
        Case(
            "nn.Parameter(x).requires_grad_(False) * y",
            "ms_compat.tensor_requires_grad(ms.Parameter(x.copy()), False) * y",
            shapes=((2, 3), (2, 3)),
            gradient=False,
        ),
        Case(
            "x.requires_grad_(bool(y.sum() > 0)) * 2",
            "ms_compat.tensor_requires_grad(x, bool(ops.sum(y) > 0)) * 2",
            shapes=((2, 3), (2, 3)),
            gradient=False,
        ),
    ],
)
def requires_grad(call: Call) -> None:
    """A parameter stays a parameter; which one it is, and by a flag that is known at run time only, a helper tells."""
    flag = call.literal("requires_grad", True)
    is_made = isinstance(call.subject, ast.Call) and call.reading.type(call.subject.func).qual.endswith("Parameter")
    if flag is True and not is_made:
        call.replace(call.target)
    elif flag is False and not is_made and not isinstance(call.subject, ast.Attribute):
        detach(call)
    else:
        wanted = call.text("requires_grad") if call.has("requires_grad") else "True"
        call.replace(f"{call.name('compat.tensor_requires_grad')}({call.of(call.subject)}, {wanted})")


@rule(
    "torch.Tensor.get_device",
    cases=[
        Case(
            "x * x.get_device()",
            "x * (-1 if x.device == 'CPU' else 0)",
            shapes=((2, 3),),
        )
    ],
)
def get_device(call: Call) -> None:
    call.replace(f"-1 if {call.target}.device == 'CPU' else 0")


def _resize(name: str, helper: str, given: str) -> None:
    @rule(
        f"torch.Tensor.{name}",
        to=f"compat.{helper}",
        differs="a new tensor; what torch leaves uninitialised is zero",
        cases=[
            Case(
                f"x.detach().clone().{name}({given})",
                f"ms_compat.{helper}(ops.stop_gradient(x).copy(), {given})",
                shapes=((2, 6),),
                gradient=False,
            )
        ],
    )
    def resize(call: Call) -> None:
        """What others hold, a parameter say, keeps its shape."""
        if isinstance(call.receiver, ast.Name | ast.Call):
            arguments = (call.receiver, *call.node.args, *(each.value for each in call.node.keywords))
            call.replace(f"{call.name(f'compat.{helper}')}({', '.join(map(call.of, arguments))})")
        else:
            call.leave("a tensor's shape is fixed", "build a new tensor with ops instead")


_resize("resize_", "resized", "3, 4")
_resize("resize_as_", "resized_as", "x[:, :4]")

for _name, _why in (
    ("storage", "a tensor's memory is MindSpore's own"),
    ("untyped_storage", "a tensor's memory is MindSpore's own"),
    ("set_", "a tensor can't be given other memory"),
    ("record_stream", "streams keep track of tensors themselves"),
    ("apply_", "Python functions don't run on tensors element by element"),
    ("map_", "Python functions don't run on tensors element by element"),
):
    rule(f"torch.Tensor.{_name}", missing=_why, strategy="wrapper", advice="build a new tensor with ops instead")
for _name in ("sparse_mask",):
    rule(
        f"torch.Tensor.{_name}",
        missing="MindSpore's sparse tensors are classes of their own, with few operators",
        strategy="wrapper",
        advice="keep it dense, or build ms.COOTensor(indices, values, shape)",
    )
for _name in ("int_repr", "q_scale", "q_zero_point", "dequantize"):
    rule(
        f"torch.Tensor.{_name}",
        missing="MindSpore has no quantized tensors",
        strategy="wrapper",
        advice="keep the scale and zero point beside the tensor",
    )
