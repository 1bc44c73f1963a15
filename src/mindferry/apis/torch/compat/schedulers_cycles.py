"""Schedulers that move momentum with the rate, watch a metric, or drive other schedulers."""

import math
from bisect import bisect_right

from .parts import KEEPS_OPTIMIZER_STATE
from .schedulers import LRScheduler


def each_group(optimizer, value):
    """One value for each parameter group."""
    count = len(optimizer.param_groups)
    values = list(value) if isinstance(value, (list, tuple)) else [value] * count
    if len(values) != count:
        raise ValueError(f"expected {count} values, one for each parameter group, got {len(values)}")
    return values


class MomentumScheduler(LRScheduler):
    """A scheduler that sets momentum too: Adam's is its first beta."""

    def begin_momentum(self, lowest, highest, last_epoch):
        defaults = self.optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.base_momentums, self.max_momentums = (
            each_group(self.optimizer, lowest),
            each_group(self.optimizer, highest),
        )
        if last_epoch == -1:
            self.set_momentum(self.max_momentums)
            for group, low, high in zip(
                self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
            ):
                group["base_momentum"], group["max_momentum"] = low, high

    def set_momentum(self, values):
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            if "betas" in self.optimizer.defaults:
                group["betas"] = (value, *group["betas"][1:])
            else:
                group["momentum"] = value


class CyclicLR(MomentumScheduler):
    """Up and down between two rates."""

    _unsaved = ("optimizer", "custom_scale")

    def __init__(
        self,
        optimizer,
        base_lr,
        max_lr,
        step_size_up=2000,
        step_size_down=None,
        mode="triangular",
        gamma=1.0,
        scale_fn=None,
        scale_mode="cycle",
        cycle_momentum=True,
        base_momentum=0.8,
        max_momentum=0.9,
        last_epoch=-1,
        verbose=False,
    ):
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.optimizer = optimizer
        lowest, self.max_lrs = each_group(optimizer, base_lr), each_group(optimizer, max_lr)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, lowest, strict=True):
                group["lr"] = lr
        down = float(step_size_up if step_size_down is None else step_size_down)
        self.total_size = float(step_size_up) + down
        self.step_ratio = float(step_size_up) / self.total_size
        self.mode, self.gamma, self.custom_scale, self.cycle_momentum = mode, gamma, scale_fn, cycle_momentum
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        if cycle_momentum:
            self.begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest

    def scale_fn(self, x):
        if self.custom_scale is not None:
            return self.custom_scale(x)
        return {"triangular": 1.0, "triangular2": 1 / 2.0 ** (x - 1)}.get(self.mode, self.gamma**x)

    def get_lr(self):
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            pairs = zip(self.base_momentums, self.max_momentums, strict=True)
            self.set_momentum([high - (high - low) * height * scale for low, high in pairs])
        return [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]


