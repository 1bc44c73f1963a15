"""torch.distributed: questions about the process group, collectives, and data-parallel networks."""

import contextlib
import itertools
import os

import mindspore as ms
from mindspore import Tensor, nn, ops

from .tensors import overwrite

AVERAGE = "avg"  # torch.distributed.ReduceOp.AVG
WORLD = ms.communication.GlobalComm.WORLD_COMM_GROUP
NO_MEMBER = "not a member"  # what a rank outside of a new group gets
GROUP_NUMBERS = itertools.count()


def is_communicating():
    """torch.distributed.is_initialized."""
    return ms.communication.GlobalComm.INITED


def wait_for_all(group=None):
    """torch.distributed.barrier: a sum that every rank has to contribute to (MindSpore's Barrier has no CPU kernel)."""
    all_reduce(Tensor([0.0], ms.float32), group=group).asnumpy()


class Finished:
    """What a collective with async_op=True returns: it has been waited for already."""

    def wait(self, timeout=None):
        return True

    def is_completed(self):
        return True


def new_group(ranks=None, timeout=None, backend=None, pg_options=None, **options):
    """torch.distributed.new_group: every rank calls it, and those in it get its name."""
    if ranks is None:
        return WORLD
    name = f"group_{next(GROUP_NUMBERS)}"
    if ms.communication.get_rank() not in ranks:
        return NO_MEMBER
    ms.communication.create_group(name, sorted(ranks))
    return name


def rank_in(group=None):
    """torch.distributed.get_rank: -1 outside of the group."""
    if group is None or group == WORLD:
        return ms.communication.get_rank()
    return -1 if group == NO_MEMBER else ms.communication.get_rank(group)


def group_size(group=None):
    """torch.distributed.get_world_size: -1 outside of the group."""
    if group is None or group == WORLD:
        return ms.communication.get_group_size()
    return -1 if group == NO_MEMBER else ms.communication.get_group_size(group)


def place_in(group, rank):
    """torch.distributed.get_group_rank: the place of a rank among the group's."""
    return rank if group is None or group == WORLD else ms.communication.get_group_rank_from_world_rank(rank, group)


def rank_at(group, place):
    """torch.distributed.get_global_rank, the reverse."""
    return place if group is None or group == WORLD else ms.communication.get_world_rank_from_group_rank(group, place)


def ranks_of(group=None):
    """torch.distributed.get_process_group_ranks."""
    if group is None or group == WORLD:
        return list(range(ms.communication.get_group_size()))
    return [] if group == NO_MEMBER else ms.communication.get_process_group_ranks(group)


def all_reduce(tensor, op="sum", group=None):
    """torch.distributed.all_reduce, but what every rank gets is returned; `tensor` stays as it was."""
    if group is not None and group == NO_MEMBER:
        return tensor
    if op in ("sum", "avg") and tensor.dtype in (ms.float32, ms.float16):
        total = ops.AllReduce()(tensor) if group is None else ops.AllReduce(group=group)(tensor)
        return total / group_size(group) if op == "avg" else total
    rows = gather_rows(tensor, group)  # on a CPU, AllReduce has no other types and no other operations
    reduced = {"sum": sum, "prod": multiply_all, "max": maximum_of_all, "min": minimum_of_all}[op](rows)
    return reduced.astype(tensor.dtype)


def gather_objects(value, group=None):
    """Every rank's value, in a list."""
    everyone = [None] * group_size(group)
    if group is None or group == WORLD:
        ms.mint.distributed.all_gather_object(everyone, value)
    else:
        ms.mint.distributed.all_gather_object(everyone, value, group)
    return everyone


def gather_rows(tensor, group=None):
    """Every rank's tensor, in a list; of any type and number of dimensions."""
    if group is not None and group != WORLD:  # on a CPU, AllGather has no other group
        return [Tensor(each, tensor.dtype) for each in gather_objects(tensor.asnumpy(), group)]
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


