"""torch.adjoint: the last two axes swapped, and the conjugate of complex values."""

from ... import Case, rule
from ..._call import Call


@rule(
    "torch.adjoint",
    args="input",
    cases=[Case("torch.adjoint(x)", "ops.swapaxes(ops.conj(x), -2, -1)", shapes=((2, 3, 4),))],
)
def adjoint(call: Call) -> None:
    call.replace(
        f"{call.name('mindspore.ops.swapaxes')}({call.name('mindspore.ops.conj')}({call.text('input')}), -2, -1)"
    )
