"""Adam and its variants.

MindSpore's own take the helpers' place where native.tsv calls them exact and the project asks no more of them (convert/own_optimizers.py).
nn.Adam and experimental.optim.Adam leave epsilon's bias uncorrected, and all of experimental.optim keep their rates as tensors, where
code written for torch reads and writes numbers, and lose the state of groups that are added later.
"""

from ... import Case, rule
from ._params import take_trainable

WHY = "an optimizer is no value: conformance.optim_db runs 20 steps of every configuration"

rule(
    "torch.optim.Adam",
    to="compat.Adam",
    args="params lr betas eps weight_decay amsgrad",
    drop="foreach capturable differentiable fused",
    like="compat.Adam",
    differs="a parameter that the loss doesn't use has a zero gradient here, and none in torch: weight decay and momentum still act on it",
    cases=[
        Case(
            "optim.Adam(nn.Linear(2, 3).parameters(), lr=0.1, weight_decay=1e-4)",
            "ms_compat.Adam(nn.Dense(2, 3).trainable_params(), lr=0.1, weight_decay=1e-4)",
            runs=False,
            why=WHY,
        ),
        Case(
            "optim.Adam([{'params': nn.Linear(2, 3).parameters(), 'lr': 1e-2}], 1e-3, fused=True)",
            "ms_compat.Adam([{'params': ms_compat.parameters(nn.Dense(2, 3)), 'lr': 1e-2}], 1e-3)",
            runs=False,
            why=WHY,
        ),
    ],
)(take_trainable)

rule(
    "torch.optim.AdamW",
    to="compat.AdamW",
    args="params lr betas eps weight_decay amsgrad",
    drop="foreach capturable differentiable fused",
    like="compat.AdamW",
    cases=[
        Case(
            "optim.AdamW(nn.Linear(2, 3).parameters(), lr=1e-3, weight_decay=0.05)",
            "ms_compat.AdamW(nn.Dense(2, 3).trainable_params(), lr=1e-3, weight_decay=0.05)",
            runs=False,
            why=WHY,
        ),
    ],
)(take_trainable)

rule(
    "torch.optim.NAdam",
    to="compat.NAdam",
    args="params lr betas eps weight_decay momentum_decay decoupled_weight_decay",
    drop="foreach capturable differentiable",
    like="compat.NAdam",
    cases=[
        Case(
            "optim.NAdam(nn.Linear(2, 3).parameters(), momentum_decay=6e-3)",
            "ms_compat.NAdam(nn.Dense(2, 3).trainable_params(), momentum_decay=6e-3)",
            runs=False,
            why=WHY,
        ),
    ],
)(take_trainable)

rule(
    "torch.optim.RAdam",
    to="compat.RAdam",
    args="params lr betas eps weight_decay decoupled_weight_decay",
    drop="foreach capturable differentiable",
    like="compat.RAdam",
    cases=[
        Case(
            "optim.RAdam(nn.Linear(2, 3).parameters(), lr=2e-3, decoupled_weight_decay=True)",
            "ms_compat.RAdam(nn.Dense(2, 3).trainable_params(), lr=2e-3, decoupled_weight_decay=True)",
            runs=False,
            why=WHY,
        ),
    ],
)(take_trainable)

rule(
    "torch.optim.Adamax",
    to="compat.Adamax",
    args="params lr betas eps weight_decay foreach",
    drop="foreach capturable differentiable",
    like="compat.Adamax",
    cases=[
        Case(
            "optim.Adamax(nn.Linear(2, 3).parameters(), lr=0.1)",
            "ms_compat.Adamax(nn.Dense(2, 3).trainable_params(), lr=0.1)",
            runs=False,
            why=WHY,
        ),
    ],
)(take_trainable)

rule(
    "torch.optim.SparseAdam",
    to="compat.SparseAdam",
    args="params lr betas eps maximize",
    like="compat.SparseAdam",
    differs="gradients are dense here: a row that is zero throughout counts as absent",
    cases=[
        Case(
            "optim.SparseAdam(nn.Linear(2, 3).parameters(), lr=0.01)",
            "ms_compat.SparseAdam(nn.Dense(2, 3).trainable_params(), lr=0.01)",
            runs=False,
            why=WHY,
        ),
    ],
)(take_trainable)
