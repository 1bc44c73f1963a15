"""DataParallel and DistributedDataParallel: a cell that holds the network, and averages its gradients over the ranks."""

from ... import Case, rule
from ..._call import Call

ARGS = "module device_ids output_device dim"
WHY = "needs several processes; tests/launch trains with two"


@rule(
    "torch.nn.DataParallel",
    to="compat.DataParallel",
    args=ARGS,
    like="compat.DataParallel",
    drop="device_ids output_device dim",
    differs="one process drives one device: it only keeps `.module`; for several devices use DistributedDataParallel",
    cases=[
        Case("nn.DataParallel(nn.ReLU(), device_ids=[0, 1])", "nn.ReLU()", runs=False, why=WHY),
    ],
)
def data_parallel(call: Call) -> None:
    call.note = "one process drives one device in MindSpore; for several, write DistributedDataParallel and start the script with msrun"
    if "module" not in call.reading.symbols.mentioned:
        call.replace(call.text("module"))


@rule(
    "torch.nn.parallel.data_parallel",
    args="module inputs device_ids output_device dim module_kwargs",
    differs="one process drives one device: the network is called as it is",
    cases=[
        Case("nn.parallel.data_parallel(nn.ReLU(), x, [0, 1])", "nn.ReLU()(x)", runs=False, why=WHY),
        Case("nn.parallel.data_parallel(nn.ReLU(), (x,), module_kwargs=None)", "nn.ReLU()(*(x,))", runs=False, why=WHY),
    ],
)
def call_in_parallel(call: Call) -> None:
    if not (call.has("module") and call.has("inputs")) or call.literal("module_kwargs", None) is not None:
        call.leave("the arguments of the network can't be told", "call the network itself: net(inputs)")
        return
    call.note = "one process drives one device in MindSpore; for several, write DistributedDataParallel and start the script with msrun"
    is_tuple = call.kind("inputs").kind == "tuple"
    call.replace(f"{call.text('module')}({'*' if is_tuple else ''}{call.text('inputs')})")


rule(
    "torch.nn.parallel.DistributedDataParallel",
    to="compat.DistributedDataParallel",
    args=ARGS,
    like="compat.DistributedDataParallel",
    drop="device_ids output_device dim find_unused_parameters gradient_as_bucket_view static_graph bucket_cap_mb process_group",
    differs="every parameter that needs a gradient must get one on every rank",
    cases=[
        Case(
            "nn.parallel.DistributedDataParallel(nn.ReLU(), device_ids=[0])",
            "ms_compat.DistributedDataParallel(nn.ReLU())",
            runs=False,
            why=WHY,
        ),
        Case(
            "nn.parallel.DistributedDataParallel(nn.ReLU(), broadcast_buffers=False, find_unused_parameters=True)",
            "ms_compat.DistributedDataParallel(nn.ReLU(), broadcast_buffers=False)",
            runs=False,
            why=WHY,
        ),
    ],
)
