"""Lightning's callbacks: the base class, early stopping, the learning rate, and those that only show something."""

import math

import mindspore as ms

from .numbers import plain_number


class Callback:
    """lightning.pytorch.Callback: a Trainer calls these with itself, the module, and what else is said."""

    def nothing(self, trainer, pl_module, *arguments, **options):
        """What a hook does that nobody has written."""

    setup = teardown = on_exception = nothing
    on_sanity_check_start = on_sanity_check_end = on_fit_start = on_fit_end = nothing
    on_train_start = on_train_end = on_train_epoch_start = on_train_epoch_end = nothing
    on_train_batch_start = on_train_batch_end = nothing
    on_validation_start = on_validation_end = on_validation_epoch_start = on_validation_epoch_end = nothing
    on_validation_batch_start = on_validation_batch_end = nothing
    on_test_start = on_test_end = on_test_epoch_start = on_test_epoch_end = nothing
    on_test_batch_start = on_test_batch_end = nothing
    on_predict_start = on_predict_end = on_predict_epoch_start = on_predict_epoch_end = nothing
    on_predict_batch_start = on_predict_batch_end = nothing
    on_before_zero_grad = on_before_backward = on_after_backward = on_before_optimizer_step = nothing
    on_save_checkpoint = on_load_checkpoint = nothing

    @property
    def state_key(self):
        return type(self).__qualname__

    def state_dict(self):
        return {}

    def load_state_dict(self, state_dict):
        pass


class LambdaCallback(Callback):
    """Functions as hooks, by name."""

    def __init__(self, **hooks):
        for name, function in hooks.items():
            if function is not None:
                setattr(self, name, function)


class SilentCallback(Callback):
    """Progress bars, summaries and timers of devices: they show something, and change nothing."""

    def __init__(self, *arguments, **options):
        super().__init__()


class EarlyStopping(Callback):
    """Stop when a value that was logged gets no better."""

    def __init__(
        self,
        monitor,
        min_delta=0.0,
        patience=3,
        verbose=False,
        mode="min",
        strict=True,
        check_finite=True,
        stopping_threshold=None,
        divergence_threshold=None,
        check_on_train_epoch_end=None,
        log_rank_zero_only=False,
    ):
        if mode not in ("min", "max"):
            raise ValueError(f"EarlyStopping: mode is min or max, not {mode}")
        self.monitor, self.patience, self.verbose, self.mode = monitor, patience, verbose, mode
        self.min_delta = min_delta if mode == "max" else -min_delta
        self.strict, self.check_finite = strict, check_finite
        self.stopping_threshold, self.divergence_threshold = stopping_threshold, divergence_threshold
        self.after_epoch = check_on_train_epoch_end
        self.wait_count, self.stopped_epoch = 0, 0
        self.best_score = ms.Tensor(math.inf if mode == "min" else -math.inf, ms.float32)

    @property
    def state_key(self):
        return f"EarlyStopping{ {'monitor': self.monitor, 'mode': self.mode} }"

    def setup(self, trainer, pl_module, stage):
        if self.after_epoch is None:
            self.after_epoch = trainer.val_check_interval == 1.0 and trainer.check_val_every_n_epoch == 1

    def state_dict(self):
        names = ("wait_count", "stopped_epoch", "best_score", "patience")
        return {name: getattr(self, name) for name in names}

    def load_state_dict(self, state_dict):
        for name, value in state_dict.items():
            setattr(self, name, value)

    def on_train_epoch_end(self, trainer, pl_module):
        if self.after_epoch:
            self.check(trainer)

    def on_validation_end(self, trainer, pl_module):
        if not self.after_epoch and trainer.state.fn == "fit" and not trainer.sanity_checking:
            self.check(trainer)

    def check(self, trainer):
        known = trainer.callback_metrics
        if trainer.fast_dev_run:
            return
        if self.monitor not in known:
            if self.strict:
                names = ", ".join(known)
                raise RuntimeError(f"early stopping watches {self.monitor}, which is not logged; these are: {names}")
            return
        reason = self.reason_to_stop(float(known[self.monitor]))
        if reason:
            trainer.should_stop, self.stopped_epoch = True, trainer.current_epoch
            if self.verbose:
                print(f"{self.monitor} {reason}: training stops")

    def is_better(self, value, than):
        return value < than if self.mode == "min" else value > than

    def reason_to_stop(self, current):
        if self.check_finite and not math.isfinite(current):
            return "is not finite"
        if self.stopping_threshold is not None and self.is_better(current, self.stopping_threshold):
            return "has reached its threshold"
        if self.divergence_threshold is not None and self.is_better(-current, -self.divergence_threshold):
            return "has diverged"
        if self.is_better(current - self.min_delta, float(self.best_score)):
            self.best_score, self.wait_count = ms.Tensor(current, ms.float32), 0
            return ""
        self.wait_count += 1
        return f"has not improved {self.wait_count} times" if self.wait_count >= self.patience else ""


class LearningRateMonitor(Callback):
    """The learning rates go to the loggers: lr-Adam, or lr-Adam/pg1 and so on for several groups."""

    def __init__(self, logging_interval=None, log_momentum=False, log_weight_decay=False):
        self.logging_interval = logging_interval
        self.log_momentum, self.log_weight_decay = log_momentum, log_weight_decay
        self.lrs = {}

    def on_train_start(self, trainer, pl_module):
        self.lrs = {name: [] for name in self.rates(trainer, "any")}

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        if self.logging_interval != "epoch" and trainer.should_log_step(trainer.batches_that_stepped):
            self.write(trainer, "any" if self.logging_interval == "step" else "step")

    def on_train_epoch_start(self, trainer, pl_module):
        if self.logging_interval != "step":
            self.write(trainer, "any" if self.logging_interval == "epoch" else "epoch")

    def write(self, trainer, interval):
        rates = self.rates(trainer, interval)
        for name, value in rates.items():
            self.lrs.setdefault(name, []).append(value)
        trainer.callback_metrics.update({name: ms.Tensor(rate, ms.float32) for name, rate in rates.items()})
        for logger in trainer.loggers:
            logger.log_metrics(rates, trainer.batches_that_stepped)

    def rates(self, trainer, interval):
        """Of the optimizers that a scheduler of this interval drives, and of those without one."""
        driven = {id(each.scheduler.optimizer): each for each in trainer.lr_scheduler_configs}
        found = {}
        for index, optimizer in enumerate(trainer.optimizers):
            config = driven.get(id(optimizer))
            if config is not None and interval not in ("any", config.interval):
                continue
            name = config.name if config is not None and config.name else f"lr-{type(optimizer).__name__}"
            names = [type(each).__name__ for each in trainer.optimizers[:index]]
            if names.count(type(optimizer).__name__):
                name = f"{name}-{names.count(type(optimizer).__name__)}"
            groups = optimizer.param_groups
            for number, group in enumerate(groups, 1):
                label = f"{name}/{group.get('name', f'pg{number}')}" if len(groups) > 1 else name
                found[label] = plain_number(group["lr"])
                if self.log_momentum:
                    found[f"{label}-momentum"] = group.get("momentum", group.get("betas", (0,))[0])
                if self.log_weight_decay:
                    found[f"{label}-weight_decay"] = group.get("weight_decay", 0)
        return found
