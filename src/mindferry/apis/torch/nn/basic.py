"""Linear layers, Identity, and layers that only move values."""

from ... import Case, rule
from ..._call import Call

SIZES = {"in_features": "in_channels", "out_features": "out_channels"}
rule(
    "torch.nn.Linear",
    to="mindspore.nn.Dense",
    args="in_features out_features bias device dtype",
    rename={**SIZES, "bias": "has_bias"},
    drop="device",
    only={"dtype": "None"},
    positional=2,
    like="compat.Linear",
    params={"weight": "weight", "bias": "bias", **SIZES},
    cases=[
        Case("nn.Linear(4, 6)", "nn.Dense(4, 6)", shapes=((3, 4),)),
        Case(
            "nn.Linear(in_features=4, out_features=6, bias=False)",
            "nn.Dense(in_channels=4, out_channels=6, has_bias=False)",
            shapes=((3, 2, 4),),
        ),
        Case("nn.Linear(4, 6, False)", "nn.Dense(4, 6, has_bias=False)", shapes=((3, 4),)),
        Case("nn.Linear(4, nn.Linear(3, 5).in_features)", "nn.Dense(4, nn.Dense(3, 5).in_channels)", shapes=((4,),)),
        Case("nn.Linear(*[4, 6])", "ms_compat.Linear(*[4, 6])", shapes=((3, 4),)),
    ],
)
rule(
    "torch.nn.NonDynamicallyQuantizableLinear",
    to="compat.Linear",
    args="in_features out_features bias device dtype",
    like="compat.Linear",
    params=SIZES,
    cases=[
        Case(
            "torch.nn.modules.linear.NonDynamicallyQuantizableLinear(4, 6)", "ms_compat.Linear(4, 6)", shapes=((3, 4),)
        ),
    ],
)
rule(
    "torch.nn.Bilinear",
    to="compat.Bilinear",
    args="in1_features in2_features out_features bias device dtype",
    like="compat.Bilinear",
    cases=[
        Case("nn.Bilinear(3, 4, 5)", "ms_compat.Bilinear(3, 4, 5)", shapes=((2, 6, 3), (2, 6, 4))),
        Case("nn.Bilinear(3, 4, 5, bias=False)", "ms_compat.Bilinear(3, 4, 5, bias=False)", shapes=((3,), (4,))),
    ],
)


@rule(
    "torch.nn.Identity",
    to="mindspore.nn.Identity",
    like="compat.Identity",
    differs="MindSpore's takes no arguments",
    cases=[
        Case("nn.Identity()", "nn.Identity()", shapes=((2, 3),)),
        Case("nn.Identity(54, unused=True)", "nn.Identity()", shapes=((2, 3),)),
        Case("nn.Identity(*[1])", "ms_compat.Identity(*[1])", shapes=((2, 3),)),
    ],
)
def identity(call: Call) -> None:
    call.replace(f"{call.name('mindspore.nn.Identity')}()")


