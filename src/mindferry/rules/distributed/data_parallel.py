"""DataParallel and DistributedDataParallel: the network itself, whose parameters average their gradients over the ranks."""

from .. import Case, rule
from .._call import Call

ARGS = "module device_ids output_device dim"
WHY = "needs several devices"


@rule("torch.nn.DataParallel", args=ARGS, differs="one process drives one device here: the wrapper goes away", cases=[
    Case("nn.DataParallel(nn.ReLU(), device_ids=[0, 1])", "nn.ReLU()", runs=False, why=WHY),
])  # fmt: skip
def data_parallel(call: Call) -> None:
    call.note = "the wrapper is gone: one process drives one device, and `.module` of the network with it"
    call.replace(call.text("module"))


@rule("torch.nn.parallel.DistributedDataParallel", to="compat.distributed_data_parallel", args=ARGS, like="compat.distributed_data_parallel",
      drop="device_ids output_device dim broadcast_buffers find_unused_parameters gradient_as_bucket_view static_graph bucket_cap_mb process_group",
      differs="gradients are averaged as they arise, in PyNative mode; there is no `.module`: the network itself comes back", cases=[
    Case("nn.parallel.DistributedDataParallel(nn.ReLU(), device_ids=[0])", "ms_compat.distributed_data_parallel(nn.ReLU())", runs=False, why=WHY),
])  # fmt: skip
def distributed_data_parallel(call: Call) -> None:
    call.note = "the network itself comes back, with hooks that average its gradients: write model for model.module"
