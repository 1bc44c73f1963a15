"""Lazy layers: sizes that the first input tells. From then on they are ordinary layers."""

from ... import Case, rule

CONV = "out_channels kernel_size stride padding dilation groups bias padding_mode device dtype"
TRANSPOSED = "out_channels kernel_size stride padding output_padding groups bias dilation padding_mode device dtype"
WHY = "its weights exist after the first call only; tests/apis/test_layers.py runs it"
for rank in (1, 2, 3):
    for name, args in ((f"LazyConv{rank}d", CONV), (f"LazyConvTranspose{rank}d", TRANSPOSED)):
        rule(
            f"torch.nn.{name}",
            to=f"compat.{name}",
            args=args,
            like=f"compat.{name}",
            cases=[
                Case(f"nn.{name}(4, kernel_size=3)", f"ms_compat.{name}(4, kernel_size=3)", runs=False, why=WHY),
            ],
        )
    for kind in ("BatchNorm", "InstanceNorm"):
        name = f"Lazy{kind}{rank}d"
        rule(
            f"torch.nn.{name}",
            to=f"compat.{name}",
            args="eps momentum affine track_running_stats device dtype",
            like=f"compat.{name}",
            cases=[
                Case(f"nn.{name}()", f"ms_compat.{name}()", runs=False, why=WHY),
            ],
        )
rule(
    "torch.nn.LazyLinear",
    to="compat.LazyLinear",
    args="out_features bias device dtype",
    like="compat.LazyLinear",
    cases=[
        Case("nn.LazyLinear(4)", "ms_compat.LazyLinear(4)", runs=False, why=WHY),
    ],
)