rule(
    "torch.nn.Flatten",
    to="mindspore.nn.Flatten",
    args="start_dim end_dim",
    like="mindspore.nn.Flatten",
    cases=[
        Case("nn.Flatten()", "nn.Flatten()", shapes=((2, 3, 4),)),
        Case("nn.Flatten(1)", "nn.Flatten(1)", shapes=((2, 3, 4),)),
        Case("nn.Flatten(start_dim=0, end_dim=-2)", "nn.Flatten(start_dim=0, end_dim=-2)", shapes=((2, 3, 4),)),
    ],
)
rule(
    "torch.nn.Unflatten",
    to="compat.Unflatten",
    args="dim unflattened_size",
    like="compat.Unflatten",
    cases=[
        Case("nn.Unflatten(1, (2, 3))", "ms_compat.Unflatten(1, (2, 3))", shapes=((2, 6, 4),)),
        Case("nn.Unflatten(-1, [2, -1])", "ms_compat.Unflatten(-1, [2, -1])", shapes=((2, 6),)),
    ],
)
rule(
    "torch.nn.PixelShuffle",
    to="mindspore.nn.PixelShuffle",
    args="upscale_factor",
    like="mindspore.nn.PixelShuffle",
    cases=[
        Case("nn.PixelShuffle(2)", "nn.PixelShuffle(2)", shapes=((2, 8, 3, 4),)),
        Case("nn.PixelShuffle(upscale_factor=3)", "nn.PixelShuffle(upscale_factor=3)", shapes=((9, 3, 4),)),
    ],
)
rule(
    "torch.nn.PixelUnshuffle",
    to="mindspore.nn.PixelUnshuffle",
    args="downscale_factor",
    like="mindspore.nn.PixelUnshuffle",
    cases=[
        Case("nn.PixelUnshuffle(2)", "nn.PixelUnshuffle(2)", shapes=((2, 3, 4, 6),)),
    ],
)
rule(
    "torch.nn.ChannelShuffle",
    to="mindspore.nn.ChannelShuffle",
    args="groups",
    like="mindspore.nn.ChannelShuffle",
    cases=[
        Case("nn.ChannelShuffle(2)", "nn.ChannelShuffle(2)", shapes=((2, 6, 3, 4),)),
    ],
)
rule(
    "torch.nn.Unfold",
    to="compat.Unfold",
    args="kernel_size dilation padding stride",
    like="compat.Unfold",
    cases=[
        Case(
            "nn.Unfold(kernel_size=3, padding=1, stride=2)",
            "ms_compat.Unfold(kernel_size=3, padding=1, stride=2)",
            shapes=((2, 3, 7, 8),),
        ),
        Case("nn.Unfold((2, 3), dilation=2)", "ms_compat.Unfold((2, 3), dilation=2)", shapes=((3, 7, 8),)),
    ],
)
rule(
    "torch.nn.Fold",
    to="compat.Fold",
    args="output_size kernel_size dilation padding stride",
    like="compat.Fold",
    cases=[
        Case(
            "nn.Fold((7, 8), kernel_size=3, padding=1, stride=2)",
            "ms_compat.Fold((7, 8), kernel_size=3, padding=1, stride=2)",
            shapes=((2, 27, 16),),
        ),
        Case("nn.Fold((5, 6), (2, 3))", "ms_compat.Fold((5, 6), (2, 3))", shapes=((12, 16),)),
    ],
)
rule(
    "torch.nn.CosineSimilarity",
    to="compat.CosineSimilarity",
    args="dim eps",
    like="compat.CosineSimilarity",
    cases=[
        Case("nn.CosineSimilarity()", "ms_compat.CosineSimilarity()", shapes=((3, 4), (3, 4))),
        Case(
            "nn.CosineSimilarity(dim=0, eps=1e-6)",
            "ms_compat.CosineSimilarity(dim=0, eps=1e-6)",
            shapes=((3, 4), (3, 4)),
        ),
    ],
)
rule(
    "torch.nn.PairwiseDistance",
    to="compat.PairwiseDistance",
    args="p eps keepdim",
    like="compat.PairwiseDistance",
    cases=[
        Case("nn.PairwiseDistance()", "ms_compat.PairwiseDistance()", shapes=((3, 4), (3, 4))),
        Case(
            "nn.PairwiseDistance(p=1, keepdim=True)",
            "ms_compat.PairwiseDistance(p=1, keepdim=True)",
            shapes=((3, 4), (3, 4)),
        ),
    ],
)
rule(
    "torch.nn.Upsample",
    to="compat.Upsample",
    args="size scale_factor mode align_corners recompute_scale_factor",
    like="compat.Upsample",
    differs="nearest with a scale factor, and bicubic, take a helper: MindSpore's need a size and use another kernel",
    cases=[
        Case("nn.Upsample(scale_factor=2)", "ms_compat.Upsample(scale_factor=2)", shapes=((2, 3, 4, 5),)),
        Case(
            "nn.Upsample(scale_factor=2, mode='nearest')",
            "ms_compat.Upsample(scale_factor=2, mode='nearest')",
            shapes=((2, 3, 5),),
        ),
        Case("nn.Upsample(size=(7, 9))", "ms_compat.Upsample(size=(7, 9))", shapes=((2, 3, 4, 5),)),
        Case(
            "nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True)",
            "ms_compat.Upsample(scale_factor=2, mode='bilinear', align_corners=True)",
            shapes=((2, 3, 4, 5),),
        ),
        Case(
            "nn.Upsample(scale_factor=(2, 1.5), mode='bilinear')",
            "ms_compat.Upsample(scale_factor=(2, 1.5), mode='bilinear')",
            shapes=((2, 3, 4, 5),),
        ),
        Case(
            "nn.Upsample(scale_factor=2, mode='bicubic')",
            "ms_compat.Upsample(scale_factor=2, mode='bicubic')",
            shapes=((2, 3, 4, 5),),
        ),
        Case(
            "nn.Upsample(size=9, mode='bicubic', align_corners=True)",
            "ms_compat.Upsample(size=9, mode='bicubic', align_corners=True)",
            shapes=((2, 3, 4, 5),),
        ),
        Case(
            "nn.Upsample(scale_factor=2, mode='linear')",
            "ms_compat.Upsample(scale_factor=2, mode='linear')",
            shapes=((2, 3, 5),),
        ),
        Case(
            "nn.Upsample(size=7, mode='trilinear')",
            "ms_compat.Upsample(size=7, mode='trilinear')",
            shapes=((2, 3, 4, 5, 6),),
        ),
        Case("nn.Upsample(scale_factor=2)", "ms_compat.Upsample(scale_factor=2)", shapes=((2, 3, 2, 3, 4),)),
    ],
)
rule(
    "torch.nn.UpsamplingBilinear2d",
    to="compat.UpsamplingBilinear2d",
    args="size scale_factor",
    like="compat.UpsamplingBilinear2d",
    cases=[
        Case(
            "nn.UpsamplingBilinear2d(scale_factor=2)",
            "ms_compat.UpsamplingBilinear2d(scale_factor=2)",
            shapes=((2, 3, 4, 5),),
        ),
        Case(
            "nn.UpsamplingBilinear2d(size=(6, 7))",
            "ms_compat.UpsamplingBilinear2d(size=(6, 7))",
            shapes=((2, 3, 4, 5),),
        ),
    ],
)
rule(
    "torch.nn.UpsamplingNearest2d",
    to="compat.UpsamplingNearest2d",
    args="size scale_factor",
    like="compat.UpsamplingNearest2d",
    cases=[
        Case(
            "nn.UpsamplingNearest2d(scale_factor=2)",
            "ms_compat.UpsamplingNearest2d(scale_factor=2)",
            shapes=((2, 3, 4, 5),),
        ),
    ],
)

