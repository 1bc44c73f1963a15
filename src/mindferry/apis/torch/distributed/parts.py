"""Collectives that hand out parts: gather, scatter, reduce_scatter. What torch writes into, the helpers write into."""

from ... import Case, rule
from .collectives import WHY, settle_filling

HOME = "torch.distributed."
HELPERS = {"gather": "gather_to", "scatter": "scatter_from"}  # the plain names are those of tensor functions
for _name, _args, _given in (
    ("gather", "tensor gather_list dst group async_op", "x, parts, dst=0"),
    ("scatter", "tensor scatter_list src group async_op", "x, parts, src=0"),
    ("all_gather_into_tensor", "output_tensor input_tensor group async_op", "y, x"),
    ("reduce_scatter", "output input_list op group async_op", "x, parts"),
    ("reduce_scatter_tensor", "output input op group async_op", "y, x"),
    ("gather_object", "obj object_gather_list dst group", "3, parts, dst=0"),
    ("scatter_object_list", "scatter_object_output_list scatter_object_input_list src group", "parts, others, src=0"),
):
    rule(
        f"{HOME}{_name}",
        to=f"compat.{HELPERS.get(_name, _name)}",
        args=_args,
        like=f"compat.{HELPERS.get(_name, _name)}",
        cases=[
            Case(
                f"{HOME}{_name}({_given})",
                f"ms_compat.{HELPERS.get(_name, _name)}({_given})",
                inputs=("float32[2]", "float32[4]"),
                runs=False,
                why=WHY,
            ),
        ],
    )(settle_filling)
rule(
    f"{HOME}monitored_barrier",
    to="compat.wait_for_all",
    args="group timeout wait_all_ranks",
    drop="timeout wait_all_ranks",
    like="compat.wait_for_all",
    cases=[Case(f"{HOME}monitored_barrier()", "ms_compat.wait_for_all()", runs=False, why=WHY)],
)
for _name in ("new_subgroups", "split_group"):
    rule(
        f"{HOME}{_name}",
        missing="it makes groups by machines or by colours",
        strategy="equivalent",
        advice="call new_group(ranks) with the ranks of each group, on every rank, in the same order",
    )
for _name in ("send", "recv", "isend", "irecv", "batch_isend_irecv", "P2POp", "all_to_all", "all_to_all_single"):
    rule(
        f"{HOME}{_name}",
        missing="messages between two ranks run on Ascend only in MindSpore",
        strategy="equivalent",
        advice="use mindspore.mint.distributed's function of the same name on Ascend, or gather and pick on every rank",
    )
