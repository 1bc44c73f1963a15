"""Functions of torch.nn.functional that draw random numbers."""

from ... import Case, rule

DROPOUTS = {
    "dropout1d": (2, 3, 40),
    "dropout2d": (2, 30, 4, 4),
    "dropout3d": (2, 30, 2, 2, 2),
    "alpha_dropout": (30, 40),
    "feature_alpha_dropout": (2, 30, 4, 4),
}
for _name, _shape in DROPOUTS.items():
    rule(
        f"torch.nn.functional.{_name}",
        to=f"compat.{_name}",
        args="input p training inplace",
        like=f"compat.{_name}",
        cases=[
            Case(
                f"F.{_name}(x, 0.3, training=True)",
                f"ms_compat.{_name}(x, 0.3, training=True)",
                shapes=(_shape,),
                random=True,
            ),
            Case(f"F.{_name}(x, 0.3, training=False)", f"ms_compat.{_name}(x, 0.3, training=False)", shapes=(_shape,)),
        ],
    )
rule(
    "torch.nn.functional.gumbel_softmax",
    to="compat.gumbel_softmax",
    args="logits tau hard eps dim",
    like="compat.gumbel_softmax",
    cases=[
        Case(
            "F.gumbel_softmax(x, tau=0.5, hard=True)",
            "ms_compat.gumbel_softmax(x, tau=0.5, hard=True)",
            shapes=((30, 4),),
            random=True,
        ),
    ],
)
for _rank, _shape in ((2, (2, 3, 8, 8)), (3, (2, 3, 6, 6, 6))):
    _name = f"fractional_max_pool{_rank}d"
    rule(
        f"torch.nn.functional.{_name}",
        to=f"compat.{_name}",
        args="input kernel_size output_size output_ratio return_indices",
        like=f"compat.{_name}",
        cases=[
            Case(
                f"F.{_name}(x, 2, output_size=3)",
                f"ms_compat.{_name}(x, 2, output_size=3)",
                shapes=(_shape,),
                random=True,
            ),
        ],
    )
