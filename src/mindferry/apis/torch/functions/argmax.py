"""torch.argmax: MindSpore's own along an axis, which takes a tensor without axes as torch does; the helper where none is given."""

from __future__ import annotations

from ... import Case, rule
from ..._call import Call


@rule(
    "torch.argmax",
    to="mindspore.ops.argmax",
    args="input dim keepdim",
    like="compat.argmax",
    cases=[
        Case("torch.argmax(x, dim=1)", "ops.argmax(x, dim=1)", shapes=((3, 4),), gradient=False),
        Case("x.argmax(1, keepdim=True)", "ops.argmax(x, 1, keepdim=True)", shapes=((3, 4, 2),), gradient=False),
        Case("x.argmax(-2)", "ops.argmax(x, -2)", shapes=((3, 4),), gradient=False),
        Case("torch.argmax(x, -1)", "ops.argmax(x, -1)", shapes=((3, 4),), gradient=False),
        Case("torch.argmax(x, dim=-1)", "ops.argmax(x, dim=-1)", shapes=((),), gradient=False),
        Case("torch.argmax(x, 0)", "ops.argmax(x, 0)", shapes=((),), gradient=False),
        Case("torch.argmax(x, 0, keepdim=True)", "ops.argmax(x, 0, keepdim=True)", shapes=((3, 4),), gradient=False),
        Case("torch.argmax(x)", "ms_compat.argmax(x)", shapes=((3, 4),), gradient=False),
    ],
)
def argmax(call: Call) -> None:
    if not isinstance(call.literal("dim"), int):
        call.use_like()
