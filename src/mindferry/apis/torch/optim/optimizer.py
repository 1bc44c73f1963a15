"""The base class of optimizers and its methods."""

from ... import Case, rule

METHOD = "optim.SGD(nn.Linear(2, 3).parameters(), 0.1)."
BECOMES = "ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1)."
WHY = "tests/optim/test_optimizers.py runs it"

rule(
    "torch.optim.Optimizer",
    to="compat.Optimizer",
    args="params defaults",
    like="compat.Optimizer",
    differs="optimizer(grads) hands a subclass its gradients as p.grad and calls its step()",
    cases=[Case("optim.Optimizer", "ms_compat.Optimizer", runs=False, why=WHY)],
)
rule(
    "torch.optim.optimizer.required",
    to="compat.required",
    like="compat.required",
    cases=[Case("torch.optim.optimizer.required", "ms_compat.required", runs=False, why=WHY)],
)
rule(
    "torch.optim.Optimizer.zero_grad",
    to=".zero_grad",
    args="set_to_none",
    cases=[
        Case(
            "(lambda o: o.zero_grad())(optim.SGD(nn.Linear(2, 3).parameters(), 0.1))",
            "(lambda o: o.zero_grad())(ms_compat.SGD(nn.Dense(2, 3).trainable_params(), 0.1))",
            runs=False,
            why="in a training loop, the training pass takes it away with backward()",
        ),
    ],
)
rule(
    "torch.optim.Optimizer.state_dict",
    to=".state_dict",
    cases=[
        Case(f"{METHOD}state_dict()", f"{BECOMES}state_dict()", runs=False, why=WHY),
    ],
)
rule(
    "torch.optim.Optimizer.load_state_dict",
    to=".load_state_dict",
    args="state_dict",
    cases=[
        Case(f"{METHOD}load_state_dict({{}})", f"{BECOMES}load_state_dict({{}})", runs=False, why=WHY),
    ],
)
rule(
    "torch.optim.Optimizer.add_param_group",
    to=".add_param_group",
    args="param_group",
    cases=[
        Case(
            f"{METHOD}add_param_group({{'params': nn.Linear(2, 3).parameters()}})",
            f"{BECOMES}add_param_group({{'params': ms_compat.parameters(nn.Dense(2, 3))}})",
            runs=False,
            why=WHY,
        ),
    ],
)
rule(
    "torch.optim.Optimizer.step",
    missing="gradients are not kept on parameters here, so there is nothing that step() could apply",
    strategy="equivalent",
    advice="`loss, grads = mindspore.value_and_grad(forward_fn, None, optimizer.parameters)(...)`, then `optimizer(grads)`; "
    "for a closure, `optimizer.step(closure)` with one that returns (loss, grads)",
)
rule(
    "torch.optim.Optimizer.__init__",
    to=".__init__",
    cases=[
        Case(
            f"{METHOD}__init__(x)",
            f"{BECOMES}__init__(x)",
            shapes=((1,),),
            runs=False,
            why="super().__init__(...) of the user's own optimizers",
        ),
    ],
)
rule(
    "torch.optim.Optimizer.__setstate__",
    to=".__setstate__",
    args="state",
    cases=[
        Case(
            f"{METHOD}__setstate__({{}})",
            f"{BECOMES}__setstate__({{}})",
            runs=False,
            why="super().__setstate__(state) of the user's own optimizers",
        ),
    ],
)
