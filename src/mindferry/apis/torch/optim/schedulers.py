"""torch.optim.lr_scheduler: the same classes, with rates as plain numbers.

MindSpore's experimental schedulers work in float32, have no state_dict, hand tensors to lambdas, and lack OneCycleLR and
ChainedScheduler. Those that multiply by a constant now and then stand beside MindSpore's own optimizers (convert/own_optimizers.py).
"""

from ... import Case, rule

WHY = "a scheduler is no value: conformance.schedulers runs 50 steps of each"

rule(
    "torch.optim.lr_scheduler.LambdaLR",
    to="compat.LambdaLR",
    args="optimizer lr_lambda last_epoch",
    drop="verbose",
    like="compat.LambdaLR",
    cases=[
        Case(
            "optim.lr_scheduler.LambdaLR(optim.SGD(nn.Linear(2, 3).parameters(), 0.1), lr_lambda=lambda epoch: 0.95**epoch)",
            "ms_compat.LambdaLR(ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1), lr_lambda=lambda epoch: 0.95**epoch)",
            runs=False,
            why=WHY,
        ),
    ],
)

rule(
    "torch.optim.lr_scheduler.MultiplicativeLR",
    to="compat.MultiplicativeLR",
    args="optimizer lr_lambda last_epoch",
    drop="verbose",
    like="compat.MultiplicativeLR",
    cases=[
        Case(
            "optim.lr_scheduler.MultiplicativeLR(optim.SGD(nn.Linear(2, 3).parameters(), 0.1), lambda epoch: 0.95)",
            "ms_compat.MultiplicativeLR(ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1), lambda epoch: 0.95)",
            runs=False,
            why=WHY,
        ),
    ],
)

rule(
    "torch.optim.lr_scheduler.StepLR",
    to="compat.StepLR",
    args="optimizer step_size gamma last_epoch",
    drop="verbose",
    like="compat.StepLR",
    differs="print the rate yourself: verbose was dropped, as torch has done",
    cases=[
        Case(
            "optim.lr_scheduler.StepLR(optim.SGD(nn.Linear(2, 3).parameters(), 0.1), step_size=30, gamma=0.1)",
            "ms_compat.StepLR(ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1), step_size=30, gamma=0.1)",
            runs=False,
            why=WHY,
        ),
    ],
)

rule(
    "torch.optim.lr_scheduler.MultiStepLR",
    to="compat.MultiStepLR",
    args="optimizer milestones gamma last_epoch",
    drop="verbose",
    like="compat.MultiStepLR",
    cases=[
        Case(
            "optim.lr_scheduler.MultiStepLR(optim.SGD(nn.Linear(2, 3).parameters(), 0.1), milestones=[30, 80], gamma=0.1)",
            "ms_compat.MultiStepLR(ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1), milestones=[30, 80], gamma=0.1)",
            runs=False,
            why=WHY,
        ),
    ],
)

rule(
    "torch.optim.lr_scheduler.ConstantLR",
    to="compat.ConstantLR",
    args="optimizer factor total_iters last_epoch",
    drop="verbose",
    like="compat.ConstantLR",
    cases=[
        Case(
            "optim.lr_scheduler.ConstantLR(optim.SGD(nn.Linear(2, 3).parameters(), 0.1), factor=0.5, total_iters=4)",
            "ms_compat.ConstantLR(ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1), factor=0.5, total_iters=4)",
            runs=False,
            why=WHY,
        ),
    ],
)

rule(
    "torch.optim.lr_scheduler.LinearLR",
    to="compat.LinearLR",
    args="optimizer start_factor end_factor total_iters last_epoch",
    drop="verbose",
    like="compat.LinearLR",
    cases=[
        Case(
            "optim.lr_scheduler.LinearLR(optim.SGD(nn.Linear(2, 3).parameters(), 0.1), start_factor=0.5, total_iters=4)",
            "ms_compat.LinearLR(ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1), start_factor=0.5, total_iters=4)",
            runs=False,
            why=WHY,
        ),
    ],
)

