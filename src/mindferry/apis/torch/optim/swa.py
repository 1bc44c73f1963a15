"""torch.optim.swa_utils: averaged weights."""

from ... import Case, rule

WHY = "tests/optim/test_averages.py runs it beside torch's"

rule(
    "torch.optim.swa_utils.AveragedModel",
    to="compat.AveragedModel",
    args="model device avg_fn multi_avg_fn use_buffers",
    drop="device",
    like="compat.AveragedModel",
    cases=[
        Case(
            "optim.swa_utils.AveragedModel(nn.Linear(2, 3), avg_fn=None)",
            "ms_compat.AveragedModel(nn.Dense(2, 3), avg_fn=None)",
            runs=False,
            why=WHY,
        ),
    ],
)
rule(
    "torch.optim.swa_utils.AveragedModel.update_parameters",
    to=".update_parameters",
    args="model",
    cases=[
        Case(
            "optim.swa_utils.AveragedModel(nn.ReLU()).update_parameters(nn.ReLU())",
            "ms_compat.AveragedModel(nn.ReLU()).update_parameters(nn.ReLU())",
            runs=False,
            why=WHY,
        ),
    ],
)
rule(
    "torch.optim.swa_utils.update_bn",
    to="compat.update_bn",
    args="loader model device",
    drop="device",
    like="compat.update_bn",
    cases=[
        Case(
            "optim.swa_utils.update_bn([x], nn.Linear(2, 3))",
            "ms_compat.update_bn([x], nn.Dense(2, 3))",
            shapes=((1,),),
            runs=False,
            why=WHY,
        ),
    ],
)
rule(
    "torch.optim.swa_utils.SWALR",
    to="compat.SWALR",
    args="optimizer swa_lr anneal_epochs anneal_strategy last_epoch",
    like="compat.SWALR",
    cases=[
        Case(
            "optim.swa_utils.SWALR(optim.SGD(nn.Linear(2, 3).parameters(), 0.1), swa_lr=0.05)",
            "ms_compat.SWALR(ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1), swa_lr=0.05)",
            runs=False,
            why=WHY,
        ),
    ],
)
rule(
    "torch.optim.swa_utils.get_ema_avg_fn",
    to="compat.get_ema_avg_fn",
    args="decay",
    like="compat.get_ema_avg_fn",
    cases=[
        Case(
            "optim.swa_utils.get_ema_avg_fn(0.9)(x, y, 1)",
            "ms_compat.get_ema_avg_fn(0.9)(x, y, 1)",
            shapes=((2, 3), (2, 3)),
            gradient=False,
        ),
    ],
)
rule(
    "torch.optim.swa_utils.get_swa_avg_fn",
    to="compat.get_swa_avg_fn",
    like="compat.get_swa_avg_fn",
    cases=[
        Case(
            "optim.swa_utils.get_swa_avg_fn()(x, y, 3)",
            "ms_compat.get_swa_avg_fn()(x, y, 3)",
            shapes=((2, 3), (2, 3)),
            gradient=False,
        ),
    ],
)
rule(
    "torch.optim.swa_utils.get_ema_multi_avg_fn",
    to="compat.get_ema_multi_avg_fn",
    args="decay",
    like="compat.get_ema_multi_avg_fn",
    cases=[
        Case("optim.swa_utils.get_ema_multi_avg_fn(0.9)", "ms_compat.get_ema_multi_avg_fn(0.9)", runs=False, why=WHY),
    ],
)
rule(
    "torch.optim.swa_utils.get_swa_multi_avg_fn",
    to="compat.get_swa_multi_avg_fn",
    like="compat.get_swa_multi_avg_fn",
    cases=[
        Case("optim.swa_utils.get_swa_multi_avg_fn()", "ms_compat.get_swa_multi_avg_fn()", runs=False, why=WHY),
    ],
)
