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
