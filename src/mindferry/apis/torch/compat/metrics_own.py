"""The base of a project's own torchmetrics metric: states that are added to by update() and read by compute()."""

import copy

import mindspore as ms
from mindspore import nn


class OwnMetric(nn.Cell):
    """torchmetrics.Metric for a class that defines update() and compute(); one process, so nothing is gathered."""

    def __init__(self, **options):
        super().__init__(auto_prefix=False)
        object.__setattr__(self, "first_states", {})
        self.last = None  # what the last call returned

    def add_state(self, name, default, dist_reduce_fx=None, persistent=False):
        self.first_states[name] = default
        setattr(self, name, self.fresh(default))

    @staticmethod
    def fresh(default):
        return default.copy() if isinstance(default, ms.Tensor) else copy.copy(default)

    def update(self, *inputs, **named):
        raise NotImplementedError

    def compute(self):
        raise NotImplementedError

    def reset(self):
        for name, default in self.first_states.items():
            setattr(self, name, self.fresh(default))

    def __call__(self, *inputs, **named):
        """Count the batch, and return its own value."""
        self.update(*inputs, **named)
        kept = {name: getattr(self, name) for name in self.first_states}
        self.reset()
        self.update(*inputs, **named)
        self.last = self.compute()
        for name, value in kept.items():
            setattr(self, name, value)
        return self.last
