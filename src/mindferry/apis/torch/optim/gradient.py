"""SGD and the optimizers that scale each gradient by its own history."""

from ... import Case, rule
from ._params import take_trainable

WHY = "an optimizer is no value: conformance.optim_db runs 20 steps of every configuration"

rule(
    "torch.optim.SGD",
    to="compat.SGD",
    args="params lr momentum dampening weight_decay nesterov",
    drop="foreach differentiable fused",
    like="compat.SGD",
    cases=[
        Case(
            "optim.SGD(nn.Linear(2, 3).parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, nesterov=True)",
            "ms_compat.SGD(nn.Dense(2, 3).trainable_params(), lr=0.1, momentum=0.9, weight_decay=1e-4, nesterov=True)",
            runs=False,
            why=WHY,
        ),
    ],
)(take_trainable)

rule(
    "torch.optim.RMSprop",
    to="compat.RMSprop",
    args="params lr alpha eps weight_decay momentum centered capturable foreach maximize differentiable",
    drop="foreach capturable differentiable",
    like="compat.RMSprop",
    cases=[
        Case(
            "optim.RMSprop(nn.Linear(2, 3).parameters(), lr=1e-4, alpha=0.9)",
            "ms_compat.RMSprop(nn.Dense(2, 3).trainable_params(), lr=1e-4, alpha=0.9)",
            runs=False,
            why=WHY,
        ),
    ],
)(take_trainable)

rule(
    "torch.optim.Adagrad",
    to="compat.Adagrad",
    args="params lr lr_decay weight_decay initial_accumulator_value eps foreach",
    drop="foreach differentiable fused",
    like="compat.Adagrad",
    cases=[
        Case(
            "optim.Adagrad(nn.Linear(2, 3).parameters(), lr=0.1, lr_decay=0.5)",
            "ms_compat.Adagrad(nn.Dense(2, 3).trainable_params(), lr=0.1, lr_decay=0.5)",
            runs=False,
            why=WHY,
        ),
    ],
)(take_trainable)

rule(
    "torch.optim.Adadelta",
    to="compat.Adadelta",
    args="params lr rho eps weight_decay foreach",
    drop="foreach capturable differentiable",
    like="compat.Adadelta",
    cases=[
        Case(
            "optim.Adadelta(nn.Linear(2, 3).parameters(), rho=0.95)",
            "ms_compat.Adadelta(nn.Dense(2, 3).trainable_params(), rho=0.95)",
            runs=False,
            why=WHY,
        ),
    ],
)(take_trainable)

rule(
    "torch.optim.Rprop",
    to="compat.Rprop",
    args="params lr etas step_sizes",
    drop="foreach capturable differentiable",
    like="compat.Rprop",
    cases=[
        Case(
            "optim.Rprop(nn.Linear(2, 3).parameters(), etas=(0.5, 1.5))",
            "ms_compat.Rprop(nn.Dense(2, 3).trainable_params(), etas=(0.5, 1.5))",
            runs=False,
            why=WHY,
        ),
    ],
)(take_trainable)

rule(
    "torch.optim.ASGD",
    to="compat.ASGD",
    args="params lr lambd alpha t0 weight_decay foreach maximize differentiable capturable",
    drop="foreach capturable differentiable",
    like="compat.ASGD",
    cases=[
        Case(
            "optim.ASGD(nn.Linear(2, 3).parameters(), t0=100)",
            "ms_compat.ASGD(nn.Dense(2, 3).trainable_params(), t0=100)",
            runs=False,
            why=WHY,
        ),
    ],
)(take_trainable)
