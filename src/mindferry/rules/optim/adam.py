"""Adam and its variants. MindSpore's own leave epsilon without bias correction or keep their rates where torch's code can't read them."""

from .. import Case, rule
from ._params import take_trainable

UNUSED = "foreach capturable differentiable fused"
WHY = "an optimizer is no value: mindferry.conformance.optim_db runs 20 steps of every configuration"

rule(
    "torch.optim.Adam",
    to="compat.Adam",
    args="params lr betas eps weight_decay amsgrad",
    drop=UNUSED,
    like="compat.Adam",
    cases=[
        Case("optim.Adam(nn.Linear(2, 3).parameters(), lr=0.1, weight_decay=1e-4)",
             "ms_compat.Adam(nn.Dense(2, 3).trainable_params(), lr=0.1, weight_decay=1e-4)", runs=False, why=WHY),
        Case("optim.Adam([{'params': nn.Linear(2, 3).parameters(), 'lr': 1e-2}], 1e-3, fused=True)",
             "ms_compat.Adam([{'params': nn.Dense(2, 3).trainable_params(), 'lr': 1e-2}], 1e-3)", runs=False, why=WHY),
    ],
)(take_trainable)  # fmt: skip
