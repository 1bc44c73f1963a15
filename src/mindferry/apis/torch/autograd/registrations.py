"""What is registered with torch's compilers alone: converted code has nobody to tell it to."""

from ... import Case, rule
from ..._call import Call

for _api in (
    "torch.utils._pytree.register_pytree_node",
    "torch.utils._pytree._register_pytree_node",
    "torch.utils._pytree.register_constant",
    "torch.fx._pytree.register_pytree_flatten_spec",
    "torch._dynamo.mark_static_address",
    "torch._dynamo.mark_dynamic",
    "torch.compiler.cudagraph_mark_step_begin",
):

    @rule(
        _api,
        differs="registers something with torch's compilers, which MindSpore doesn't have",
        cases=[Case(f"{_api}(len)", "None", runs=False, why="no value")],
    )
    def registered(call: Call) -> None:
        call.replace("None")
