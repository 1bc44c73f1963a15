"""Metrics of regions: how much of what is predicted and what is true is in both."""

import numpy as np

from .metrics import Metric, numbers_of
from .tensors import Calls, as_tensor


class IoU(Metric):
    """The share of both in either, a class at a time, and the mean of it over some classes."""

    def __init__(
        self,
        num_classes,
        target_class_ids,
        name=None,
        dtype=None,
        ignore_class=None,
        sparse_y_true=True,
        sparse_y_pred=True,
        axis=-1,
    ):
        super().__init__(dtype, name)
        self.num_classes, self.target_class_ids = num_classes, list(target_class_ids)
        self.ignore_class, self.axis = ignore_class, axis
        self.sparse_y_true, self.sparse_y_pred = sparse_y_true, sparse_y_pred
        self.weight_type = dtype if dtype is not None else int  # Keras counts in whole numbers unless it is told
        self.matrix = np.zeros((num_classes, num_classes))

    def update_state(self, y_true, y_pred, sample_weight=None):
        if Calls.is_rehearsal:
            return
        y_true, y_pred = numbers_of(y_true), numbers_of(y_pred)
        truth = (y_true if self.sparse_y_true else y_true.argmax(self.axis)).reshape(-1).astype(int)
        guess = (y_pred if self.sparse_y_pred else y_pred.argmax(self.axis)).reshape(-1).astype(int)
        weight = np.ones(()) if sample_weight is None else numbers_of(sample_weight).astype(self.weight_type)
        weight = np.broadcast_to(weight.reshape(-1) if weight.ndim else weight, truth.shape)
        is_known = (truth >= 0) & (truth < self.num_classes) & (guess >= 0) & (guess < self.num_classes)
        if self.ignore_class is not None:
            is_known &= truth != self.ignore_class
        np.add.at(self.matrix, (truth[is_known], guess[is_known]), weight[is_known])

    def result(self):
        both = np.diag(self.matrix)
        either = (self.matrix.sum(0) + self.matrix.sum(1) - both)[self.target_class_ids]
        shares = np.where(either > 1e-9, both[self.target_class_ids] / (either + 1e-7), 0.0)
        return as_tensor(np.float32(shares.sum() / ((either > 1e-9).sum() + 1e-7)))

    def reset_state(self):
        super().reset_state()
        self.matrix[:] = 0


class BinaryIoU(IoU):
    def __init__(self, target_class_ids=(0, 1), threshold=0.5, name=None, dtype=None):
        super().__init__(2, target_class_ids, name, dtype)
        self.threshold = threshold

    def update_state(self, y_true, y_pred, sample_weight=None):
        super().update_state(y_true, numbers_of(y_pred) >= self.threshold, sample_weight)


class MeanIoU(IoU):
    def __init__(self, num_classes, name=None, dtype=None, **settings):
        super().__init__(num_classes, range(num_classes), name, dtype, **settings)


class OneHotIoU(IoU):
    def __init__(
        self, num_classes, target_class_ids, name=None, dtype=None, ignore_class=None, sparse_y_pred=False, axis=-1
    ):
        super().__init__(num_classes, target_class_ids, name, dtype, ignore_class, False, sparse_y_pred, axis)


class OneHotMeanIoU(OneHotIoU):
    def __init__(self, num_classes, name=None, dtype=None, ignore_class=None, sparse_y_pred=False, axis=-1):
        super().__init__(num_classes, range(num_classes), name, dtype, ignore_class, sparse_y_pred, axis)
