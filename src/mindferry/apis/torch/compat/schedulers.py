"""torch.optim.lr_scheduler: rates are plain numbers in param_groups, computed as torch computes them.

MindSpore's own schedulers work in float32, have no state_dict, and need optimizers that keep their rates in tensors.
"""

import math
from bisect import bisect_right
from collections import Counter

from .parts import KEEPS_OPTIMIZER_STATE, RESUMES_SCHEDULES, TAKES_EPOCHS


class LRScheduler:
    """torch.optim.lr_scheduler.LRScheduler: a subclass says the next rates in get_lr()."""

    _is_initial = False
    _unsaved = ("optimizer",)

    def __init__(self, optimizer, last_epoch=-1, verbose=False):
        self.optimizer = optimizer
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{index}] when resuming an optimizer"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        self.step()
        del self._is_initial

    if KEEPS_OPTIMIZER_STATE:

        def state_dict(self):
            return {key: value for key, value in self.__dict__.items() if key not in self._unsaved}

        def load_state_dict(self, state_dict):
            self.__dict__.update(state_dict)

    def get_last_lr(self):
        return self._last_lr

    def get_lr(self):
        raise NotImplementedError

    def rates(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    def scaled(self, factor):
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def step(self, epoch=None):
        self._step_count += 1
        self._update_lr(epoch if TAKES_EPOCHS else None)

    def _update_lr(self, epoch=None):
        self.last_epoch = epoch if TAKES_EPOCHS and epoch is not None else self.last_epoch + 1
        is_closed = TAKES_EPOCHS and epoch is not None and hasattr(self, "_get_closed_form_lr")
        self._set_rates(self._get_closed_form_lr() if is_closed else self.get_lr())

    def _set_rates(self, values):
        for group, lr in zip(self.optimizer.param_groups, values, strict=True):
            group["lr"] = lr
        self._last_lr = self.rates()


class LambdaLR(LRScheduler):
    """The first rate times a function of the epoch."""

    _unsaved = ("optimizer", "lr_lambdas")

    def __init__(self, optimizer, lr_lambda, last_epoch=-1, verbose=False):
        count = len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * count
        if len(self.lr_lambdas) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * scale(self.last_epoch) for scale, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(LambdaLR):
    """The last rate times a function of the epoch."""

    def get_lr(self):
        if self._is_initial:
            return self.rates()
        return [lr * scale(self.last_epoch) for scale, lr in zip(self.lr_lambdas, self.rates(), strict=True)]


class StepLR(LRScheduler):
    """Times gamma every step_size epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1, verbose=False):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return (
            self.rates() if self.last_epoch == 0 or self.last_epoch % self.step_size != 0 else self.scaled(self.gamma)
        )

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Times gamma at each milestone."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1, verbose=False):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return (
            self.scaled(self.gamma ** self.milestones[self.last_epoch])
            if self.last_epoch in self.milestones
            else self.rates()
        )

    if KEEPS_OPTIMIZER_STATE:

        def load_state_dict(self, state_dict):
            super().load_state_dict(state_dict)
            self.milestones = Counter(self.milestones)

    def _get_closed_form_lr(self):
        return [
            base * self.gamma ** bisect_right(sorted(self.milestones.elements()), self.last_epoch)
            for base in self.base_lrs
        ]


class ConstantLR(LRScheduler):
    """A factor until total_iters, then the full rate."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1, verbose=False):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return self.scaled(self.factor)
        return self.scaled(1.0 / self.factor) if self.last_epoch == self.total_iters else self.rates()

    def _get_closed_form_lr(self):
        return [
            base * (self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)) for base in self.base_lrs
        ]


class LinearLR(LRScheduler):
    """From start_factor to end_factor in total_iters."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1, verbose=False):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return self.scaled(self.start_factor)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self.rates()
        slope = self.end_factor - self.start_factor
        return self.scaled(1.0 + slope / (self.total_iters * self.start_factor + (self.last_epoch - 1) * slope))

    def _get_closed_form_lr(self):
        share = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + (self.end_factor - self.start_factor) * share) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Times gamma every epoch."""

    def __init__(self, optimizer, gamma, last_epoch=-1, verbose=False):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return self.rates() if self._is_initial else self.scaled(self.gamma)

    def _get_closed_form_lr(self):
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Down to zero in total_iters, along a power."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1, verbose=False):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self._is_initial or self.last_epoch > self.total_iters:
            return self.rates()
        left, before = 1.0 - self.last_epoch / self.total_iters, 1.0 - (self.last_epoch - 1) / self.total_iters
        return self.scaled((left / before) ** self.power)

    def _get_closed_form_lr(self):
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine down to eta_min in T_max, and up again."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1, verbose=False):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self._is_initial:
            return self.rates()
        if RESUMES_SCHEDULES and self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [lr + (base - self.eta_min) * rise for base, lr in zip(self.base_lrs, self.rates(), strict=True)]
        now, before = (
            1 + math.cos(math.pi * self.last_epoch / self.T_max),
            1 + math.cos(math.pi * (self.last_epoch - 1) / self.T_max),
        )
        return [now / before * (lr - self.eta_min) + self.eta_min for lr in self.rates()]

    def _get_closed_form_lr(self):
        height = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine down to eta_min, again and again, each T_mult times as long."""

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1, verbose=False):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def step(self, epoch=None):
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur % self.T_i, self.T_i * self.T_mult
        else:
            self.place(epoch)
        self.last_epoch = math.floor(epoch)
        self._set_rates(self.get_lr())

    def place(self, epoch):
        """In which restart an epoch lies, and where in it."""
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            restarts = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**restarts - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**restarts
