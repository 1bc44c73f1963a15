"""Transposed convolutions. MindSpore fills output_padding with zeros where torch computes it."""

from ... import Case, rule
from ..._call import Call

ARGS = (
    "in_channels out_channels kernel_size stride padding output_padding groups bias dilation padding_mode device dtype"
)
PARAMS = {"weight": "weight", "bias": "bias", "groups": "group"}


@rule(
    "torch.nn.ConvTranspose2d",
    to="mindspore.nn.Conv2dTranspose",
    args=ARGS,
    rename={"groups": "group", "bias": "has_bias"},
    defaults={"has_bias": "True", "pad_mode": "'pad'"},
    drop="device",
    only={"padding_mode": "'zeros'", "dtype": "None", "output_padding": "0"},
    positional=4,
    like="compat.ConvTranspose2d",
    params=PARAMS,
    differs="output_padding is filled with zeros by MindSpore, so it takes a helper",
    cases=[
        Case(
            "nn.ConvTranspose2d(3, 8, 2, 2)",
            "nn.Conv2dTranspose(3, 8, 2, 2, has_bias=True, pad_mode='pad')",
            shapes=((2, 3, 5, 6),),
        ),
        Case(
            "nn.ConvTranspose2d(4, 8, 4, stride=2, padding=(1, 0), bias=False)",
            "nn.Conv2dTranspose(4, 8, 4, stride=2, padding=(1, 1, 0, 0), has_bias=False, pad_mode='pad')",
            shapes=((2, 4, 5, 6),),
        ),
        Case(
            "nn.ConvTranspose2d(4, 8, (4, 3), (2, 2), (1, 0), 0, 1, False)",
            "nn.Conv2dTranspose(4, 8, (4, 3), (2, 2), padding=(1, 1, 0, 0), group=1, has_bias=False, pad_mode='pad')",
            shapes=((2, 4, 5, 6),),
        ),
        Case(
            "nn.ConvTranspose2d(4, 8, 3, stride=2, padding=1, groups=2, dilation=2)",
            "nn.Conv2dTranspose(4, 8, 3, stride=2, padding=1, group=2, dilation=2, has_bias=True, pad_mode='pad')",
            shapes=((2, 4, 5, 6),),
        ),
        Case(
            "nn.ConvTranspose2d(3, 8, 3, stride=2, padding=1, output_padding=1)",
            "ms_compat.ConvTranspose2d(3, 8, 3, stride=2, padding=1, output_padding=1)",
            shapes=((2, 3, 5, 6),),
        ),
        Case(
            "nn.ConvTranspose2d(4, 8, 3, 3, 1, (2, 1), 2)",
            "ms_compat.ConvTranspose2d(4, 8, 3, 3, 1, (2, 1), 2)",
            shapes=((4, 5, 6),),
        ),
    ],
)
def conv_transpose2d(call: Call) -> None:
    padding = call.literal("padding", 0)
    if call.reading.source.mentions("output_size"):  # may be given when the layer is called
        call.use_like()
    elif isinstance(padding, tuple) and len(padding) == 2:
        call.set(padding=repr((padding[0], padding[0], padding[1], padding[1])))
    elif isinstance(padding, list) or (padding is ... and call.kind("padding").kind != "int"):
        call.use_like()


rule(
    "torch.nn.ConvTranspose1d",
    to="compat.ConvTranspose1d",
    args=ARGS,
    like="compat.ConvTranspose1d",
    params={"weight": "weight", "bias": "bias"},
    differs="the weight is (in, out, 1, width)",
    cases=[
        Case("nn.ConvTranspose1d(3, 8, 4, 2, 1)", "ms_compat.ConvTranspose1d(3, 8, 4, 2, 1)", shapes=((2, 3, 7),)),
        Case(
            "nn.ConvTranspose1d(4, 8, 3, stride=2, output_padding=1, groups=2, bias=False, dilation=2)",
            "ms_compat.ConvTranspose1d(4, 8, 3, stride=2, output_padding=1, groups=2, bias=False, dilation=2)",
            shapes=((4, 7),),
        ),
    ],
)
rule(
    "torch.nn.ConvTranspose3d",
    to="compat.ConvTranspose3d",
    args=ARGS,
    like="compat.ConvTranspose3d",
    params={"weight": "weight", "bias": "bias"},
    cases=[
        Case(
            "nn.ConvTranspose3d(3, 4, 3, 2, 1, 1)",
            "ms_compat.ConvTranspose3d(3, 4, 3, 2, 1, 1)",
            shapes=((2, 3, 3, 4, 5),),
        ),
        Case(
            "nn.ConvTranspose3d(4, 4, (2, 3, 3), groups=2, bias=False, dilation=2)",
            "ms_compat.ConvTranspose3d(4, 4, (2, 3, 3), groups=2, bias=False, dilation=2)",
            shapes=((4, 3, 4, 5),),
        ),
    ],
)
