"""torch.pow: where the exponent is zero, MindSpore's gradient at 0 is nan, and torch's is 0."""

from __future__ import annotations

from ... import Case, rule
from ..._call import Call
from ...quirks import applies


@rule(
    "torch.pow",
    to="mindspore.ops.pow",
    args="input exponent",
    like="compat.power",
    differs="an exponent that may be zero goes through a helper: MindSpore's gradient of x ** 0 at 0 is nan on CPU",
    cases=[
        Case("torch.pow(x, 3)", "ops.pow(x, 3)", shapes=((3, 4),)),
        Case("torch.pow(2.0, x)", "ops.pow(2.0, x)", shapes=((3, 4),)),
        Case(
            "torch.pow(x, y)",
            "ms_compat.power(x, y)",
            inputs=("float32[3,4](0.1,2)", "float32[3,4]"),
        ),
        Case(
            "torch.pow(x.clamp(0, 9), y.clamp(0, 9))",
            "ms_compat.power(ops.clamp(x, 0, 9), ops.clamp(y, 0, 9))",
            shapes=((6, 7), (6, 7)),
        ),
        Case(
            "x * x.clamp(0, 9) ** len(x.shape[2:])",
            "x * ms_compat.power(ops.clamp(x, 0, 9), len(x.shape[2:]))",
            shapes=((3, 4),),
        ),
    ],
)
def power(call: Call) -> None:
    number = call.literal("exponent")
    is_other = isinstance(number, int | float) and number != 0
    is_tensor = "input" not in call.given or call.kind("input").kind not in ("int", "float")
    if not is_other and is_tensor and applies("gradient of a zeroth power", call.rule.target):
        call.use_like()
