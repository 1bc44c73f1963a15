"""Adaptive, power-average, fractional and inverse pooling."""

from ... import Case, rule
from ..._call import Call

rule(
    "torch.nn.AdaptiveAvgPool2d",
    to="mindspore.nn.AdaptiveAvgPool2d",
    args="output_size",
    like="compat.AdaptiveAvgPool2d",
    cases=[
        Case("nn.AdaptiveAvgPool2d((1, 1))", "nn.AdaptiveAvgPool2d((1, 1))", shapes=((2, 3, 5, 7),)),
        Case("nn.AdaptiveAvgPool2d(output_size=3)", "nn.AdaptiveAvgPool2d(output_size=3)", shapes=((2, 3, 5, 7),)),
        Case("nn.AdaptiveAvgPool2d((None, 2))", "nn.AdaptiveAvgPool2d((None, 2))", shapes=((3, 5, 7),)),
    ],
)


@rule(
    "torch.nn.AdaptiveAvgPool1d",
    to="mindspore.nn.AdaptiveAvgPool1d",
    args="output_size",
    like="compat.AdaptiveAvgPool1d",
    differs="MindSpore's wants a length that output_size divides, so other sizes than 1 take a helper",
    cases=[
        Case("nn.AdaptiveAvgPool1d(1)", "nn.AdaptiveAvgPool1d(1)", shapes=((2, 3, 7),)),
        Case("nn.AdaptiveAvgPool1d(3)", "ms_compat.AdaptiveAvgPool1d(3)", shapes=((2, 3, 7),)),
        Case("nn.AdaptiveAvgPool1d(output_size=4)", "ms_compat.AdaptiveAvgPool1d(output_size=4)", shapes=((3, 7),)),
    ],
)
def adaptive_average1d(call: Call) -> None:
    if call.literal("output_size") != 1:
        call.use_like()


rule(
    "torch.nn.AdaptiveAvgPool3d",
    to="compat.AdaptiveAvgPool3d",
    args="output_size",
    like="compat.AdaptiveAvgPool3d",
    cases=[
        Case("nn.AdaptiveAvgPool3d(1)", "ms_compat.AdaptiveAvgPool3d(1)", shapes=((2, 3, 5, 6, 7),)),
        Case("nn.AdaptiveAvgPool3d((2, 3, None))", "ms_compat.AdaptiveAvgPool3d((2, 3, None))", shapes=((3, 5, 6, 7),)),
    ],
)

for rank, shape in ((1, (2, 3, 7)), (2, (2, 3, 5, 7)), (3, (2, 3, 5, 6, 7))):
    name = f"AdaptiveMaxPool{rank}d"
    rule(
        f"torch.nn.{name}",
        to=f"compat.{name}",
        args="output_size return_indices",
        like=f"compat.{name}",
        cases=[
            Case(f"nn.{name}(1)", f"ms_compat.{name}(1)", shapes=(shape,)),
            Case(f"nn.{name}(output_size=3)", f"ms_compat.{name}(output_size=3)", shapes=(shape[1:],)),
            Case(f"nn.{name}(3, return_indices=True)", f"ms_compat.{name}(3, return_indices=True)", shapes=(shape,)),
        ],
    )
    name = f"LPPool{rank}d"
    rule(
        f"torch.nn.{name}",
        to=f"compat.{name}",
        args="norm_type kernel_size stride ceil_mode",
        like=f"compat.{name}",
        cases=[
            Case(f"nn.{name}(2, 2)", f"ms_compat.{name}(2, 2)", shapes=(shape,)),
            Case(
                f"nn.{name}(1.5, 3, stride=2, ceil_mode=True)",
                f"ms_compat.{name}(1.5, 3, stride=2, ceil_mode=True)",
                inputs=(f"float32[{','.join(map(str, shape[1:]))}](0.1,2)",),
            ),
        ],
    )
    name = f"MaxUnpool{rank}d"
    rule(
        f"torch.nn.{name}",
        to=f"compat.{name}",
        args="kernel_size stride padding",
        like=f"compat.{name}",
        cases=[
            Case(
                f"nn.{name}(2)(*nn.MaxPool{rank}d(2, return_indices=True)(x))",
                f"ms_compat.{name}(2)(*nn.MaxPool{rank}d(2, return_indices=True, stride=2, pad_mode='pad')(x))",
                shapes=((2, 3, *[4] * rank),),
            ),
        ],
    )

for rank, shape in ((2, (2, 3, 7, 9)), (3, (2, 3, 7, 8, 9))):
    name = f"FractionalMaxPool{rank}d"
    rule(
        f"torch.nn.{name}",
        to=f"compat.{name}",
        args="kernel_size output_size output_ratio return_indices _random_samples",
        like=f"compat.{name}",
        differs="where the windows start is drawn from MindSpore's random numbers",
        cases=[
            Case(f"nn.{name}(2, output_size=3)", f"ms_compat.{name}(2, output_size=3)", shapes=(shape,), random=True),
            Case(
                f"nn.{name}(2, output_ratio=0.5, return_indices=True)",
                f"ms_compat.{name}(2, output_ratio=0.5, return_indices=True)",
                shapes=(shape,),
                random=True,
            ),
            Case(
                f"nn.{name}(2, output_size=3, _random_samples=y)(x)",
                f"ms_compat.{name}(2, output_size=3, _random_samples=y)(x)",
                inputs=(f"float32[{','.join(map(str, shape))}]", f"float32[2,3,{rank}](0,1)"),
                gradient=False,
            ),
        ],
    )