rule(
    "torch.optim.lr_scheduler.ExponentialLR",
    to="compat.ExponentialLR",
    args="optimizer gamma last_epoch",
    drop="verbose",
    like="compat.ExponentialLR",
    cases=[
        Case(
            "optim.lr_scheduler.ExponentialLR(optim.SGD(nn.Linear(2, 3).parameters(), 0.1), 0.9)",
            "ms_compat.ExponentialLR(ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1), 0.9)",
            runs=False,
            why=WHY,
        ),
    ],
)

rule(
    "torch.optim.lr_scheduler.PolynomialLR",
    to="compat.PolynomialLR",
    args="optimizer total_iters power last_epoch",
    drop="verbose",
    like="compat.PolynomialLR",
    cases=[
        Case(
            "optim.lr_scheduler.PolynomialLR(optim.SGD(nn.Linear(2, 3).parameters(), 0.1), total_iters=4, power=0.9)",
            "ms_compat.PolynomialLR(ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1), total_iters=4, power=0.9)",
            runs=False,
            why=WHY,
        ),
    ],
)

rule(
    "torch.optim.lr_scheduler.CosineAnnealingLR",
    to="compat.CosineAnnealingLR",
    args="optimizer T_max eta_min last_epoch",
    drop="verbose",
    like="compat.CosineAnnealingLR",
    cases=[
        Case(
            "optim.lr_scheduler.CosineAnnealingLR(optim.SGD(nn.Linear(2, 3).parameters(), 0.1), T_max=10, eta_min=1e-5)",
            "ms_compat.CosineAnnealingLR(ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1), T_max=10, eta_min=1e-5)",
            runs=False,
            why=WHY,
        ),
    ],
)

rule(
    "torch.optim.lr_scheduler.CosineAnnealingWarmRestarts",
    to="compat.CosineAnnealingWarmRestarts",
    args="optimizer T_0 T_mult eta_min last_epoch",
    drop="verbose",
    like="compat.CosineAnnealingWarmRestarts",
    cases=[
        Case(
            "optim.lr_scheduler.CosineAnnealingWarmRestarts(optim.SGD(nn.Linear(2, 3).parameters(), 0.1), T_0=10, T_mult=2)",
            "ms_compat.CosineAnnealingWarmRestarts(ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1), T_0=10, T_mult=2)",
            runs=False,
            why=WHY,
        ),
    ],
)

rule(
    "torch.optim.lr_scheduler.CyclicLR",
    to="compat.CyclicLR",
    args="optimizer base_lr max_lr step_size_up step_size_down mode gamma scale_fn scale_mode cycle_momentum base_momentum max_momentum last_epoch",
    drop="verbose",
    like="compat.CyclicLR",
    cases=[
        Case(
            "optim.lr_scheduler.CyclicLR(optim.SGD(nn.Linear(2, 3).parameters(), 0.1), 1e-4, 1e-2, cycle_momentum=False)",
            "ms_compat.CyclicLR(ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1), 1e-4, 1e-2, cycle_momentum=False)",
            runs=False,
            why=WHY,
        ),
    ],
)

rule(
    "torch.optim.lr_scheduler.OneCycleLR",
    to="compat.OneCycleLR",
    args="optimizer max_lr total_steps epochs steps_per_epoch pct_start anneal_strategy cycle_momentum base_momentum max_momentum div_factor final_div_factor three_phase last_epoch",
    drop="verbose",
    like="compat.OneCycleLR",
    cases=[
        Case(
            "optim.lr_scheduler.OneCycleLR(optim.SGD(nn.Linear(2, 3).parameters(), 0.1), max_lr=0.01, total_steps=100)",
            "ms_compat.OneCycleLR(ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1), max_lr=0.01, total_steps=100)",
            runs=False,
            why=WHY,
        ),
    ],
)

