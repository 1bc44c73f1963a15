"""The tensor class, shapes, and leaving the device."""

from .. import Case, rule
from .._call import Call


@rule("torch.Tensor", to="mindspore.Tensor", like="mindspore.Tensor", cases=[
    Case("torch.Tensor", "ms.Tensor", runs=False, why="the class itself, as in annotations"),
])  # fmt: skip
def tensor(call: Call) -> None:
    call.leave(
        "torch.Tensor(...) as a constructor makes float32 data or uninitialised memory",
        "write ms.Tensor(data, ms.float32) or ops.zeros(shape)",
    )


@rule("torch.Tensor.size", args="dim", cases=[
    Case("x.size(0) * x", "x.shape[0] * x", shapes=((2, 3),)),
    Case("x * x.size()[-1]", "x * x.shape[-1]", shapes=((2, 3),)),
])  # fmt: skip
def size(call: Call) -> None:
    call.replace(f"{call.target}.shape[{call.text('dim')}]" if call.has("dim") else f"{call.target}.shape")
