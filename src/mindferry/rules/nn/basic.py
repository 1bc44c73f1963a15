"""Linear layers and the activations without arguments that matter."""

from .. import Case, rule

rule(
    "torch.nn.Linear",
    to="mindspore.nn.Dense",
    args="in_features out_features bias device dtype",
    rename={"in_features": "in_channels", "out_features": "out_channels", "bias": "has_bias"},
    drop="device",
    only={"dtype": "None"},
    positional=2,
    like="compat.Linear",
    params={"weight": "weight", "bias": "bias"},
    cases=[
        Case("nn.Linear(4, 6)", "nn.Dense(4, 6)", shapes=((3, 4),)),
        Case(
            "nn.Linear(in_features=4, out_features=6, bias=False)",
            "nn.Dense(in_channels=4, out_channels=6, has_bias=False)",
            shapes=((3, 2, 4),),
        ),
        Case("nn.Linear(4, 6, False)", "nn.Dense(4, 6, has_bias=False)", shapes=((3, 4),)),
    ],
)

rule(
    "torch.nn.ReLU",
    to="mindspore.nn.ReLU",
    args="inplace",
    drop="inplace",
    like="compat.ReLU",
    differs="never in place",
    cases=[Case("nn.ReLU(inplace=True)", "nn.ReLU()", shapes=((3, 4),))],
)
rule("torch.nn.Tanh", to="mindspore.nn.Tanh", like="mindspore.nn.Tanh", cases=[Case("nn.Tanh()", "nn.Tanh()", shapes=((3, 4),))])
