"""torch.distributed: questions about the process group, collectives, and data-parallel networks."""

import contextlib
import os

import mindspore as ms
from mindspore import Tensor, nn, ops

from .tensors import overwrite

AVERAGE = "avg"  # torch.distributed.ReduceOp.AVG


def is_communicating():
    """torch.distributed.is_initialized."""
    return ms.communication.GlobalComm.INITED


def wait_for_all():
    """torch.distributed.barrier: a sum that every rank has to contribute to (MindSpore's Barrier has no CPU kernel)."""
    ops.AllReduce()(Tensor([0.0], ms.float32)).asnumpy()


def all_reduce(tensor, op="sum"):
    """torch.distributed.all_reduce, but what every rank gets is returned; `tensor` stays as it was."""
    if op in ("sum", "avg") and tensor.dtype in (ms.float32, ms.float16):
        total = ops.AllReduce()(tensor)
        return total / ms.communication.get_group_size() if op == "avg" else total
    rows = gather_rows(tensor)  # on a CPU, AllReduce has no other types and no other operations
    reduced = {"sum": sum, "prod": multiply_all, "max": maximum_of_all, "min": minimum_of_all}[op](rows)
    return reduced.astype(tensor.dtype)


def gather_rows(tensor):
    """Every rank's tensor, in a list; of any type and number of dimensions."""
    sent = tensor if tensor.dtype in (ms.float32, ms.float64, ms.int32, ms.int64) else tensor.astype(ms.float32)
    rows = ops.AllGather()(sent.reshape(1, -1))
    return [rows[rank].reshape(tensor.shape).astype(tensor.dtype) for rank in range(ms.communication.get_group_size())]


def multiply_all(rows):
    result = rows[0]
    for row in rows[1:]:
        result = result * row
    return result


def maximum_of_all(rows):
    result = rows[0]
    for row in rows[1:]:
        result = ops.maximum(result, row)
    return result


def minimum_of_all(rows):
    result = rows[0]
    for row in rows[1:]:
        result = ops.minimum(result, row)
    return result


def broadcast(tensor, src=0):
    """torch.distributed.broadcast, but what rank `src` holds is returned; `tensor` stays as it was."""
    if tensor.dtype in (ms.float32, ms.float64, ms.int32, ms.int64):
        return ops.Broadcast(src)((tensor,))[0]
    return ops.Broadcast(src)((tensor.astype(ms.float32),))[0].astype(tensor.dtype)


def all_gather(tensor_list, tensor):
    """torch.distributed.all_gather: fills the list with every rank's tensor."""
    tensor_list[:] = gather_rows(tensor)


def gather_to(tensor, gather_list=None, dst=0):
    """torch.distributed.gather: fills rank `dst`'s list with every rank's tensor."""
    rows = gather_rows(tensor)
    if gather_list is not None:
        gather_list[:] = rows


def scatter_from(tensor, scatter_list=None, src=0):
    """torch.distributed.scatter: rank `src`'s list, one tensor for each rank."""
    size, rank = ms.communication.get_group_size(), ms.communication.get_rank()
    rows = ops.stack(list(scatter_list)) if scatter_list else ops.zeros((size, *tensor.shape), tensor.dtype)
    overwrite(tensor, broadcast(rows, src)[rank])


def all_gather_into_tensor(output_tensor, input_tensor):
    """torch.distributed.all_gather_into_tensor: one after another, or stacked if the output has a dimension more."""
    rows = gather_rows(input_tensor)
    stacked = output_tensor.ndim > input_tensor.ndim
    overwrite(output_tensor, ops.stack(rows) if stacked else ops.cat(rows))


def reduce_scatter(output, input_list, op="sum"):
    """torch.distributed.reduce_scatter: every rank gets its own part of the reduction."""
    overwrite(output, all_reduce(ops.stack(list(input_list)), op)[ms.communication.get_rank()])


def reduce_scatter_tensor(output, input, op="sum"):
    """torch.distributed.reduce_scatter_tensor."""
    total = all_reduce(input, op).reshape((ms.communication.get_group_size(), *output.shape))
    overwrite(output, total[ms.communication.get_rank()])


def gather_object(obj, object_gather_list=None, dst=0):
    """torch.distributed.gather_object: fills rank `dst`'s list with every rank's object."""
    everyone = [None] * ms.communication.get_group_size()
    ms.mint.distributed.all_gather_object(everyone, obj)
    if object_gather_list is not None:
        object_gather_list[:] = everyone


def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=0):
    """torch.distributed.scatter_object_list: every rank's object from rank `src`'s list."""
    everyone = [None] * ms.communication.get_group_size()
    ms.mint.distributed.all_gather_object(everyone, list(scatter_object_input_list or []))
    scatter_object_output_list[0] = everyone[src][ms.communication.get_rank()]


def broadcast_object_list(object_list, src=0):
    """torch.distributed.broadcast_object_list: fills the list with rank `src`'s objects."""
    everyone = [None] * ms.communication.get_group_size()
    ms.mint.distributed.all_gather_object(everyone, list(object_list))
    object_list[:] = everyone[src]


def run_as_rank(fn, args=(), nprocs=1):
    """torch.multiprocessing.spawn: msrun has started the processes, so this one calls `fn` with its own rank."""
    started = int(os.environ.get("RANK_SIZE", "1"))
    if started != nprocs and "RANK_SIZE" in os.environ:
        raise RuntimeError(
            f"this script asks for {nprocs} processes and msrun started {started}; give --worker_num={nprocs}"
        )
    fn(int(os.environ.get("RANK_ID", "0")), *args)


class DataParallel(nn.Cell):
    """torch.nn.DataParallel on the one device that a process drives: the network, as `.module`."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__(auto_prefix=False)  # parameters keep their names
        self.module = module
        self.set_train(module.training)

    def construct(self, *args, **kwargs):
        return self.module(*args, **kwargs)


class DistributedDataParallel(DataParallel):
    """torch.nn.parallel.DistributedDataParallel: rank 0's weights everywhere, and gradients that are averaged as they arise."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True, **options):
        super().__init__(module)
        size = ms.communication.get_group_size()

        def averaged(grad):
            return ops.AllReduce()(grad) / size

        for parameter in module.get_parameters():
            parameter.set_data(broadcast(parameter.value()))
            if parameter.requires_grad:
                parameter.register_hook(averaged)
        norms = (
            [cell for _, cell in module.cells_and_names() if hasattr(cell, "moving_mean")] if broadcast_buffers else []
        )
        self.statistics = tuple(each for cell in norms for each in (cell.moving_mean, cell.moving_variance))

    def construct(self, *args, **kwargs):
        if self.training:  # all ranks start from rank 0's running statistics
            for each in self.statistics:
                ops.assign(each, ops.Broadcast(0)((each,))[0])
        return self.module(*args, **kwargs)

    def no_sync(self):
        """Gradients are averaged as they arise: summed up later or now, the mean is the same."""
        return contextlib.nullcontext()
