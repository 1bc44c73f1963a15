"""Parameters and buffers."""

from ... import Case, rule
from ..._call import Call
from ..._own_memory import owned


@rule(
    "torch.nn.Parameter",
    to="mindspore.Parameter",
    args="data requires_grad",
    rename={"data": "default_input"},
    positional=1,
    like="compat.parameter",
    base="compat.ParameterClass",
    cases=[
        Case("nn.Parameter(x) * y", "ms.Parameter(x.copy()) * y", shapes=((2, 3), (2, 3)), gradient=False),
        Case(
            "nn.Parameter(x, False) * y",
            "ms.Parameter(x.copy(), requires_grad=False) * y",
            shapes=((2, 3), (2, 3)),
            gradient=False,
        ),
        Case(
            "nn.Parameter(data=x, requires_grad=False) * y",
            "ms.Parameter(x.copy(), requires_grad=False) * y",
            shapes=((2, 3), (2, 3)),
            gradient=False,
        ),
    ],
)
def parameter(call: Call) -> None:
    if not call.has("data"):
        call.use_like()
    elif (own := owned(call.text("data"))) != call.text("data"):
        call.set(data=own)


rule(
    "torch.nn.Buffer",
    to="compat.buffer",
    args="data persistent",
    like="compat.buffer",
    cases=[
        Case("nn.Buffer(x) * y", "ms_compat.buffer(x) * y", shapes=((2, 3), (2, 3)), gradient=False),
        Case(
            "nn.Buffer(x, persistent=False) * y",
            "ms_compat.buffer(x, persistent=False) * y",
            shapes=((2, 3), (2, 3)),
            gradient=False,
        ),
    ],
)
rule(
    "torch.nn.UninitializedParameter",
    missing="MindSpore's parameters have a shape from the start",
    strategy="equivalent",
    advice="give the parameter its shape",
)
rule(
    "torch.nn.parameter.is_lazy",
    missing="MindSpore's parameters have a shape from the start",
    strategy="not needed",
    advice="use False",
)
