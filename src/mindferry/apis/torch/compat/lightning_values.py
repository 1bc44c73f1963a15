"""What LightningModule.log() keeps: the last value for the steps, the mean (or sum, or extreme) for the epoch."""

import mindspore as ms
from mindspore import ops

from .trees import tree_leaves

REDUCTIONS = ("mean", "sum", "min", "max")


class LoggedValue:
    """One name that a hook logs, over an epoch."""

    def __init__(self, name, on_step, on_epoch, reduce_fx, prog_bar, logger, dataloader_idx):
        self.name, self.on_step, self.on_epoch = name, on_step, on_epoch
        self.reduction = reduce_fx if isinstance(reduce_fx, str) else getattr(reduce_fx, "__name__", "")
        if self.reduction not in REDUCTIONS:
            raise ValueError(f"log({name!r}): reduce_fx is one of {', '.join(REDUCTIONS)}, not {reduce_fx}")
        self.prog_bar, self.logger, self.dataloader_idx = prog_bar, logger, dataloader_idx
        self.metric, self.last, self.total, self.weight = None, None, None, 0

    def update(self, value, batch_size):
        if hasattr(value, "compute"):  # a metric, which counts for itself
            self.metric, self.last = value, getattr(value, "last", None)
            return
        value = ops.stop_gradient(value).astype(ms.float32) if isinstance(value, ms.Tensor) else float(value)
        self.last = value if isinstance(value, ms.Tensor) else ms.Tensor(value, ms.float32)
        if not self.on_epoch:
            return
        if self.reduction == "mean":
            self.weight += batch_size
            weighted = self.last * batch_size
            self.total = weighted if self.total is None else self.total + weighted
        elif self.total is None:
            self.total = self.last
        else:
            combine = {"sum": ops.add, "min": ops.minimum, "max": ops.maximum}[self.reduction]
            self.total = combine(self.total, self.last)

    def over_epoch(self):
        if self.metric is not None:
            return self.metric.compute()
        return self.total / self.weight if self.reduction == "mean" else self.total

    def full_name(self, is_step):
        """`loss_step` and `loss_epoch` where both are kept."""
        both = self.on_step and self.on_epoch
        return f"{self.name}{('_step' if is_step else '_epoch') if both else ''}{self.suffix}"

    @property
    def suffix(self):
        return "" if self.dataloader_idx is None else f"/dataloader_idx_{self.dataloader_idx}"


class LoggedValues:
    """All that is logged in one loop, until its epoch ends."""

    def __init__(self, is_training):
        self.is_training = is_training
        self.values = {}
        self.batch = None
        self.dataloader_idx = None
        self.is_stepping = False  # between the first batch of an epoch and its end

    def start_batch(self, batch, dataloader_idx=None):
        self.batch, self.dataloader_idx, self.is_stepping = batch, dataloader_idx, True

    def end_batches(self):
        self.batch, self.is_stepping = None, False

    def clear(self):
        for each in self.values.values():
            if each.metric is not None:
                each.metric.reset()
        self.values, self.batch, self.dataloader_idx, self.is_stepping = {}, None, None, False

    def keep(self, hook, name, value, prog_bar, logger, on_step, on_epoch, reduce_fx, add_dataloader_idx, batch_size):
        is_epoch_hook = hook.endswith(("_start", "_end")) and "_batch_" not in hook
        steps = self.is_training and not is_epoch_hook
        on_step = steps if on_step is None else on_step
        on_epoch = not steps if on_epoch is None else on_epoch
        index = self.dataloader_idx if add_dataloader_idx else None
        if (hook, name, index) not in self.values:
            self.values[hook, name, index] = LoggedValue(
                name, on_step, on_epoch, reduce_fx, prog_bar, logger is not False, index
            )
        self.values[hook, name, index].update(value, batch_size or length_of(self.batch))

    def metrics(self, is_step):
        """(for the loggers, for the callbacks, for the progress line)."""
        logged, seen, shown = {}, {}, {}
        for each in self.values.values():
            if not (each.on_step if is_step else each.on_epoch):
                continue
            value = each.last if is_step else each.over_epoch()
            if value is None:
                continue
            name = each.full_name(is_step)
            if each.logger:
                logged[name] = value
            if self.is_training or not is_step:
                seen[each.name + each.suffix] = seen[name] = value
            if each.prog_bar:
                shown[name] = value
        return logged, seen, shown


def length_of(batch):
    """How many samples a batch has: the first axis of its first tensor."""
    for each in tree_leaves(batch):
        if isinstance(each, ms.Tensor):
            return each.shape[0] if each.ndim else 1
    return 1


def numbers_of(metrics):
    """The values as plain numbers."""
    return {name: float(value) for name, value in metrics.items()}
