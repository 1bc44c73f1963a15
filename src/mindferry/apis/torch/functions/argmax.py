"""torch.argmax: MindSpore's own along an axis that a tensor without axes can't have; the helper takes those too."""

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
        Case("torch.argmax(x, -1)", "ms_compat.argmax(x, -1)", shapes=((3, 4),), gradient=False),
        Case("torch.argmax(x)", "ms_compat.argmax(x)", shapes=((3, 4),), gradient=False),
    ],
)
def argmax(call: Call) -> None:
    dim = call.literal("dim")
    if not isinstance(dim, int) or dim in (0, -1):  # of a tensor without axes, perhaps
        call.use_like()
