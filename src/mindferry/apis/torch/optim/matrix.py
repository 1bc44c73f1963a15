"""Optimizers that look at a parameter as a matrix, or at all parameters as one vector."""

from ... import Case, rule
from ._params import take_trainable

WHY = "an optimizer is no value: conformance.optim_db runs 20 steps of every configuration"

rule(
    "torch.optim.Adafactor",
    to="compat.Adafactor",
    args="params lr beta2_decay eps d weight_decay",
    drop="foreach",
    like="compat.Adafactor",
    cases=[
        Case(
            "optim.Adafactor(nn.Linear(2, 3).parameters(), beta2_decay=-1.0)",
            "ms_compat.Adafactor(nn.Dense(2, 3).trainable_params(), beta2_decay=-1.0)",
            runs=False,
            why=WHY,
        ),
    ],
)(take_trainable)

rule(
    "torch.optim.Muon",
    to="compat.Muon",
    args="params lr weight_decay momentum nesterov ns_coefficients eps ns_steps adjust_lr_fn",
    like="compat.Muon",
    cases=[
        Case(
            "optim.Muon(nn.Linear(2, 3).parameters(), lr=0.02)",
            "ms_compat.Muon(nn.Dense(2, 3).trainable_params(), lr=0.02)",
            runs=False,
            why=WHY,
        ),
    ],
)(take_trainable)

rule(
    "torch.optim.LBFGS",
    to="compat.LBFGS",
    args="params lr max_iter max_eval tolerance_grad tolerance_change history_size line_search_fn",
    like="compat.LBFGS",
    differs="the closure of step(closure) returns (loss, grads), as a function from mindspore.value_and_grad does",
    cases=[
        Case(
            "optim.LBFGS(nn.Linear(2, 3).parameters(), lr=1, history_size=10, line_search_fn='strong_wolfe')",
            "ms_compat.LBFGS(nn.Dense(2, 3).trainable_params(), lr=1, history_size=10, line_search_fn='strong_wolfe')",
            runs=False,
            why=WHY,
        ),
    ],
)(take_trainable)
