"""Activations. Some of MindSpore's have other defaults, some no gradient kernel that is right."""

from ... import Case, rule
from ..._call import Call
from .._void_rows import VOID_ROWS, may_be_single, may_be_void

X = ((3, 4),)
IN_PLACE = "never in place"
for name, target in (
    ("ReLU", "ReLU"),
    ("SiLU", "SiLU"),
    ("Hardsigmoid", "HSigmoid"),
):
    rule(
        f"torch.nn.{name}",
        to=f"mindspore.nn.{target}",
        args="inplace",
        drop="inplace",
        like=f"compat.{name}",
        differs=IN_PLACE,
        cases=[
            Case(f"nn.{name}()", f"nn.{target}()", inputs=("float32[3,40](-7,7)",)),
            Case(f"nn.{name}(inplace=True)", f"nn.{target}()", inputs=("float32[3,4,2](-4,4)",)),
            Case(f"nn.{name}(*[False])", f"ms_compat.{name}(*[False])", shapes=X),
        ],
    )

for name in ("ReLU6", "Hardswish"):
    rule(
        f"torch.nn.{name}",
        to=f"compat.{name}",
        args="inplace",
        drop="inplace",
        like=f"compat.{name}",
        differs=f"MindSpore's has another gradient exactly at the bounds; {IN_PLACE}",
        cases=[
            Case(f"nn.{name}()", f"ms_compat.{name}()", inputs=("float32[3,40](-7,7)",)),
            Case(f"nn.{name}(inplace=True)", f"ms_compat.{name}()", inputs=("float32[3,4,2](-4,4)",)),
            Case(f"nn.{name}(*[False])", f"ms_compat.{name}(*[False])", shapes=X),
        ],
    )
rule(
    "torch.nn.LeakyReLU",
    to="compat.LeakyReLU",
    args="negative_slope inplace",
    drop="inplace",
    like="compat.LeakyReLU",
    params={"negative_slope": "alpha"},
    differs=f"nn.LeakyReLU has a slope of 0.2 unless told, and at 0 a gradient of (1 + slope) / 2; {IN_PLACE}",
    cases=[
        Case("nn.LeakyReLU()", "ms_compat.LeakyReLU()", shapes=X),
        Case("nn.LeakyReLU(0.2, inplace=True)", "ms_compat.LeakyReLU(0.2)", shapes=X),
        Case("nn.LeakyReLU(negative_slope=0.1)", "ms_compat.LeakyReLU(negative_slope=0.1)", shapes=X),
        Case("nn.LeakyReLU(*[0.3])", "ms_compat.LeakyReLU(*[0.3])", shapes=X),
    ],
)


@rule(
    "torch.nn.GELU",
    to="mindspore.nn.GELU",
    args="approximate",
    like="compat.GELU",
    differs="approximate is a bool in MindSpore, and True by default",
    cases=[
        Case("nn.GELU()", "nn.GELU(approximate=False)", shapes=X),
        Case("nn.GELU('none')", "nn.GELU(approximate=False)", shapes=X),
        Case("nn.GELU(approximate='tanh')", "nn.GELU(approximate=True)", shapes=X),
        Case("nn.GELU(*['tanh'])", "ms_compat.GELU(*['tanh'])", shapes=X),
    ],
)
def gelu(call: Call) -> None:
    match call.literal("approximate", "none"):
        case "none":
            _set_only(call, "False")
        case "tanh":
            _set_only(call, "True")
        case _:
            call.use_like()


def _set_only(call: Call, text: str) -> None:
    call.replace(f"{call.name('mindspore.nn.GELU')}(approximate={text})")


@rule(
    "torch.nn.ELU",
    to="mindspore.nn.ELU",
    args="alpha inplace",
    drop="inplace",
    like="compat.ELU",
    differs="alpha other than 1 takes a helper",
    cases=[
        Case("nn.ELU()", "nn.ELU()", shapes=X),
        Case("nn.ELU(inplace=True)", "nn.ELU()", shapes=X),
        Case("nn.ELU(0.5)", "ms_compat.ELU(0.5)", shapes=X),
    ],
)
def elu(call: Call) -> None:
    if call.literal("alpha", 1.0) != 1.0:
        call.use_like()