def broadcast(tensor, src=0, group=None):
    """torch.distributed.broadcast, but what rank `src` holds is returned; `tensor` stays as it was."""
    if group is not None and group == NO_MEMBER:
        return tensor
    if group is not None and group != WORLD:
        return gather_rows(tensor, group)[place_in(group, src)]
    if tensor.dtype in (ms.float32, ms.float64, ms.int32, ms.int64):
        return ops.Broadcast(src)((tensor,))[0]
    return ops.Broadcast(src)((tensor.astype(ms.float32),))[0].astype(tensor.dtype)


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """torch.distributed.all_gather: fills the list with every rank's tensor."""
    if group is None or group != NO_MEMBER:
        tensor_list[:] = gather_rows(tensor, group)
    if async_op:
        return Finished()


def gather_to(tensor, gather_list=None, dst=0, group=None, async_op=False):
    """torch.distributed.gather: fills rank `dst`'s list with every rank's tensor."""
    if group is not None and group == NO_MEMBER:
        return
    rows = gather_rows(tensor, group)
    if gather_list is not None and ms.communication.get_rank() == dst:
        gather_list[:] = rows
    if async_op:
        return Finished()


def scatter_from(tensor, scatter_list=None, src=0, group=None, async_op=False):
    """torch.distributed.scatter: rank `src`'s list, one tensor for each rank."""
    if group is not None and group == NO_MEMBER:
        return
    rows = (
        ops.stack(list(scatter_list)) if scatter_list else ops.zeros((group_size(group), *tensor.shape), tensor.dtype)
    )
    overwrite(tensor, broadcast(rows, src, group)[rank_in(group)])
    if async_op:
        return Finished()


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """torch.distributed.all_gather_into_tensor: one after another, or stacked if the output has a dimension more."""
    if group is not None and group == NO_MEMBER:
        return
    rows = gather_rows(input_tensor, group)
    stacked = output_tensor.ndim > input_tensor.ndim
    overwrite(output_tensor, ops.stack(rows) if stacked else ops.cat(rows))
    if async_op:
        return Finished()


def reduce_scatter(output, input_list, op="sum", group=None, async_op=False):
    """torch.distributed.reduce_scatter: every rank gets its own part of the reduction."""
    if group is None or group != NO_MEMBER:
        overwrite(output, all_reduce(ops.stack(list(input_list)), op, group)[rank_in(group)])
    if async_op:
        return Finished()


def reduce_scatter_tensor(output, input, op="sum", group=None, async_op=False):
    """torch.distributed.reduce_scatter_tensor."""
    if group is None or group != NO_MEMBER:
        total = all_reduce(input, op, group).reshape((group_size(group), *output.shape))
        overwrite(output, total[rank_in(group)])
    if async_op:
        return Finished()


def all_gather_object(object_list, obj, group=None):
    """torch.distributed.all_gather_object in a group: fills the list with every rank's object."""
    if group is None or group != NO_MEMBER:
        object_list[:] = gather_objects(obj, group)


def gather_object(obj, object_gather_list=None, dst=0, group=None):
    """torch.distributed.gather_object: fills rank `dst`'s list with every rank's object."""
    if group is not None and group == NO_MEMBER:
        return
    everyone = gather_objects(obj, group)
    if object_gather_list is not None and ms.communication.get_rank() == dst:
        object_gather_list[:] = everyone


def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=0, group=None):
    """torch.distributed.scatter_object_list: every rank's object from rank `src`'s list."""
    if group is None or group != NO_MEMBER:
        everyone = gather_objects(list(scatter_object_input_list or []), group)
        scatter_object_output_list[0] = everyone[place_in(group, src)][rank_in(group)]


def broadcast_object_list(object_list, src=0, group=None):
    """torch.distributed.broadcast_object_list: fills the list with rank `src`'s objects."""
    if group is None or group != NO_MEMBER:
        object_list[:] = gather_objects(list(object_list), group)[place_in(group, src)]


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