for name in ("_single", "_pair", "_triple", "_quadruple"):
    rule(
        f"torch.nn.modules.utils.{name}",
        to=f"compat.{name}",
        args="x",
        like=f"compat.{name}",
        cases=[
            Case(f"torch.nn.modules.utils.{name}(3)[-1] * x", f"ms_compat.{name}(3)[-1] * x", shapes=((2, 3),)),
        ],
    )
rule(
    "torch.nn.modules.utils._ntuple",
    to="compat._ntuple",
    args="n name",
    like="compat._ntuple",
    cases=[
        Case("torch.nn.modules.utils._ntuple(3)(2)[-1] * x", "ms_compat._ntuple(3)(2)[-1] * x", shapes=((2, 3),)),
    ],
)
rule(
    "torch.nn.modules.utils._reverse_repeat_tuple",
    to="compat._reverse_repeat_tuple",
    args="t n",
    like="compat._reverse_repeat_tuple",
    cases=[
        Case(
            "torch.nn.modules.utils._reverse_repeat_tuple((1, 3), 2)[0] * x",
            "ms_compat._reverse_repeat_tuple((1, 3), 2)[0] * x",
            shapes=((2, 3),),
        ),
    ],
)
rule(
    "torch.nn.modules.utils.consume_prefix_in_state_dict_if_present",
    to="compat.consume_prefix",
    args="state_dict prefix",
    like="compat.consume_prefix",
    cases=[
        Case(
            "torch.nn.modules.utils.consume_prefix_in_state_dict_if_present({}, 'module.')",
            "ms_compat.consume_prefix({}, 'module.')",
            runs=False,
            why="edits a dict; tests/apis/test_module_methods.py runs it",
        )
    ],
)
