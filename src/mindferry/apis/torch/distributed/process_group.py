"""torch.distributed's process group: mindspore.communication; `msrun --worker_num=N train.py` starts the processes."""

from ... import Case, rule
from ..._call import Call
from .collectives import is_world

WHY = "needs several processes"
LAUNCH = "start it with `msrun --worker_num=N --local_worker_num=N train.py`; addresses and ranks come from there"


@rule(
    "torch.distributed.init_process_group",
    args="backend init_method timeout world_size rank store group_name pg_options device_id",
    differs=LAUNCH,
    cases=[
        Case("torch.distributed.init_process_group('nccl')", "communication.init()", runs=False, why=WHY),
        Case(
            "torch.distributed.init_process_group(backend='gloo', init_method='env://', rank=0, world_size=2)",
            "communication.init()",
            runs=False,
            why=WHY,
        ),
    ],
)
def init_process_group(call: Call) -> None:
    call.note = LAUNCH
    call.replace(f"{call.name('mindspore.communication.init')}()")


for _name, _whole, _helper in (("get_rank", "get_rank", "rank_in"), ("get_world_size", "get_group_size", "group_size")):

    @rule(
        f"torch.distributed.{_name}",
        to=f"mindspore.communication.{_whole}",
        args="group",
        like=f"compat.{_helper}",
        cases=[
            Case(f"torch.distributed.{_name}()", f"communication.{_whole}()", runs=False, why=WHY),
            Case(
                f"torch.distributed.{_name}(torch.distributed.new_group([0, 1]))",
                f"ms_compat.{_helper}(ms_compat.new_group([0, 1]))",
                runs=False,
                why=WHY,
            ),
        ],
    )
    def ask_group(call: Call) -> None:
        if is_world(call):
            call.set(group=None)
        else:
            call.use_like()


rule(
    "torch.distributed.new_group",
    to="compat.new_group",
    args="ranks timeout backend pg_options use_local_synchronization group_desc device_id",
    drop="timeout backend pg_options use_local_synchronization group_desc device_id",
    like="compat.new_group",
    cases=[
        Case("torch.distributed.new_group([0, 1], backend='gloo')", "ms_compat.new_group([0, 1])", runs=False, why=WHY)
    ],
)
rule(
    "torch.distributed.GroupMember.NON_GROUP_MEMBER",
    to="compat.NO_MEMBER",
    like="compat.NO_MEMBER",
    cases=[
        Case(
            "torch.distributed.GroupMember.NON_GROUP_MEMBER",
            "ms_compat.NO_MEMBER",
            runs=False,
            why="a name, not a number",
        )
    ],
)
for _name, _helper, _args, _given in (
    ("get_process_group_ranks", "ranks_of", "group", "None"),
    ("get_group_rank", "place_in", "group global_rank", "None, 1"),
    ("get_global_rank", "rank_at", "group group_rank", "None, 1"),
):
    rule(
        f"torch.distributed.{_name}",
        to=f"compat.{_helper}",
        args=_args,
        rename={"global_rank": "rank", "group_rank": "place"},
        like=f"compat.{_helper}",
        cases=[Case(f"torch.distributed.{_name}({_given})", f"ms_compat.{_helper}({_given})", runs=False, why=WHY)],
    )


@rule(
    "torch.distributed.destroy_process_group",
    args="group",
    cases=[
        Case("torch.distributed.destroy_process_group()", "communication.release()", runs=False, why=WHY),
    ],
)
def destroy_process_group(call: Call) -> None:
    call.replace(f"{call.name('mindspore.communication.release')}()")


@rule(
    "torch.distributed.get_backend",
    args="group",
    cases=[
        Case("torch.distributed.get_backend()", "communication.GlobalComm.BACKEND", runs=False, why=WHY),
    ],
)
def get_backend(call: Call) -> None:
    call.replace(call.name("mindspore.communication.GlobalComm.BACKEND"))


@rule(
    "torch.distributed.is_nccl_available",
    cases=[Case("torch.distributed.is_nccl_available()", "False", runs=False, why=WHY)],
)
def is_nccl_available(call: Call) -> None:
    call.replace("False")


@rule("torch.distributed.is_available", cases=[Case("torch.distributed.is_available()", "True", runs=False, why=WHY)])
def is_available(call: Call) -> None:
    call.replace("True")


rule(
    "torch.distributed.is_initialized",
    to="compat.is_communicating",
    like="compat.is_communicating",
    cases=[
        Case("torch.distributed.is_initialized()", "ms_compat.is_communicating()", runs=False, why=WHY),
    ],
)
rule(
    "torch.distributed.barrier",
    to="compat.wait_for_all",
    args="group async_op device_ids",
    drop="async_op device_ids",
    like="compat.wait_for_all",
    cases=[Case("torch.distributed.barrier()", "ms_compat.wait_for_all()", runs=False, why=WHY)],
)
