"""torch.distributed's questions about the process group."""

import mindspore as ms
from mindspore import Tensor, ops


def is_communicating():
    """torch.distributed.is_initialized."""
    return ms.communication.GlobalComm.INITED


def wait_for_all():
    """torch.distributed.barrier: a sum that every rank has to contribute to (MindSpore's Barrier has no CPU kernel)."""
    ops.AllReduce()(Tensor([0.0], ms.float32)).asnumpy()


def distributed_data_parallel(module, device_ids=None, output_device=None, dim=0, **options):
    """torch.nn.parallel.DistributedDataParallel: rank 0's weights everywhere, and gradients that are averaged as they arise."""
    if not is_communicating():
        return module
    size = ms.communication.get_group_size()

    def averaged(grad):
        return ops.AllReduce()(grad) / size

    for parameter in module.get_parameters():
        parameter.set_data(ops.Broadcast(0)((parameter.value(),))[0])
        if parameter.requires_grad:
            parameter.register_hook(averaged)
    return module
