"""Mixed precision: loss scaling on the gradients that parameters keep, and networks that are cast."""

import contextlib

import mindspore as ms
from mindspore import amp, ops

from .gradients import apply_gradients


class GradScaler:
    """torch.amp.GradScaler: scales the loss, takes the scale out of the gradients, and skips a step that overflowed."""

    def __init__(
        self,
        init_scale=65536.0,
        growth_factor=2.0,
        backoff_factor=0.5,
        growth_interval=2000,
        enabled=True,
        scales_on_cpu=False,
    ):
        self.growth_factor, self.backoff_factor, self.growth_interval = growth_factor, backoff_factor, growth_interval
        # torch's is off without a GPU
        self.enabled = enabled and (scales_on_cpu or ms.get_context("device_target") != "CPU")
        self.current, self.good_steps = float(init_scale), 0
        self.unscaled, self.overflowed = [], False

    def scale(self, outputs):
        return outputs * self.current if self.enabled else outputs

    def unscale_(self, optimizer):
        if not self.enabled or any(optimizer is each for each in self.unscaled):
            return
        self.unscaled.append(optimizer)
        for parameter in optimizer.parameters:
            grad = getattr(parameter, "grad", None)
            if grad is not None:
                parameter.grad = grad / self.current
                self.overflowed = self.overflowed or not bool(ops.isfinite(parameter.grad).all())

    def step(self, optimizer):
        self.unscale_(optimizer)
        return None if self.overflowed else apply_gradients(optimizer)

    def update(self, new_scale=None):
        if self.enabled:
            self.good_steps = 0 if self.overflowed else self.good_steps + 1
            if new_scale is not None:
                self.current = float(new_scale)
            elif self.overflowed:
                self.current *= self.backoff_factor
            elif self.good_steps == self.growth_interval:
                self.current, self.good_steps = self.current * self.growth_factor, 0
        self.unscaled, self.overflowed = [], False

    def get_scale(self):
        return self.current if self.enabled else 1.0

    def is_enabled(self):
        return self.enabled

    def state_dict(self):
        return {"scale": self.current, "_growth_tracker": self.good_steps}

    def load_state_dict(self, state_dict):
        self.current, self.good_steps = state_dict["scale"], state_dict["_growth_tracker"]


def mixed_precision(net, dtype=ms.float16, enabled=True):
    """torch.autocast for a network: operators are cast by their kind, from the first call on. A CPU computes in float32."""
    is_half = enabled and dtype != ms.float32 and ms.get_context("device_target") != "CPU"
    if is_half and not getattr(net, "has_mixed_precision", False):
        amp.auto_mixed_precision(net, "auto", dtype)
        net.has_mixed_precision = True
    return net


class Autocast(contextlib.ContextDecorator):
    """torch.autocast as a value, `partial(autocast, "cuda")`: its blocks and functions run in float32."""

    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *reason):
        return False
