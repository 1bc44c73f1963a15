"""The base of schedules for projects that start them once and call step() without an epoch. schedulers.py has all of it."""


class ShortLRScheduler:
    """A learning rate that changes with every step(): get_lr() says the next one of each parameter group."""

    def __init__(self, optimizer, last_epoch=-1, verbose=False):
        self.optimizer, self.last_epoch = optimizer, -1
        self.base_lrs = [group.setdefault("initial_lr", group["lr"]) for group in optimizer.param_groups]
        self._is_initial = True
        self.step()
        self._is_initial = False

    def get_last_lr(self):
        return self._last_lr

    def rates(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    def scaled(self, factor):
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def step(self):
        self.last_epoch += 1
        for group, lr in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = lr
        self._last_lr = self.rates()
