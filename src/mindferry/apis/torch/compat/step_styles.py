"""What other styles of a training step need: batches for mindspore.train.Model, which takes datasets alone; a compiled update."""

import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn

from .parts import FREEZES_PARAMETERS


def as_dataset(loader, columns):
    """The loader's batches as a dataset with these columns; a dataset stays as it is."""
    if isinstance(loader, ds.Dataset):
        return loader
    return ds.GeneratorDataset(BatchRows(loader, columns), columns, shuffle=False)


class BatchRows:
    """One row a batch, read anew in every epoch; a batch may have more parts than are used."""

    def __init__(self, loader, columns):
        self.loader = loader
        self.columns = columns

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        return (tuple(each.asnumpy() for _, each in zip(self.columns, batch)) for batch in self.loader)


class NetworkWithLoss(nn.Cell):
    """nn.WithLossCell for batches of more parts: the network takes the first `count`, the loss its result and the others."""

    def __init__(self, network, loss, count):
        super().__init__(auto_prefix=False)
        self.network, self.loss, self.count = network, loss, count

    def construct(self, *batch):
        return self.loss(self.network(*batch[: self.count]), *batch[self.count :])


def scaled_train_cell(network, optimizer, loss_scale_value=65536.0, scale_factor=2, scale_window=2000, enabled=True):
    """nn.TrainOneStepWithLossScaleCell, which returns the loss alone. A CPU computes in float32 and needs no scale."""
    if not enabled or ms.get_context("device_target") == "CPU":
        return nn.TrainOneStepCell(network, optimizer)
    scale = nn.DynamicLossScaleUpdateCell(loss_scale_value, int(scale_factor), int(scale_window))
    return LossAlone(nn.TrainOneStepWithLossScaleCell(network, optimizer, scale))


class LossAlone(nn.Cell):
    """The first of what a step returns: the others tell of an overflow, and the scale."""

    def __init__(self, step):
        super().__init__(auto_prefix=False)
        self.step = step

    def construct(self, *batch):
        return self.step(*batch)[0]


def compiled_update(optimizer):
    """optimizer(grads), compiled. Learning rates may change later, other settings of the groups are compiled in."""
    if isinstance(optimizer, nn.Optimizer) or not (hasattr(optimizer, "update_group") or hasattr(optimizer, "fused")):
        return optimizer  # MindSpore's own are compiled already

    @ms.jit
    def update(*grads):  # one by one: a tuple would be compiled anew in every step
        return optimizer.construct(grads)

    if FREEZES_PARAMETERS:
        return lambda grads: update(*optimizer.without_frozen(grads))
    return lambda grads: update(*grads)
