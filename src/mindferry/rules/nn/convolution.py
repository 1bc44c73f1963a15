"""Convolutions. torch adds a bias and pads nothing unless told otherwise; mindspore.nn does the reverse."""

from .. import Case, rule
from .._call import Call


@rule(
    "torch.nn.Conv2d",
    to="mindspore.nn.Conv2d",
    args="in_channels out_channels kernel_size stride padding dilation groups bias padding_mode device dtype",
    rename={"groups": "group", "bias": "has_bias"},
    defaults={"has_bias": "True", "pad_mode": "'pad'"},
    drop="device",
    only={"padding_mode": "'zeros'", "dtype": "None"},
    positional=4,
    like="compat.Conv2d",
    params={"weight": "weight", "bias": "bias"},
    differs="has_bias and pad_mode have other defaults; padding is one number or (top, bottom, left, right)",
    cases=[
        Case("nn.Conv2d(3, 8, 3)", "nn.Conv2d(3, 8, 3, has_bias=True, pad_mode='pad')", shapes=((2, 3, 9, 9),)),
        Case(
            "nn.Conv2d(3, 8, 3, padding=(1, 2), bias=False)",
            "nn.Conv2d(3, 8, 3, padding=(1, 1, 2, 2), has_bias=False, pad_mode='pad')",
            shapes=((2, 3, 9, 9),),
        ),
        Case(
            "nn.Conv2d(4, 8, (3, 5), 2, 1, groups=2)",
            "nn.Conv2d(4, 8, (3, 5), 2, padding=1, group=2, has_bias=True, pad_mode='pad')",
            shapes=((2, 4, 9, 11),),
        ),
        Case(
            "nn.Conv2d(3, 8, 4, padding='same', dilation=2)",
            "nn.Conv2d(3, 8, 4, dilation=2, pad_mode='same', has_bias=True)",
            shapes=((2, 3, 9, 9),),
        ),
        Case("nn.Conv2d(3, 8, 3, padding=1, padding_mode='reflect')", "ms_compat.Conv2d(3, 8, 3, padding=1, padding_mode='reflect')",
             shapes=((2, 3, 9, 9),)),
    ],
)  # fmt: skip
def conv2d(call: Call) -> None:
    padding = call.literal("padding", 0)
    if isinstance(padding, str):
        call.set(padding=None, pad_mode=repr(padding))
    elif isinstance(padding, tuple) and len(padding) == 2:
        height, width = padding
        call.set(padding=repr((height, height, width, width)))  # top, bottom, left, right
    elif padding is ... and call.kind("padding").kind != "int":
        call.use_like()
