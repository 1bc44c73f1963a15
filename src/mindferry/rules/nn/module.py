"""The Module class, its methods, and the containers."""

from .. import Case, rule
from .._call import Call

rule(
    "torch.nn.Module",
    to="mindspore.nn.Cell",
    like="mindspore.nn.Cell",
    differs="a new Cell is in evaluation mode: call set_train() before training",
    cases=[Case("nn.Module", "nn.Cell", runs=False, why="a base class; every converted network runs it")],
)


@rule("torch.nn.Module.train", to=".set_train", args="mode", cases=[
    Case("nn.ReLU().train()", "nn.ReLU().set_train()", runs=False, why="mode only"),
])  # fmt: skip
def train(call: Call) -> None:
    pass


@rule("torch.nn.Module.eval", cases=[Case("nn.ReLU().eval()", "nn.ReLU().set_train(False)", runs=False, why="mode only")])
def evaluate(call: Call) -> None:
    call.replace(f"{call.target}.set_train(False)")


rule("torch.nn.Module.forward", to=".construct", like=".construct", cases=[
    Case("nn.ReLU().forward(x)", "nn.ReLU().construct(x)", shapes=((2, 3),)),
])  # fmt: skip


@rule("torch.nn.Module.modules", cases=[
    Case("nn.ReLU().modules()", "[cell for _, cell in nn.ReLU().cells_and_names()]", runs=False, why="structure only"),
])  # fmt: skip
def modules(call: Call) -> None:
    call.replace(f"[cell for _, cell in {call.target}.cells_and_names()]")


@rule("torch.nn.Module.parameters", args="recurse", differs="get_parameters() would include buffers: frozen parameters are left out too", cases=[
    Case("nn.Linear(2, 3).parameters()", "nn.Dense(2, 3).trainable_params()", runs=False, why="structure only"),
])  # fmt: skip
def parameters(call: Call) -> None:
    call.replace(f"{call.target}.trainable_params()")


rule(
    "torch.nn.Sequential",
    to="mindspore.nn.SequentialCell",
    like="mindspore.nn.SequentialCell",
    cases=[
        Case("nn.Sequential(nn.ReLU(), nn.Tanh())", "nn.SequentialCell(nn.ReLU(), nn.Tanh())", shapes=((2, 3),)),
        Case("nn.Sequential(*[nn.Tanh(), nn.Tanh()])", "nn.SequentialCell(*[nn.Tanh(), nn.Tanh()])", shapes=((2, 3),)),
    ],
)
