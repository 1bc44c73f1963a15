"""torch.clamp: MindSpore's takes no number beside a tensor, which torch does for one without dimensions.

With one bound it takes no tensor without elements, and both ways it makes a number of NaN.
"""

from __future__ import annotations

from ... import Case, rule
from ..._call import Call
from .._selections import stands_in_plain_function

for _name in ("clamp", "clip"):

    @rule(
        f"torch.{_name}",
        to=f"mindspore.ops.{_name}",
        args="input min max",
        like="compat.clamp",
        cases=[
            Case(f"torch.{_name}(x, min=-0.5, max=0.5)", f"ops.{_name}(x, min=-0.5, max=0.5)", shapes=((3, 4),)),
            Case(f"torch.{_name}(x, 0.1)", "ms_compat.clamp(x, 0.1)", shapes=((3, 4),)),
            Case(f"torch.{_name}(x, max=x.mean())", "ms_compat.clamp(x, max=ops.mean(x))", shapes=((3, 4),)),
            Case(
                f"torch.{_name}(x, 0, y.detach().mean())",
                "ms_compat.clamp(x, 0, ops.mean(ops.stop_gradient(y)))",
                shapes=((3, 4), (3, 4)),
            ),
        ],
    )
    def clamp(call: Call) -> None:
        if any(call.kind(bound).kind not in ("int", "float", "none") for bound in ("min", "max") if call.has(bound)):
            call.use_like()
        elif call.has("min") != call.has("max") and stands_in_plain_function(call):
            call.use_like()  # ops.clamp with one bound refuses a tensor without elements, such as the overlaps of no boxes
