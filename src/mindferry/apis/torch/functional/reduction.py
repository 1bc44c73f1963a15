"""torch.nn._reduction: the numbers and names of reductions, which losses written by hand ask for."""

from ... import Case, rule

rule(
    "torch.nn._reduction.get_enum",
    to="compat.reduction_number",
    args="reduction",
    like="compat.reduction_number",
    cases=[
        Case("F._Reduction.get_enum('sum') * x", "ms_compat.reduction_number('sum') * x", shapes=((2, 3),)),
        Case("torch.nn._reduction.get_enum('mean') * x", "ms_compat.reduction_number('mean') * x", shapes=((2, 3),)),
    ],
)
for _name in ("legacy_get_string", "legacy_get_enum"):
    rule(
        f"torch.nn._reduction.{_name}",
        to=f"compat.{_name}",
        args="size_average reduce emit_warning",
        like=f"compat.{_name}",
        cases=[
            Case(
                f"[F._Reduction.{_name}(None, False, emit_warning=False), x]",
                f"[ms_compat.{_name}(None, False, emit_warning=False), x]",
                shapes=((2, 3),),
                gradient=False,
            ),
        ],
    )
