"""Dropout. MindSpore's first positional argument is the share that is kept, so p is always written out."""

from ... import Case, rule
from ..._call import Call


@rule(
    "torch.nn.Dropout",
    to="mindspore.nn.Dropout",
    args="p inplace",
    positional=0,
    drop="inplace",
    like="compat.Dropout",
    differs="the first positional argument is keep_prob, so p is written out; never in place",
    cases=[
        Case("nn.Dropout()", "nn.Dropout()", shapes=((20, 30),), random=True),
        Case("nn.Dropout(0.1)", "nn.Dropout(p=0.1)", shapes=((20, 30),), random=True),
        Case("nn.Dropout(p=0.3, inplace=True).eval()(x)", "nn.Dropout(p=0.3).set_train(False)(x)", shapes=((4, 5),)),
        Case("nn.Dropout(0.0)", "nn.Dropout(p=0.0)", shapes=((4, 5),)),
        Case("nn.Dropout(*[0.2])", "ms_compat.Dropout(*[0.2])", shapes=((20, 30),), random=True),
        Case(
            "nn.Dropout(1.0)(x) + y",
            "ms_compat.Dropout(1.0)(x) + y",
            shapes=((4, 5), (4, 5)),
            gradient=False,
            random=True,
        ),
    ],
)
def dropout(call: Call) -> None:
    if call.literal("p", 0.5) == 1:  # MindSpore's takes shares below one only
        call.use_like()


# Inputs without a batch, and those of other layers: torch drops along the second axis whatever comes after.
OTHER_RANKS = {"Dropout1d": ((20, 5),), "Dropout2d": ((4, 20), (4, 20, 3)), "Dropout3d": ((20, 2, 2, 2), (4, 20))}

for name, shape in (
    ("Dropout1d", (4, 20, 5)),
    ("Dropout2d", (4, 20, 3, 3)),
    ("Dropout3d", (4, 20, 2, 2, 2)),
    ("FeatureAlphaDropout", (4, 20, 3)),
    ("AlphaDropout", (20, 30)),
):
    rule(
        f"torch.nn.{name}",
        to=f"compat.{name}",
        args="p inplace",
        like=f"compat.{name}",
        cases=[
            Case(f"nn.{name}()", f"ms_compat.{name}()", shapes=(shape,), random=True),
            Case(f"nn.{name}(0.2, inplace=True)", f"ms_compat.{name}(0.2, inplace=True)", shapes=(shape,), random=True),
            *(
                Case(f"nn.{name}(0.4)", f"ms_compat.{name}(0.4)", shapes=(other,), random=True)
                for other in OTHER_RANKS.get(name, ())
            ),
            Case(f"nn.{name}(p=0.1).eval()(x)", f"ms_compat.{name}(p=0.1).set_train(False)(x)", shapes=(shape,)),
        ],
    )
