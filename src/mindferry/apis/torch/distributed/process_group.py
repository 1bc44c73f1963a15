"""torch.distributed's process group: mindspore.communication; `msrun --worker_num=N train.py` starts the processes."""

from ... import Case, rule
from ..._call import Call

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


@rule(
    "torch.distributed.get_rank",
    args="group",
    cases=[
        Case("torch.distributed.get_rank()", "communication.get_rank()", runs=False, why=WHY),
    ],
)
def get_rank(call: Call) -> None:
    if call.has("group"):
        call.leave("groups of ranks are named in MindSpore", "create_group(name, ranks), then get_rank(name)")
    call.use("mindspore.communication.get_rank")


@rule(
    "torch.distributed.get_world_size",
    args="group",
    cases=[
        Case("torch.distributed.get_world_size()", "communication.get_group_size()", runs=False, why=WHY),
    ],
)
def get_world_size(call: Call) -> None:
    if call.has("group"):
        call.leave("groups of ranks are named in MindSpore", "create_group(name, ranks), then get_group_size(name)")
    call.use("mindspore.communication.get_group_size")


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
    only={"group": "None"},
    cases=[Case("torch.distributed.barrier()", "ms_compat.wait_for_all()", runs=False, why=WHY)],
)
