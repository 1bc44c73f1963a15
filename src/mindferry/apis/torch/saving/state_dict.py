"""Module.state_dict and load_state_dict: MindSpore's Cell has both, and its strict loading raises as torch's does."""

from ... import Case, rule

rule(
    "torch.nn.Module.state_dict",
    to=".state_dict",
    args="",
    differs="names are MindSpore's: gamma and beta for a norm layer's weight and bias",
    cases=[
        Case(
            "nn.Linear(2, 3).state_dict()",
            "nn.Dense(2, 3).state_dict()",
            runs=False,
            why="names only; tests/optim/test_saving.py loads it",
        )
    ],
)

rule(
    "torch.nn.Module.load_state_dict",
    to=".load_state_dict",
    args="state_dict strict assign",
    drop="assign",
    cases=[
        Case(
            "nn.ReLU().load_state_dict(torch.load('a.pth'), strict=False)",
            "nn.ReLU().load_state_dict(ms_compat.load('a.ckpt'), strict=False)",
            runs=False,
            why="files are the business of tests/optim/test_saving.py",
        )
    ],
)
