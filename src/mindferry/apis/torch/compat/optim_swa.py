"""torch.optim.swa_utils: averages of a network's weights, and the rate that goes with them."""

import copy
import math

from mindspore import Parameter, Tensor, nn, ops

from .schedulers import LRScheduler


def get_ema_avg_fn(decay=0.999):
    """avg_fn of an exponential average."""

    def ema_update(averaged, current, num_averaged):
        return averaged * decay + current * (1 - decay)

    return ema_update


def get_swa_avg_fn():
    """avg_fn of the plain average."""

    def swa_update(averaged, current, num_averaged):
        return averaged + (current - averaged) / (num_averaged + 1)

    return swa_update


def get_ema_multi_avg_fn(decay=0.999):
    """The same for lists of parameters, changed in place."""

    def ema_update(averaged, current, num_averaged):
        for ours, theirs in zip(averaged, current, strict=True):
            ops.assign(ours, ours * decay + theirs * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn():
    """The same for lists of parameters, changed in place."""

    def swa_update(averaged, current, num_averaged):
        for ours, theirs in zip(averaged, current, strict=True):
            ops.assign(ours, ours + (theirs - ours) / (num_averaged + 1))

    return swa_update


class AveragedModel(nn.Cell):
    """torch.optim.swa_utils.AveragedModel: a copy whose parameters are averages; buffers are copied unless use_buffers."""

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        self.module = copy.deepcopy(model)
        self.n_averaged = Parameter(Tensor(0), name="n_averaged", requires_grad=False)
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def construct(self, *inputs, **options):
        return self.module(*inputs, **options)

    def update_parameters(self, model):
        count = int(self.n_averaged.value())
        averaged, copied = [], []
        for ours, theirs in zip(self.module.get_parameters(), model.get_parameters(), strict=True):
            (averaged if self.use_buffers or theirs.requires_grad else copied).append((ours, theirs))
        if count == 0:
            copied, averaged = copied + averaged, []
        for ours, theirs in copied:
            ops.assign(ours, theirs)
        if self.multi_avg_fn is not None and averaged:
            self.multi_avg_fn([ours for ours, _ in averaged], [theirs for _, theirs in averaged], count)
        else:
            average = self.avg_fn or get_swa_avg_fn()
            for ours, theirs in averaged:
                ops.assign(ours, average(ours, theirs, count))
        ops.assign(self.n_averaged, Tensor(count + 1, self.n_averaged.dtype))


def update_bn(loader, model, device=None):
    """Estimate the running statistics of batch norm layers anew, as plain averages over the batches."""
    layers = {name: cell for name, cell in model.cells_and_names() if hasattr(cell, "moving_mean")}
    seen = {name: [] for name in layers}

    def watch(name):
        def note(cell, inputs):
            x = inputs[0].swapaxes(0, 1).reshape(inputs[0].shape[1], -1)
            mean = x.mean(axis=1)
            seen[name].append((mean, ((x - mean.reshape(-1, 1)) ** 2).sum(axis=1) / (x.shape[1] - 1)))

        return note

    was_training, hooks = model.training, [cell.register_forward_pre_hook(watch(name)) for name, cell in layers.items()]
    model.set_train()
    for batch in loader if layers else ():
        model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    model.set_train(was_training)
    for hook in hooks:
        hook.remove()
    for name, cell in layers.items():
        if seen[name]:
            ops.assign(cell.moving_mean, sum(mean for mean, _ in seen[name]) / len(seen[name]))
            ops.assign(cell.moving_variance, sum(variance for _, variance in seen[name]) / len(seen[name]))


class SWALR(LRScheduler):
    """torch.optim.swa_utils.SWALR: to swa_lr in anneal_epochs."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}")
        values = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(optimizer.param_groups)
        for group, value in zip(optimizer.param_groups, values, strict=True):
            group["swa_lr"] = value
        self.anneal_epochs, self.anneal_strategy = anneal_epochs, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def share(self, epoch):
        t = max(0, min(1, epoch / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self.anneal_strategy == "cos" else t

    def get_lr(self):
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        now, before = self.share(step), self.share(step - 1)
        rates = []
        for group in self.optimizer.param_groups:
            first = group["swa_lr"] if before == 1 else (group["lr"] - before * group["swa_lr"]) / (1 - before)
            rates.append(group["swa_lr"] * now + first * (1 - now))
        return rates
