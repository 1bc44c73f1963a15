"""Max and average pooling. torch's stride is the kernel unless given; MindSpore's is 1, and it pads only with pad_mode='pad'."""

import ast

from ... import Case, rule
from ..._call import Call

MAX = "kernel_size stride padding dilation return_indices ceil_mode"
AVERAGE = "kernel_size stride padding ceil_mode count_include_pad divisor_override"
DIFFERS = "stride defaults to 1 in MindSpore, and padding needs pad_mode='pad'"
USUAL = {
    "padding": 0,
    "dilation": 1,
    "return_indices": False,
    "ceil_mode": False,
    "count_include_pad": True,
    "divisor_override": None,
}
SIZES = {1: "11", 2: "8,11", 3: "6,7,8"}


def _pool(call: Call) -> None:
    kernel = call.given.get("kernel_size")
    is_list = any(
        call.kind(name).kind == "list" for name in ("kernel_size", "stride", "padding")
    )  # MindSpore takes tuples only
    if is_list or not isinstance(kernel, ast.Constant | ast.Name | ast.Tuple | ast.Attribute):
        call.use_like()  # or the kernel would have to be written twice
        return
    if call.literal("stride") is None:
        call.set(stride=call.text("kernel_size"))
    for name, usual in USUAL.items():
        if call.has(name):
            if call.literal(name) == usual:
                call.set(**{name: None})
            else:
                call.set(pad_mode="'pad'")


for rank in (1, 2, 3):
    x = (f"float32[2,3,{SIZES[rank]}]",)
    rule(
        f"torch.nn.MaxPool{rank}d",
        to=f"mindspore.nn.MaxPool{rank}d",
        args=MAX,
        positional=2,
        like=f"compat.MaxPool{rank}d",
        differs=DIFFERS,
        cases=[
            Case(f"nn.MaxPool{rank}d(2)", f"nn.MaxPool{rank}d(2, stride=2)", inputs=x),
            Case(
                f"nn.MaxPool{rank}d(kernel_size=3, stride=2, padding=1)",
                f"nn.MaxPool{rank}d(kernel_size=3, stride=2, padding=1, pad_mode='pad')",
                inputs=x,
            ),
            Case(
                f"nn.MaxPool{rank}d(3, 2, 1, ceil_mode=True)",
                f"nn.MaxPool{rank}d(3, 2, padding=1, ceil_mode=True, pad_mode='pad')",
                inputs=x,
            ),
            Case(f"nn.MaxPool{rank}d(2, None, 0, 1, False, False)", f"nn.MaxPool{rank}d(2, 2)", inputs=x),
            Case(
                f"nn.MaxPool{rank}d(3, 2, return_indices=True)",
                f"nn.MaxPool{rank}d(3, 2, return_indices=True, pad_mode='pad')",
                inputs=x,
            ),
            Case(
                f"nn.MaxPool{rank}d({[3] * rank}, {[2] * rank}, {[1] * rank})",
                f"ms_compat.MaxPool{rank}d({[3] * rank}, {[2] * rank}, {[1] * rank})",
                inputs=x,
            ),
            Case(
                f"nn.MaxPool{rank}d(1 + 1, dilation=2)",
                f"ms_compat.MaxPool{rank}d(1 + 1, dilation=2)",
                inputs=(f"float32[3,{SIZES[rank]}]",),
            ),
        ],
    )(_pool)
    divisor = ", divisor_override=3" if rank > 1 else ""
    rule(
        f"torch.nn.AvgPool{rank}d",
        to=f"mindspore.nn.AvgPool{rank}d",
        args=AVERAGE,
        positional=2,
        like=f"compat.AvgPool{rank}d",
        differs=DIFFERS,
        cases=[
            Case(f"nn.AvgPool{rank}d(2)", f"nn.AvgPool{rank}d(2, stride=2)", inputs=x),
            Case(
                f"nn.AvgPool{rank}d(3, 1, padding=1)", f"nn.AvgPool{rank}d(3, 1, padding=1, pad_mode='pad')", inputs=x
            ),
            Case(
                f"nn.AvgPool{rank}d(3, stride=2, padding=1, count_include_pad=False)",
                f"nn.AvgPool{rank}d(3, stride=2, padding=1, count_include_pad=False, pad_mode='pad')",
                inputs=x,
            ),
            Case(
                f"nn.AvgPool{rank}d(2, 2, 0, True, False)",
                f"nn.AvgPool{rank}d(2, 2, ceil_mode=True, count_include_pad=False, pad_mode='pad')",
                inputs=x,
            ),
            Case(
                f"nn.AvgPool{rank}d(1 + 1{divisor})",
                f"ms_compat.AvgPool{rank}d(1 + 1{divisor})",
                inputs=(f"float32[3,{SIZES[rank]}]",),
            ),
        ],
    )(_pool)