rule(
    "torch.nn.SELU",
    to="compat.SELU",
    args="inplace",
    like="compat.SELU",
    differs="MindSpore's has a wrong gradient on CPU",
    cases=[
        Case("nn.SELU()", "ms_compat.SELU()", shapes=X),
        Case("nn.SELU(inplace=True)", "ms_compat.SELU(inplace=True)", shapes=X),
    ],
)
rule(
    "torch.nn.Mish",
    to="compat.Mish",
    args="inplace",
    like="compat.Mish",
    differs="MindSpore's gradient is off by 1e-3 on CPU",
    cases=[
        Case("nn.Mish()", "ms_compat.Mish()", inputs=("float32[3,40](-7,7)",)),
        Case("nn.Mish(inplace=True)", "ms_compat.Mish(inplace=True)", shapes=X),
    ],
)
rule(
    "torch.nn.CELU",
    to="compat.CELU",
    args="alpha inplace",
    like="compat.CELU",
    cases=[
        Case("nn.CELU()", "ms_compat.CELU()", shapes=X),
        Case("nn.CELU(alpha=2.0)", "ms_compat.CELU(alpha=2.0)", shapes=X),
    ],
)
rule(
    "torch.nn.PReLU",
    to="mindspore.nn.PReLU",
    args="num_parameters init device dtype",
    rename={"num_parameters": "channel", "init": "w"},
    drop="device",
    only={"dtype": "None"},
    like="compat.PReLU",
    params={"weight": "w"},
    cases=[
        Case("nn.PReLU()", "nn.PReLU()", shapes=((2, 3, 4, 4),)),
        Case("nn.PReLU(num_parameters=3)", "nn.PReLU(channel=3)", shapes=((2, 3, 4, 4),)),
        Case("nn.PReLU(3, init=0.1)", "nn.PReLU(3, w=0.1)", shapes=((2, 3),)),
        Case("nn.PReLU(*[3])", "ms_compat.PReLU(*[3])", shapes=((2, 3, 5),)),
    ],
)
rule(
    "torch.nn.RReLU",
    to="compat.RReLU",
    args="lower upper inplace",
    like="compat.RReLU",
    cases=[
        Case("nn.RReLU()", "ms_compat.RReLU()", shapes=X, random=True),
        Case("nn.RReLU(0.1, 0.3).eval()(x)", "ms_compat.RReLU(0.1, 0.3).set_train(False)(x)", shapes=X),
    ],
)

for name in ("Sigmoid", "Softsign"):
    rule(
        f"torch.nn.{name}",
        to=f"mindspore.nn.{name}",
        like=f"mindspore.nn.{name}",
        cases=[
            Case(f"nn.{name}()", f"nn.{name}()", shapes=X),
            Case(f"nn.{name}()", f"nn.{name}()", inputs=("float32[2,3,4](-3,3)",)),
        ],
    )

rule(
    "torch.nn.LogSigmoid",
    to="compat.LogSigmoid",
    like="compat.LogSigmoid",
    differs="mindspore.nn.LogSigmoid is infinite below -88, and its gradient no number",
    cases=[
        Case("nn.LogSigmoid()", "ms_compat.LogSigmoid()", shapes=X),
        Case("nn.LogSigmoid()", "ms_compat.LogSigmoid()", inputs=("float32[3,40](-120,90)",)),
    ],
)

for name in ("Tanh", "Tanhshrink"):
    rule(
        f"torch.nn.{name}",
        to=f"compat.{name}",
        like=f"compat.{name}",
        differs=f"mindspore.nn.{name} is off by 1e-4 in float32 on CPU, its gradient by 2e-4, and the gradient vanishes beyond 5",
        cases=[
            Case(f"nn.{name}()", f"ms_compat.{name}()", shapes=X),
            Case(f"nn.{name}()", f"ms_compat.{name}()", inputs=("float32[40,50](-9,9)",)),
        ],
    )

