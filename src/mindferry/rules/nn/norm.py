"""Normalization layers. MindSpore calls weight and bias gamma and beta, and its momentum is one minus torch's."""

from .. import Case, rule
from .._call import Call

NAMES = {"weight": "gamma", "bias": "beta", "running_mean": "moving_mean", "running_var": "moving_variance"}


@rule(
    "torch.nn.BatchNorm2d",
    to="mindspore.nn.BatchNorm2d",
    args="num_features eps momentum affine track_running_stats device dtype",
    drop="device",
    only={"track_running_stats": "True", "dtype": "None"},
    like="compat.BatchNorm2d",
    params=NAMES,
    differs="momentum is the share of the old value: 0.9 for torch's 0.1",
    cases=[
        Case("nn.BatchNorm2d(8)", "nn.BatchNorm2d(8)", shapes=((4, 8, 5, 5),)),
        Case("nn.BatchNorm2d(8, eps=1e-3, momentum=0.01)", "nn.BatchNorm2d(8, eps=1e-3, momentum=0.99)", shapes=((4, 8, 5, 5),)),
        Case("nn.BatchNorm2d(8, affine=False)", "nn.BatchNorm2d(8, affine=False)", shapes=((4, 8, 5, 5),)),
    ],
)
def batch_norm2d(call: Call) -> None:
    momentum = call.literal("momentum", 0.1)
    if not isinstance(momentum, int | float):
        call.use_like()
    elif call.has("momentum"):
        call.set(momentum=f"{1 - momentum:.12g}")
