"""torch.distributed's collectives. Those that change a tensor in place become assignments (pass `in_place`): MindSpore's return the result."""

from ... import Case, rule
from ..._call import Call

WHY = "needs several processes; tests/launch runs it with two"
LATER = "async_op=True starts it and waits later"
LATER_ADVICE = "leave async_op and wait() out: the result is there when the call returns"


def settle(call: Call) -> None:
    """At once: what the helpers do. The whole world need not be named."""
    if call.literal("async_op", False) is not False:
        call.leave(LATER, LATER_ADVICE)
        return
    call.set(async_op=None)
    if is_world(call):
        call.set(group=None)


def settle_filling(call: Call) -> None:
    """What fills a list or a tensor is done when it returns; what it returns may be waited for."""
    if call.literal("async_op", False) is False:
        call.set(async_op=None)
    if is_world(call):
        call.set(group=None)


def is_world(call: Call) -> bool:
    return call.literal("group") is None or call.text("group").endswith("WORLD_COMM_GROUP")


WORLD = "mindspore.communication.GlobalComm.WORLD_COMM_GROUP"

rule(
    "torch.distributed.all_reduce",
    to="compat.all_reduce",
    args="tensor op group async_op",
    differs="the result is returned; `x` stays as it was, so the call becomes `x = ...`",
    cases=[
        Case("torch.distributed.all_reduce(x)", "ms_compat.all_reduce(x)", inputs=("float32[2]",), runs=False, why=WHY),
        Case(
            "torch.distributed.all_reduce(x, op=torch.distributed.ReduceOp.MAX, async_op=False)",
            "ms_compat.all_reduce(x, op=ops.ReduceOp.MAX)",
            inputs=("float32[2]",),
            runs=False,
            why=WHY,
        ),
        Case(
            "torch.distributed.all_reduce(x, group=torch.distributed.new_group([0, 1]))",
            "ms_compat.all_reduce(x, group=ms_compat.new_group([0, 1]))",
            inputs=("float32[2]",),
            runs=False,
            why=WHY,
        ),
    ],
)(settle)
rule(
    "torch.distributed.broadcast",
    to="compat.broadcast",
    args="tensor src group async_op",
    differs="the result is returned; `x` stays as it was, so the call becomes `x = ...`",
    cases=[
        Case(
            "torch.distributed.broadcast(x, 0)",
            "ms_compat.broadcast(x, 0)",
            inputs=("float32[2]",),
            runs=False,
            why=WHY,
        ),
    ],
)(settle)
rule(
    "torch.distributed.all_gather",
    to="compat.all_gather",
    args="tensor_list tensor group async_op",
    cases=[
        Case(
            "torch.distributed.all_gather(parts, x)",
            "ms_compat.all_gather(parts, x)",
            inputs=("float32[2]",),
            runs=False,
            why=WHY,
        ),
        Case(
            "torch.distributed.all_gather(parts, x, async_op=True).wait()",
            "ms_compat.all_gather(parts, x, async_op=True).wait()",
            inputs=("float32[2]",),
            runs=False,
            why=WHY,
        ),
    ],
)(settle_filling)


@rule(
    "torch.distributed.reduce",
    to="compat.all_reduce",
    args="tensor dst op group async_op",
    differs="every rank gets the result, not `dst` alone",
    cases=[
        Case(
            "torch.distributed.reduce(x, dst=0)", "ms_compat.all_reduce(x)", inputs=("float32[2]",), runs=False, why=WHY
        ),
    ],
)
def reduce(call: Call) -> None:
    settle(call)
    if not call.refusal:
        call.set(dst=None)
        if call.has("op"):
            call.set(op=call.text("op"))


@rule(
    "torch.distributed.all_gather_object",
    to="mindspore.mint.distributed.all_gather_object",
    args="object_list obj group",
    like="compat.all_gather_object",
    cases=[
        Case(
            "torch.distributed.all_gather_object(parts, 3)",
            "mint.distributed.all_gather_object(parts, 3)",
            runs=False,
            why=WHY,
        ),
        Case(
            "torch.distributed.all_gather_object(parts, 3, group=torch.distributed.new_group([0, 1]))",
            "ms_compat.all_gather_object(parts, 3, group=ms_compat.new_group([0, 1]))",
            runs=False,
            why=WHY,
        ),
    ],
)
def all_gather_object(call: Call) -> None:
    if is_world(call):
        call.set(group=None)
    else:
        call.use_like()


rule(
    "torch.distributed.broadcast_object_list",
    to="compat.broadcast_object_list",
    args="object_list src group device",
    drop="device",
    like="compat.broadcast_object_list",
    cases=[
        Case(
            "torch.distributed.broadcast_object_list(parts, src=0)",
            "ms_compat.broadcast_object_list(parts, src=0)",
            runs=False,
            why=WHY,
        ),
    ],
)

for _torch, _here in (("SUM", "SUM"), ("MAX", "MAX"), ("MIN", "MIN"), ("PRODUCT", "PROD")):
    rule(
        f"torch.distributed.ReduceOp.{_torch}",
        to=f"mindspore.ops.ReduceOp.{_here}",
        like=f"mindspore.ops.ReduceOp.{_here}",
        cases=[
            Case(
                f"torch.distributed.ReduceOp.{_torch}", f"ops.ReduceOp.{_here}", runs=False, why="a name, not a number"
            ),
        ],
    )
rule(
    "torch.distributed.ReduceOp.AVG",
    to="compat.AVERAGE",
    like="compat.AVERAGE",
    cases=[
        Case("torch.distributed.ReduceOp.AVG", "ms_compat.AVERAGE", runs=False, why="a name, not a number"),
    ],
)
rule(
    "torch.distributed.group.WORLD",
    to=WORLD,
    like=WORLD,
    cases=[
        Case(
            "torch.distributed.group.WORLD",
            "communication.GlobalComm.WORLD_COMM_GROUP",
            runs=False,
            why="a name, not a number",
        ),
    ],
)


@rule(
    "torch.multiprocessing.spawn",
    to="compat.run_as_rank",
    args="fn args nprocs join daemon start_method",
    drop="join daemon start_method",
    like="compat.run_as_rank",
    differs="the processes are started by msrun: each calls the function with its own rank",
    cases=[
        Case(
            "torch.multiprocessing.spawn(f, args=(2,), nprocs=2, join=True)",
            "ms_compat.run_as_rank(f, args=(2,), nprocs=2)",
            runs=False,
            why=WHY,
        ),
    ],
)
def spawn(call: Call) -> None:
    call.note = "msrun starts the processes: `msrun --worker_num=N --local_worker_num=N` with N as nprocs"