WITH_AXIS = {"Softmax": "ms_compat.PlainSoftmax", "LogSoftmax": "nn.LogSoftmax"}
for name in WITH_AXIS:

    @rule(
        f"torch.nn.{name}",
        to=f"mindspore.nn.{name}",
        args="dim",
        rename={"dim": "axis"},
        like=f"compat.{name}",
        differs="without dim, torch guesses from the rank, MindSpore takes the last axis"
        + (f"; {VOID_ROWS}" if name == "Softmax" else ""),
        cases=[
            Case(f"nn.{name}(dim=1)", f"{WITH_AXIS[name]}(axis=1)", shapes=((3, 4, 2),)),
            Case(f"nn.{name}(-1)", f"{WITH_AXIS[name]}(-1)", shapes=((3, 4, 2),)),
            Case(f"nn.{name}()", f"ms_compat.{name}()", shapes=((3, 4, 2),)),
        ],
    )
    def softmax(call: Call) -> None:
        if call.literal("dim") in (None, 0) or (
            call.rule.api == "torch.nn.Softmax" and may_be_void(call)
        ):  # along the batch: or on a tensor without axes, which MindSpore refuses
            call.use_like()
        elif call.rule.api == "torch.nn.Softmax" and may_be_single(call):
            call.use("compat.PlainSoftmax")


rule(
    "torch.nn.Softmin",
    to="compat.Softmin",
    args="dim",
    like="compat.Softmin",
    cases=[
        Case("nn.Softmin(dim=1)", "ms_compat.Softmin(dim=1)", shapes=((3, 4, 2),)),
        Case("nn.Softmin()", "ms_compat.Softmin()", shapes=((3, 4, 2),)),
    ],
)
rule(
    "torch.nn.Softmax2d",
    to="compat.Softmax2d",
    like="compat.Softmax2d",
    cases=[
        Case("nn.Softmax2d()", "ms_compat.Softmax2d()", shapes=((2, 3, 4, 5),)),
        Case("nn.Softmax2d()", "ms_compat.Softmax2d()", shapes=((3, 4, 5),)),
    ],
)
rule(
    "torch.nn.Softplus",
    to="compat.Softplus",
    args="beta threshold",
    like="compat.Softplus",
    cases=[
        Case("nn.Softplus()", "ms_compat.Softplus()", shapes=X),
        Case(
            "nn.Softplus(beta=2, threshold=3)",
            "ms_compat.Softplus(beta=2, threshold=3)",
            inputs=("float32[3,40](-5,5)",),
        ),
    ],
)
rule(
    "torch.nn.Hardtanh",
    to="compat.Hardtanh",
    args="min_val max_val inplace",
    drop="inplace",
    like="compat.Hardtanh",
    differs=f"MindSpore's has another gradient exactly at the bounds; {IN_PLACE}",
    cases=[
        Case("nn.Hardtanh(inplace=True)", "ms_compat.Hardtanh()", inputs=("float32[3,40](-3,3)",)),
        Case("nn.Hardtanh(-2.0, 0.5)", "ms_compat.Hardtanh(-2.0, 0.5)", inputs=("float32[3,40](-3,3)",)),
        Case("nn.Hardtanh(*[-2, 0])", "ms_compat.Hardtanh(*[-2, 0])", inputs=("float32[3,40](-3,3)",)),
    ],
)
rule(
    "torch.nn.Hardshrink",
    to="mindspore.nn.HShrink",
    args="lambd",
    like="mindspore.nn.HShrink",
    cases=[
        Case("nn.Hardshrink()", "nn.HShrink()", shapes=X),
        Case("nn.Hardshrink(lambd=0.2)", "nn.HShrink(lambd=0.2)", shapes=X),
    ],
)
rule(
    "torch.nn.Softshrink",
    to="mindspore.nn.SoftShrink",
    args="lambd",
    like="mindspore.nn.SoftShrink",
    cases=[
        Case("nn.Softshrink()", "nn.SoftShrink()", shapes=X),
        Case("nn.Softshrink(0.2)", "nn.SoftShrink(0.2)", shapes=X),
    ],
)
rule(
    "torch.nn.Threshold",
    to="compat.Threshold",
    args="threshold value inplace",
    like="compat.Threshold",
    cases=[
        Case("nn.Threshold(0.1, 20)", "ms_compat.Threshold(0.1, 20)", shapes=X),
    ],
)
rule(
    "torch.nn.GLU",
    to="mindspore.nn.GLU",
    args="dim",
    rename={"dim": "axis"},
    like="compat.GLU",
    cases=[
        Case("nn.GLU()", "nn.GLU()", shapes=((3, 4),)),
        Case("nn.GLU(dim=1)", "nn.GLU(axis=1)", shapes=((2, 6, 3),)),
        Case("nn.GLU(*[0])", "ms_compat.GLU(*[0])", shapes=((4, 3),)),
    ],
)