rule(
    "torch.optim.lr_scheduler.ReduceLROnPlateau",
    to="compat.ReduceLROnPlateau",
    args="optimizer mode factor patience threshold threshold_mode cooldown min_lr eps",
    drop="verbose",
    like="compat.ReduceLROnPlateau",
    cases=[
        Case(
            "optim.lr_scheduler.ReduceLROnPlateau(optim.SGD(nn.Linear(2, 3).parameters(), 0.1), 'min', patience=2)",
            "ms_compat.ReduceLROnPlateau(ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1), 'min', patience=2)",
            runs=False,
            why=WHY,
        ),
    ],
)

rule(
    "torch.optim.lr_scheduler.SequentialLR",
    to="compat.SequentialLR",
    args="optimizer schedulers milestones last_epoch",
    drop="verbose",
    like="compat.SequentialLR",
    cases=[
        Case(
            "optim.lr_scheduler.SequentialLR(x, [y, z], milestones=[5])",
            "ms_compat.SequentialLR(x, [y, z], milestones=[5])",
            shapes=((1,), (1,), (1,)),
            runs=False,
            why=WHY,
        ),
    ],
)

rule(
    "torch.optim.lr_scheduler.ChainedScheduler",
    to="compat.ChainedScheduler",
    args="schedulers optimizer",
    drop="verbose",
    like="compat.ChainedScheduler",
    cases=[
        Case(
            "optim.lr_scheduler.ChainedScheduler([x, y])",
            "ms_compat.ChainedScheduler([x, y])",
            shapes=((1,), (1,)),
            runs=False,
            why=WHY,
        ),
    ],
)

rule(
    "torch.optim.lr_scheduler.LRScheduler",
    to="compat.LRScheduler",
    args="optimizer last_epoch",
    drop="verbose",
    like="compat.LRScheduler",
    cases=[Case("optim.lr_scheduler.LRScheduler", "ms_compat.LRScheduler", runs=False, why=WHY)],
)
rule(
    "torch.optim.lr_scheduler._LRScheduler",
    to="compat.LRScheduler",
    args="optimizer last_epoch",
    drop="verbose",
    like="compat.LRScheduler",
    cases=[Case("optim.lr_scheduler._LRScheduler", "ms_compat.LRScheduler", runs=False, why=WHY)],
)

METHOD = "optim.lr_scheduler.StepLR(optim.SGD(nn.Linear(2, 3).parameters(), 0.1), 2)."
BECOMES = "ms_compat.StepLR(ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1), 2)."

rule(
    "torch.optim.lr_scheduler.LRScheduler.step",
    to=".step",
    args="epoch",
    cases=[
        Case(f"{METHOD}step()", f"{BECOMES}step()", runs=False, why=WHY),
    ],
)
rule(
    "torch.optim.lr_scheduler.LRScheduler.get_last_lr",
    to=".get_last_lr",
    cases=[
        Case(f"{METHOD}get_last_lr()", f"{BECOMES}get_last_lr()", runs=False, why=WHY),
    ],
)
rule(
    "torch.optim.lr_scheduler.LRScheduler.get_lr",
    to=".get_lr",
    cases=[
        Case(f"{METHOD}get_lr()", f"{BECOMES}get_lr()", runs=False, why=WHY),
    ],
)
rule(
    "torch.optim.lr_scheduler.LRScheduler.state_dict",
    to=".state_dict",
    cases=[
        Case(f"{METHOD}state_dict()", f"{BECOMES}state_dict()", runs=False, why=WHY),
    ],
)
rule(
    "torch.optim.lr_scheduler.LRScheduler.load_state_dict",
    to=".load_state_dict",
    args="state_dict",
    cases=[
        Case(f"{METHOD}load_state_dict({{}})", f"{BECOMES}load_state_dict({{}})", runs=False, why=WHY),
    ],
)
rule(
    "torch.optim.lr_scheduler.LRScheduler.__init__",
    to=".__init__",
    drop="verbose",
    cases=[
        Case(
            f"{METHOD}__init__(x)",
            f"{BECOMES}__init__(x)",
            shapes=((1,),),
            runs=False,
            why="super().__init__(...) of the user's own schedulers",
        ),
    ],
)