class OneCycleLR(MomentumScheduler):
    """Up to max_lr and down to almost nothing, once."""

    def __init__(
        self,
        optimizer,
        max_lr,
        total_steps=None,
        epochs=None,
        steps_per_epoch=None,
        pct_start=0.3,
        anneal_strategy="cos",
        cycle_momentum=True,
        base_momentum=0.85,
        max_momentum=0.95,
        div_factor=25.0,
        final_div_factor=1e4,
        three_phase=False,
        last_epoch=-1,
        verbose=False,
    ):
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.optimizer, self.anneal_strategy, self.cycle_momentum = optimizer, anneal_strategy, cycle_momentum
        self.total_steps = total_steps if total_steps is not None else epochs * steps_per_epoch
        rise, end = float(pct_start * self.total_steps) - 1, self.total_steps - 1
        up, heavy, light = ("initial_lr", "max_lr"), "max_momentum", "base_momentum"
        self.phases = [(rise, *up, heavy, light), (end, "max_lr", "min_lr", light, heavy)]
        if three_phase:
            middle = float(2 * pct_start * self.total_steps) - 2
            self.phases = [
                (rise, *up, heavy, light),
                (middle, *up[::-1], light, heavy),
                (end, "initial_lr", "min_lr", heavy, heavy),
            ]
        if last_epoch == -1:
            for group, peak in zip(optimizer.param_groups, each_group(optimizer, max_lr), strict=True):
                group["initial_lr"], group["max_lr"] = peak / div_factor, peak
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            self.begin_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def between(self, start, end, share):
        if self.anneal_strategy == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)
        return (end - start) * share + start

    def get_lr(self):
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"Tried to step {self.last_epoch} times. The specified number of total steps is {self.total_steps}"
            )
        ends = [phase[0] for phase in self.phases]
        index = min(sum(self.last_epoch > end for end in ends), len(ends) - 1)
        begin, keys = ends[index - 1] if index else 0.0, self.phases[index][1:]
        share = (self.last_epoch - begin) / (ends[index] - begin)
        groups = self.optimizer.param_groups
        if self.cycle_momentum:
            self.set_momentum([self.between(group[keys[2]], group[keys[3]], share) for group in groups])
        return [self.between(group[keys[0]], group[keys[1]], share) for group in groups]


class ReduceLROnPlateau(LRScheduler):
    """Times factor when a metric has stopped improving."""

    def __init__(
        self,
        optimizer,
        mode="min",
        factor=0.1,
        patience=10,
        threshold=1e-4,
        threshold_mode="rel",
        cooldown=0,
        min_lr=0,
        eps=1e-8,
        verbose=False,
    ):
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = threshold, threshold_mode, cooldown, eps
        self.min_lrs, self.last_epoch = each_group(optimizer, min_lr), 0
        self.best = math.inf if mode == "min" else -math.inf
        self.cooldown_counter, self.num_bad_epochs, self._last_lr = 0, 0, self.rates()

    @property
    def in_cooldown(self):
        return self.cooldown_counter > 0

    def is_better(self, value, best):
        sign = -1 if self.mode == "min" else 1
        limit = best * (1.0 + sign * self.threshold) if self.threshold_mode == "rel" else best + sign * self.threshold
        return value < limit if self.mode == "min" else value > limit

    def step(self, metrics, epoch=None):
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, smallest in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
                lr = max(group["lr"] * self.factor, smallest)
                if group["lr"] - lr > self.eps:
                    group["lr"] = lr
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self.rates()


class ComposedScheduler(LRScheduler):
    """The saved state of a scheduler that drives others."""

    _unsaved = ("optimizer", "_schedulers")

    if KEEPS_OPTIMIZER_STATE:

        def state_dict(self):
            return {**super().state_dict(), "_schedulers": [each.state_dict() for each in self._schedulers]}

        def load_state_dict(self, state_dict):
            self.__dict__.update({key: value for key, value in state_dict.items() if key != "_schedulers"})
            for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
                scheduler.load_state_dict(state)


class SequentialLR(ComposedScheduler):
    """One scheduler after the other, each from its milestone."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1, verbose=False):
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"{len(schedulers)} schedulers need {len(schedulers) - 1} milestones, got {len(milestones)}"
            )
        self.optimizer, self._schedulers, self._milestones, self.last_epoch = (
            optimizer,
            schedulers,
            milestones,
            last_epoch + 1,
        )
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        self.undo(self)
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def undo(self, scheduler):
        """Take back the step that each scheduler made when it was built."""
        for each in getattr(scheduler, "_schedulers", ()):
            self.undo(each)
        if not hasattr(scheduler, "_schedulers"):
            scheduler.last_epoch -= 1

    def step(self):
        self.last_epoch += 1
        index = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[index]
        if index > 0 and self._milestones[index - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(ComposedScheduler):
    """Several schedulers at once: their factors multiply."""

    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        self._schedulers, self.optimizer = schedulers, optimizer or schedulers[0].optimizer
        self._last_lr = self.rates()

    def step(self):
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self.rates()
