"""lightning.pytorch.callbacks.ModelCheckpoint: which checkpoints are written, kept and called best."""

import math
import os
import re

import mindspore as ms

from .lightning_callbacks import Callback
from .lightning_values import numbers_of


class ModelCheckpoint(Callback):
    """Writes a checkpoint after each epoch or every so many steps, and keeps the best ones."""

    CHECKPOINT_NAME_LAST, FILE_EXTENSION = "last", ".ckpt"

    def __init__(
        self,
        dirpath=None,
        filename=None,
        monitor=None,
        verbose=False,
        save_last=None,
        save_top_k=1,
        save_on_exception=False,
        save_weights_only=False,
        mode="min",
        auto_insert_metric_name=True,
        every_n_train_steps=None,
        train_time_interval=None,
        every_n_epochs=None,
        save_on_train_epoch_end=None,
        enable_version_counter=True,
    ):
        if mode not in ("min", "max"):
            raise ValueError(f"ModelCheckpoint: mode is min or max, not {mode}")
        if monitor is None and save_top_k not in (-1, 0, 1):
            raise ValueError(f"ModelCheckpoint: save_top_k={save_top_k} needs a value to monitor")
        if train_time_interval is not None:
            raise NotImplementedError("ModelCheckpoint: give every_n_train_steps in place of train_time_interval")
        self.dirpath = os.path.realpath(os.path.expanduser(dirpath)) if dirpath else None
        self.filename, self.monitor, self.verbose, self.mode = filename, monitor, verbose, mode
        self.save_last, self.save_top_k, self.save_weights_only = save_last, save_top_k, save_weights_only
        self.save_on_exception = save_on_exception
        self.auto_insert_metric_name = auto_insert_metric_name
        has_interval = every_n_train_steps is not None or every_n_epochs is not None
        self.every_n_train_steps = every_n_train_steps or 0
        self.every_n_epochs = (every_n_epochs or 0) if has_interval else 1
        self.after_epoch = save_on_train_epoch_end
        self.enable_version_counter = enable_version_counter
        self.best_k_models, self.kth_best_model_path = {}, ""
        self.best_model_path, self.last_model_path = "", ""
        self.best_model_score = self.current_score = None  # tensors, as in Lightning
        self.last_step, self.last_saved = 0, ""
        self.is_waiting = False  # for validation, which logs the value that is monitored

    @property
    def state_key(self):
        return f"ModelCheckpoint{ {'monitor': self.monitor, 'mode': self.mode, 'steps': self.every_n_train_steps} }"

    def state_dict(self):
        names = (
            "best_model_score best_model_path current_score best_k_models kth_best_model_path last_model_path dirpath"
        )
        return {name: getattr(self, name) for name in names.split()}

    def load_state_dict(self, state_dict):
        for name, value in state_dict.items():
            if name != "dirpath" and (state_dict.get("dirpath") == self.dirpath or name == "best_model_path"):
                setattr(self, name, value)

    def setup(self, trainer, pl_module, stage):
        if self.dirpath is None:
            self.dirpath = os.path.join(trainer.log_dir or trainer.default_root_dir, "checkpoints")

    def is_idle(self, trainer):
        return (
            bool(trainer.fast_dev_run)
            or trainer.state.fn != "fit"
            or trainer.sanity_checking
            or self.last_step == trainer.global_step
        )

    def saves_after_epoch(self, trainer):
        """On the training epoch's end, or on that of validation, where the value comes from."""
        if self.after_epoch is not None:
            return self.after_epoch
        if trainer.check_val_every_n_epoch != 1:
            return False
        if not sum(trainer.num_val_batches):
            return True
        return trainer.val_check_interval == 1.0

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if not self.every_n_train_steps or trainer.global_step % self.every_n_train_steps or self.is_idle(trainer):
            return
        is_stale = trainer.is_last_batch and trainer.validates_this_epoch() and not self.saves_after_epoch(trainer)
        if self.monitor is not None and (is_stale or self.monitor not in trainer.callback_metrics):
            self.is_waiting = True
        else:
            self.save_both(trainer)

    def on_train_epoch_end(self, trainer, pl_module):
        if not self.is_idle(trainer) and self.saves_after_epoch(trainer):
            self.save_epoch(trainer)

    def on_validation_end(self, trainer, pl_module):
        if self.is_idle(trainer) or self.saves_after_epoch(trainer):
            return
        if self.is_waiting:
            self.is_waiting = False
            self.save_both(trainer)
        else:
            self.save_epoch(trainer)

    def on_exception(self, trainer, pl_module, exception):
        if self.save_on_exception and not self.is_idle(trainer):
            self.write(trainer, self.format_checkpoint_name(self.known_values(trainer)))

    def on_train_end(self, trainer, pl_module):
        if self.save_last and not self.last_saved:
            self.save_last_one(trainer)

    def save_epoch(self, trainer):
        if self.every_n_epochs and (trainer.current_epoch + 1) % self.every_n_epochs == 0:
            self.save_best(trainer)
        if self.last_step == trainer.global_step:
            self.save_last_one(trainer)

    def save_both(self, trainer):
        self.save_best(trainer)
        self.save_last_one(trainer)

    def known_values(self, trainer):
        known = numbers_of(trainer.callback_metrics)
        return {
            **known,
            "epoch": int(known.get("epoch", trainer.current_epoch)),
            "step": int(known.get("step", trainer.global_step)),
        }

    def save_best(self, trainer):
        if self.save_top_k == 0:
            return
        known = self.known_values(trainer)
        if self.monitor is None:
            path = self.free_path(known, self.best_model_path)
            previous, self.best_model_path = self.best_model_path, path
            self.write(trainer, path)
            if self.save_top_k == 1 and previous and previous != path:
                os.remove(previous)
            return
        if self.monitor not in known:
            if trainer.has_validated:
                raise RuntimeError(f"ModelCheckpoint watches {self.monitor}, which is not logged")
            return
        if self.is_among_best(known[self.monitor]):
            self.save_monitored(trainer, known)

    def is_among_best(self, current):
        if self.save_top_k == -1 or len(self.best_k_models) < self.save_top_k:
            return True
        worst = self.best_k_models[self.kth_best_model_path]
        return current < worst if self.mode == "min" else current > worst

    def save_monitored(self, trainer, known):
        current = known[self.monitor]
        if math.isnan(current):
            current = math.inf if self.mode == "min" else -math.inf
        count = len(self.best_k_models) + 1 if self.save_top_k == -1 else self.save_top_k
        dropped = ""
        if len(self.best_k_models) == count:
            dropped = self.kth_best_model_path
            self.best_k_models.pop(dropped)
        path = self.free_path(known, dropped)
        self.best_k_models[path] = current
        self.current_score = ms.Tensor(current, ms.float32)
        worst, best = (max, min) if self.mode == "min" else (min, max)
        if len(self.best_k_models) == count:
            self.kth_best_model_path = worst(self.best_k_models, key=self.best_k_models.get)
        self.best_model_path = best(self.best_k_models, key=self.best_k_models.get)
        self.best_model_score = ms.Tensor(self.best_k_models[self.best_model_path], ms.float32)
        if self.verbose:
            print(f"epoch {known['epoch']}, step {known['step']}: {self.monitor} is {current:.5f}, saved to {path}")
        self.write(trainer, path)
        if dropped and dropped != path and os.path.exists(dropped):
            os.remove(dropped)

    def save_last_one(self, trainer):
        if not self.save_last:
            return
        path = os.path.join(self.dirpath, self.CHECKPOINT_NAME_LAST + self.FILE_EXTENSION)
        self.last_model_path = path
        self.write(trainer, path)

    def write(self, trainer, path):
        trainer.save_checkpoint(path, self.save_weights_only)
        self.last_step, self.last_saved = trainer.global_step, path

    def free_path(self, known, own):
        """The file's name; -v1 and so on where another is there already."""
        path, number = self.format_checkpoint_name(known), 1
        while self.enable_version_counter and os.path.exists(path) and path != own:
            path, number = self.format_checkpoint_name(known, version=number), number + 1
        return path

    def format_checkpoint_name(self, metrics, filename=None, version=None):
        """`{epoch}-{val_loss:.2f}` is `epoch=3-val_loss=0.25.ckpt`."""
        text = filename or self.filename or "{epoch}-{step}"
        metrics = dict(metrics)
        for name in sorted(set(re.findall(r"\{([^}:]*)", text)), key=len, reverse=True):
            metrics.setdefault(name, 0)
            label = f"{name}=" if self.auto_insert_metric_name else ""
            text = re.sub(rf"\{{{re.escape(name)}(?=[:}}])", lambda _, n=name, t=label: f"{t}{{0[{n}]", text)
        name = text.format(metrics) + (f"-v{version}" if version is not None else "") + self.FILE_EXTENSION
        return os.path.join(self.dirpath, name) if self.dirpath else name
