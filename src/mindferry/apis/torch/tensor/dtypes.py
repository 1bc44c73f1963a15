"""What a type says of itself: `x.dtype.is_floating_point`."""

from ... import Case, Form, rule

rule(
    "torch.dtype.is_floating_point",
    form=Form.ATTRIBUTE,
    to="compat.is_floating_type",
    cases=[
        Case(
            "x * x.dtype.is_floating_point",
            "x * ms_compat.is_floating_type(x.dtype)",
            inputs=("float32[2,3]",),
            gradient=False,
        )
    ],
)
rule(
    "torch.dtype.is_complex",
    form=Form.ATTRIBUTE,
    to="compat.is_complex_type",
    cases=[
        Case(
            "x + x.dtype.is_complex",
            "x + ms_compat.is_complex_type(x.dtype)",
            inputs=("float32[2,3]",),
            gradient=False,
        )
    ],
)
