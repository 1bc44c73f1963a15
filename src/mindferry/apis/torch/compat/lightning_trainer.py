"""lightning.pytorch.Trainer on MindSpore: sets up modules, data and callbacks, runs the loops, keeps what is logged."""

import math
import os
import random
import types

import mindspore as ms
import numpy as np

from .host_numbers import host_numbers
from .layers_module import in_training
from .layers_state import load_state_dict, state_dict
from .lightning_callbacks import EarlyStopping
from .lightning_checkpoint import ModelCheckpoint
from .lightning_loggers import CSVLogger, SilentLogger
from .lightning_loops import CombinedLoader, EvaluationLoop, FitLoop, PredictionLoop, limit_of, loader_length
from .lightning_module import LightningDataModule
from .lightning_optimizers import OptimizerHandle, configured_optimizers
from .lightning_options import refuse_options
from .lightning_values import LoggedValues, numbers_of
from .saving import load, save
from .settings import set_deterministic


class Trainer:
    """Runs a LightningModule's steps and hooks in Lightning's order, in one process and in float32."""

    def __init__(
        self,
        *,
        logger=None,
        callbacks=None,
        fast_dev_run=False,
        max_epochs=None,
        min_epochs=None,
        max_steps=-1,
        min_steps=None,
        limit_train_batches=1.0,
        limit_val_batches=1.0,
        limit_test_batches=1.0,
        limit_predict_batches=1.0,
        overfit_batches=0.0,
        val_check_interval=None,
        check_val_every_n_epoch=1,
        num_sanity_val_steps=2,
        log_every_n_steps=None,
        enable_checkpointing=True,
        enable_progress_bar=True,
        accumulate_grad_batches=1,
        gradient_clip_val=None,
        gradient_clip_algorithm=None,
        deterministic=False,
        reload_dataloaders_every_n_epochs=0,
        default_root_dir=None,
        **options,
    ):
        refuse_options(options)
        if deterministic is True:
            set_deterministic(True)
        limits = [limit_train_batches, limit_val_batches, limit_test_batches, limit_predict_batches]
        if overfit_batches:
            limits[:2] = [overfit_batches, overfit_batches]
        if fast_dev_run:
            limits, max_epochs, max_steps = [int(fast_dev_run)] * 4, 1, int(fast_dev_run)
            num_sanity_val_steps, val_check_interval, check_val_every_n_epoch = 0, 1.0, 1
            logger = False if logger is False else SilentLogger()
        self.limit_train_batches, self.limit_val_batches, self.limit_test_batches, self.limit_predict_batches = [
            1.0 if each is None else each for each in limits
        ]
        self.fast_dev_run, self.max_steps, self.min_steps = fast_dev_run, max_steps, min_steps
        self.max_epochs = (1000 if max_steps == -1 else -1) if max_epochs is None else max_epochs
        self.min_epochs = 1 if min_epochs is None and min_steps is not None else min_epochs
        self.val_check_interval = 1.0 if val_check_interval is None else val_check_interval
        self.check_val_every_n_epoch = check_val_every_n_epoch
        self.num_sanity_val_steps = {None: 2, -1: math.inf}.get(num_sanity_val_steps, num_sanity_val_steps)
        self.log_every_n_steps = 50 if log_every_n_steps is None else log_every_n_steps
        self.is_verbose = enable_progress_bar is not False
        self.accumulate_grad_batches = accumulate_grad_batches
        self.gradient_clip_val, self.gradient_clip_algorithm = gradient_clip_val, gradient_clip_algorithm
        self.reload_dataloaders_every_n_epochs = reload_dataloaders_every_n_epochs
        self.default_root_dir = os.fspath(default_root_dir or os.getcwd())
        self.loggers = [CSVLogger(self.default_root_dir)] if logger in (None, True) else [logger] if logger else []
        if isinstance(logger, (list, tuple)):
            self.loggers = list(logger)
        self.callbacks = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks] if callbacks else []
        if enable_checkpointing is not False and not fast_dev_run and not self.checkpoint_callbacks:
            self.callbacks.append(ModelCheckpoint())
        self.callbacks.sort(key=lambda each: isinstance(each, ModelCheckpoint))  # they come last
        self.state = types.SimpleNamespace(fn=None, stage=None, status="initializing")
        self.phase = ""  # what runs now: train, sanity_check, validate, test, predict
        self.should_stop = self.has_validated = False
        self.current_epoch = self.epochs_run = self.global_step = self.batches_that_stepped = 0
        self.batch_idx = self.total_batch_idx = -1
        self.is_last_batch = False
        self.lightning_module = self.datamodule = None
        self.optimizers, self.handles, self.lr_scheduler_configs = [], [], []
        self.given, self.loaders = {}, {}
        self.train_dataloader, self.num_training_batches, self.val_check_batch = None, math.inf, math.inf
        self.num_val_batches = []
        self.kept_by = {kind: LoggedValues(kind == "train") for kind in ("train", "val", "test")}
        self.kept = self.kept_by["train"]
        self.known, self.logged_metrics, self.progress_bar_metrics = {}, {}, {}

    is_global_zero, world_size, global_rank, local_rank, num_devices, num_nodes = True, 1, 0, 0, 1, 1

    @property
    def checkpoint_callbacks(self):
        return [each for each in self.callbacks if isinstance(each, ModelCheckpoint)]

    @property
    def checkpoint_callback(self):
        return next(iter(self.checkpoint_callbacks), None)

    @property
    def early_stopping_callback(self):
        return next((each for each in self.callbacks if isinstance(each, EarlyStopping)), None)

    @property
    def model(self):
        return self.lightning_module

    @property
    def logger(self):
        return self.loggers[0] if self.loggers else None

    @property
    def log_dir(self):
        return self.logger.log_dir if self.loggers and self.logger.save_dir is not None else self.default_root_dir

    @property
    def sanity_checking(self):
        return self.phase == "sanity_check"

    @property
    def training(self):
        return self.phase == "train"

    @property
    def validating(self):
        return self.phase == "validate"

    @property
    def testing(self):
        return self.phase == "test"

    @property
    def predicting(self):
        return self.phase == "predict"

    @property
    def val_dataloaders(self):
        loaders = self.loaders.get("val", ([], []))[0]
        return loaders[0] if len(loaders) == 1 else loaders

    @property
    def callback_metrics(self):
        """All values that callbacks may watch, those of the running loop included."""
        self.known.update(self.kept.metrics(self.kept.is_stepping)[1])
        return self.known

    @property
    def estimated_stepping_batches(self):
        """How many optimizer steps fit() will make."""
        if self.max_epochs == -1:
            return math.inf if self.max_steps == -1 else self.max_steps
        if self.train_dataloader is None:
            self.load_train_data()
        if self.num_training_batches == math.inf:
            return self.max_steps
        steps = math.ceil(self.num_training_batches / self.accumulate_grad_batches) * max(self.max_epochs, 1)
        return steps if self.max_steps == -1 else min(steps, self.max_steps)

    def fit(self, model, train_dataloaders=None, val_dataloaders=None, datamodule=None, ckpt_path=None, **options):
        self.should_stop = False
        self.run("fit", model, {"train": train_dataloaders, "val": val_dataloaders}, datamodule, ckpt_path)

    def validate(self, model=None, dataloaders=None, ckpt_path=None, verbose=True, datamodule=None, **options):
        return self.run("validate", model, {"val": dataloaders}, datamodule, ckpt_path, verbose)

    def test(self, model=None, dataloaders=None, ckpt_path=None, verbose=True, datamodule=None, **options):
        return self.run("test", model, {"test": dataloaders}, datamodule, ckpt_path, verbose)

    def predict(
        self, model=None, dataloaders=None, datamodule=None, return_predictions=None, ckpt_path=None, **options
    ):
        return self.run("predict", model, {"predict": dataloaders}, datamodule, ckpt_path)

    def run(self, fn, model, given, datamodule, ckpt_path, verbose=True):
        first = next(iter(given))
        if isinstance(given[first], LightningDataModule):
            datamodule, given[first] = given[first], None
        if ckpt_path in ("best", "last") or (ckpt_path is None and model is None and fn != "fit"):
            ckpt_path = self.saved_path(ckpt_path)
        self.attach(fn, self.lightning_module if model is None else model, given, datamodule)
        try:
            return self.run_stage(fn, load(ckpt_path) if ckpt_path else None, verbose)
        except BaseException as error:
            self.state.status = "interrupted"
            self.call_callbacks("on_exception", error)
            raise

    def attach(self, fn, model, given, datamodule):
        self.state.fn, self.state.status = fn, "running"
        self.phase = {"fit": "train"}.get(fn, fn)
        self.lightning_module, self.given, self.loaders = model, given, {}
        self.datamodule = datamodule if datamodule is not None or model is None else None
        model.trainer = self
        if datamodule is not None:
            datamodule.trainer = self
        self.kept = self.kept_by["train"]
        own = model.configure_callbacks()
        own = list(own) if isinstance(own, (list, tuple)) else [own]
        kinds = {type(each) for each in own}
        self.callbacks = [each for each in self.callbacks if type(each) not in kinds] + own
        self.callbacks.sort(key=lambda each: isinstance(each, ModelCheckpoint))

    def run_stage(self, fn, saved, verbose):
        model, datamodule = self.lightning_module, self.datamodule
        in_training(model)
        for each in (datamodule, model):
            if each is not None:
                each.prepare_data()
        if datamodule is not None:
            datamodule.setup(stage=fn)
        self.call_callbacks("setup", stage=fn)
        self.call_module("setup", stage=fn)
        self.call_module("configure_model")
        self.known, self.logged_metrics, self.progress_bar_metrics = {}, {}, {}
        if saved is not None:
            self.restore_model(saved)
        if fn == "fit":
            self.optimizers, self.lr_scheduler_configs = configured_optimizers(model)
            self.handles = [OptimizerHandle(each, self) for each in self.optimizers]
            self.call_hook("on_fit_start")
        if model.hparams:
            for logger in self.loggers:
                logger.log_hyperparams(model.hparams)
        if saved is not None and fn == "fit":
            self.restore_progress(saved)
        results = self.run_loop(fn, verbose)
        if fn == "fit":
            self.call_hook("on_fit_end")
        if datamodule is not None:
            datamodule.teardown(stage=fn)
        self.call_callbacks("teardown", stage=fn)
        self.call_module("teardown", stage=fn)
        for logger in self.loggers:
            logger.finalize("success")
        self.state.status = "finished"
        return results

    def run_loop(self, fn, verbose):
        if fn == "predict":
            return PredictionLoop(self).run()
        if fn != "fit":
            found = EvaluationLoop(self, {"validate": "val"}.get(fn, fn)).run()
            found = [numbers_of(each) for each in found]
            for values in found if verbose else []:
                print(", ".join(f"{name} {value:.6g}" for name, value in values.items()))
            return found
        self.check_sanity()
        FitLoop(self).run()
        return None

    def check_sanity(self):
        """A few batches of validation before anything is trained; random numbers go on as if it had not been."""
        if not self.num_sanity_val_steps or not self.has_validation() or self.current_epoch or self.global_step:
            return
        states = random.getstate(), np.random.get_state(), ms.get_rng_state(), host_numbers().get_state()
        self.phase = "sanity_check"
        self.call_callbacks("on_sanity_check_start")
        EvaluationLoop(self, "val", is_sanity_check=True).run()
        self.call_callbacks("on_sanity_check_end")
        self.phase = "train"
        self.known, self.logged_metrics, self.progress_bar_metrics = {}, {}, {}
        random.setstate(states[0])
        np.random.set_state(states[1])
        ms.set_rng_state(states[2])
        host_numbers().set_state(states[3])

    def call_callbacks(self, hook, *arguments, monitoring=None, **options):
        """`monitoring`: only those that watch a value, or only the others."""
        previous, self.lightning_module._hook = self.lightning_module._hook, hook
        for each in self.callbacks:
            if monitoring is None or isinstance(each, (EarlyStopping, ModelCheckpoint)) is monitoring:
                getattr(each, hook)(self, self.lightning_module, *arguments, **options)
        self.lightning_module._hook = previous

    def call_module(self, hook, *arguments, **options):
        model = self.lightning_module
        previous, model._hook = model._hook, hook
        result = getattr(model, hook)(*arguments, **options)
        model._hook = previous
        return result

    def call_hook(self, hook, *arguments):
        """The callbacks' first, then the module's."""
        self.call_callbacks(hook, *arguments)
        return self.call_module(hook, *arguments)

    def before_optimizer_step(self, optimizer):
        self.call_hook("on_before_optimizer_step", optimizer)
        if self.lightning_module.automatic_optimization:
            algorithm = self.gradient_clip_algorithm
            self.call_module("configure_gradient_clipping", optimizer, self.gradient_clip_val, algorithm)

    def transfer(self, batch, dataloader_idx):
        """A loader's batch on its way to a step: the data module's hooks where it has some, else the module's."""
        for hook in ("on_before_batch_transfer", "transfer_batch_to_device", "on_after_batch_transfer"):
            owner = self.datamodule if self.datamodule is not None and overrides(self.datamodule, hook) else None
            owner = owner or self.lightning_module
            place = (owner_device(self),) if hook == "transfer_batch_to_device" else ()
            batch = getattr(owner, hook)(batch, *place, dataloader_idx)
        return batch

    def source(self, kind):
        """What was given, or what the data module's or the module's method makes."""
        if self.given.get(kind) is not None:
            return self.given[kind]
        for owner in (self.datamodule, self.lightning_module):
            method = getattr(owner, f"{kind}_dataloader", None)
            if method is not None:
                return method()
        return None

    def load_train_data(self):
        loader = self.source("train")
        if loader is None:
            raise ValueError("Trainer.fit() needs a training loader: give one, or define train_dataloader()")
        self.train_dataloader = (
            CombinedLoader(loader, "max_size_cycle") if isinstance(loader, (list, tuple, dict)) else loader
        )
        self.num_training_batches = limit_of(loader_length(self.train_dataloader), self.limit_train_batches)
        if isinstance(self.val_check_interval, int) and not isinstance(self.val_check_interval, bool):
            self.val_check_batch = self.val_check_interval
        elif self.num_training_batches == math.inf:
            self.val_check_batch = math.inf
        else:
            self.val_check_batch = max(1, int(self.num_training_batches * self.val_check_interval))

    def load_evaluation_data(self, kind):
        """(loaders, how many batches of each)."""
        if kind not in self.loaders or (self.reload_dataloaders_every_n_epochs and self.state.fn == "fit"):
            found = self.source(kind)
            loaders = list(found) if isinstance(found, (list, tuple)) else [] if found is None else [found]
            limit = getattr(self, f"limit_{kind}_batches")
            self.loaders[kind] = loaders, [limit_of(loader_length(each), limit) for each in loaders]
            if kind == "val":
                self.num_val_batches = self.loaders[kind][1]
        return self.loaders[kind]

    def has_validation(self):
        return self.lightning_module.validation_step is not None and self.limit_val_batches > 0

    def validates_this_epoch(self):
        every = self.check_val_every_n_epoch
        return self.has_validation() and (every is None or (self.current_epoch + 1) % every == 0)

    def keep(
        self,
        hook,
        name,
        value,
        prog_bar=False,
        logger=None,
        on_step=None,
        on_epoch=None,
        reduce_fx="mean",
        add_dataloader_idx=True,
        batch_size=None,
        **options,  # of several processes, which there are none of
    ):
        """LightningModule.log()."""
        self.kept.keep(
            hook, name, value, prog_bar, logger, on_step, on_epoch, reduce_fx, add_dataloader_idx, batch_size
        )

    def publish(self, is_step):
        logged, seen, shown = self.kept.metrics(is_step)
        self.logged_metrics.update(logged)
        self.known.update(seen)
        self.progress_bar_metrics.update(numbers_of(shown))

    def should_log_step(self, step):
        return (step + 1) % self.log_every_n_steps == 0 or self.should_stop

    def write_step(self):
        if self.should_log_step(self.batches_that_stepped) or self.fast_dev_run:
            self.write(self.kept.metrics(is_step=True)[0])

    def write_epoch(self):
        self.batches_that_stepped -= 1  # the epoch's values stand beside those of its last step
        self.write(self.kept.metrics(is_step=False)[0])
        self.batches_that_stepped += 1
        if self.is_verbose and self.progress_bar_metrics:
            shown = ", ".join(f"{name} {value:.4g}" for name, value in self.progress_bar_metrics.items())
            print(f"epoch {self.current_epoch}: {shown}", flush=True)

    def write(self, metrics):
        if not metrics:
            return
        self.logged_metrics.update(metrics)
        values = numbers_of(metrics)
        step = int(values.pop("step", self.batches_that_stepped))
        for logger in self.loggers:
            logger.log_metrics({"epoch": self.current_epoch, **values}, step)
            logger.save()

    def saved_path(self, which):
        callback = self.checkpoint_callback
        path = callback.last_model_path if which == "last" else callback.best_model_path if callback else ""
        if not path and which is not None:
            raise ValueError(f'ckpt_path="{which}": no ModelCheckpoint has written one')
        return path

    def save_checkpoint(self, filepath, weights_only=False, storage_options=None):
        """Weights and hyperparameters; and, to go on training, optimizers, schedulers, callbacks and where it stands."""
        model = self.lightning_module
        checkpoint = {
            "epoch": self.current_epoch,
            "global_step": self.global_step,
            "state_dict": dict(state_dict(model)),
        }
        if not weights_only:
            checkpoint["callbacks"] = {
                each.state_key: each.state_dict() for each in self.callbacks if each.state_dict()
            }
            checkpoint["optimizer_states"] = [each.state_dict() for each in self.optimizers]
            checkpoint["lr_schedulers"] = [each.scheduler.state_dict() for each in self.lr_scheduler_configs]
            checkpoint["progress"] = [self.epochs_run, self.total_batch_idx, self.batches_that_stepped]
            self.call_callbacks("on_save_checkpoint", checkpoint)
        if model.hparams:
            checkpoint["hyper_parameters"], checkpoint["hparams_name"] = dict(model.hparams), model._hparams_name
        if self.datamodule is not None and self.datamodule.state_dict():
            checkpoint[type(self.datamodule).__qualname__] = self.datamodule.state_dict()
        self.call_module("on_save_checkpoint", checkpoint)
        os.makedirs(os.path.dirname(os.path.abspath(filepath)), exist_ok=True)
        save(checkpoint, filepath)

    def restore_model(self, saved):
        model = self.lightning_module
        self.call_module("on_load_checkpoint", saved)
        load_state_dict(model, saved["state_dict"], strict=model.strict_loading)
        if self.datamodule is not None and type(self.datamodule).__qualname__ in saved:
            self.datamodule.load_state_dict(saved[type(self.datamodule).__qualname__])
        self.call_callbacks("on_load_checkpoint", saved)
        for each in self.callbacks:
            if each.state_key in saved.get("callbacks", {}):
                each.load_state_dict(saved["callbacks"][each.state_key])

    def restore_progress(self, saved):
        """Go on after the epoch that the checkpoint was written in."""
        self.global_step = saved["global_step"]
        self.epochs_run, self.total_batch_idx, self.batches_that_stepped = saved["progress"]
        self.current_epoch = saved["epoch"] + 1
        for optimizer, state in zip(self.optimizers, saved["optimizer_states"]):
            optimizer.load_state_dict(state)
        for config, state in zip(self.lr_scheduler_configs, saved["lr_schedulers"]):
            config.scheduler.load_state_dict(state)


def overrides(owner, hook):
    """Whether the owner's class has its own."""
    return not getattr(type(owner), hook).__qualname__.startswith("DataHooks.")


def owner_device(trainer):
    return trainer.lightning_module.device
