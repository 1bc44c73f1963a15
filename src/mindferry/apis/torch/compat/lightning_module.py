"""LightningModule and LightningDataModule: the methods that a Trainer calls, and what they may ask of it."""

import contextlib
import inspect

import mindspore as ms
from mindspore import nn

from .gradients import clear_gradients
from .layers_module import in_training, named_parameters, set_requires_grad
from .layers_state import load_state_dict
from .layers_weight import clip_grad_norm, clip_grad_value
from .lightning_hparams import KeepsHyperParameters
from .saving import load


class TrainerHooks:
    """The hooks that modules have: they do nothing until a class has its own."""

    def nothing(self, *arguments, **options):
        """What a hook does that nobody has written."""

    setup = teardown = prepare_data = configure_model = nothing
    on_fit_start = on_fit_end = on_train_start = on_train_end = nothing
    on_train_epoch_start = on_train_epoch_end = on_train_batch_start = on_train_batch_end = nothing
    on_validation_start = on_validation_end = on_validation_epoch_start = on_validation_epoch_end = nothing
    on_validation_batch_start = on_validation_batch_end = nothing
    on_test_start = on_test_end = on_test_epoch_start = on_test_epoch_end = nothing
    on_test_batch_start = on_test_batch_end = nothing
    on_predict_start = on_predict_end = on_predict_epoch_start = on_predict_epoch_end = nothing
    on_predict_batch_start = on_predict_batch_end = nothing
    on_before_zero_grad = on_before_backward = on_after_backward = on_before_optimizer_step = nothing
    on_save_checkpoint = on_load_checkpoint = nothing


class DataHooks:
    """What turns a loader's batch into what a step gets; batches are made where they are used, so nothing moves."""

    def on_before_batch_transfer(self, batch, dataloader_idx):
        return batch

    def transfer_batch_to_device(self, batch, device, dataloader_idx):
        return batch

    def on_after_batch_transfer(self, batch, dataloader_idx):
        return batch


class LightningModule(KeepsHyperParameters, TrainerHooks, DataHooks, nn.Cell):
    """A network with its training step. Trainer.fit() differentiates what training_step() returns."""

    automatic_optimization = True
    example_input_array = None
    strict_loading = True
    _trainer = None
    _hook = ""  # the method that the trainer is calling: what log() keeps depends on it

    training_step = validation_step = test_step = None
    train_dataloader = val_dataloader = test_dataloader = predict_dataloader = None

    def __init__(self, *args, **kwargs):
        super().__init__()

    def predict_step(self, batch, *indices):
        return self(batch)

    def configure_optimizers(self):
        raise RuntimeError("Trainer.fit() needs configure_optimizers() to return an optimizer")

    def configure_callbacks(self):
        return []

    @property
    def trainer(self):
        if self._trainer is None:
            raise RuntimeError(f"{type(self).__name__} is not attached to a Trainer")
        return self._trainer

    @trainer.setter
    def trainer(self, trainer):
        self._trainer = trainer

    @property
    def current_epoch(self):
        return self._trainer.current_epoch if self._trainer is not None else 0

    @property
    def global_step(self):
        return self._trainer.global_step if self._trainer is not None else 0

    @property
    def logger(self):
        return self._trainer.logger if self._trainer is not None else None

    @property
    def loggers(self):
        return self._trainer.loggers if self._trainer is not None else []

    @property
    def device(self):
        return ms.get_context("device_target")

    @property
    def dtype(self):
        return next((tensor.dtype for _, tensor in named_parameters(self)), ms.float32)

    global_rank = local_rank = 0

    def print(self, *values, **options):
        print(*values, **options)

    def log(self, name, value, **options):
        """Keep a value for the loggers, the progress line and the callbacks. Options are Trainer.keep()'s."""
        if self._trainer is not None:
            self._trainer.keep(self._hook, name, value, **options)

    def log_dict(self, dictionary, **options):
        for name, value in dictionary.items():
            self.log(name, value, **options)

    def all_gather(self, data, group=None, sync_grads=False):
        return data

    def optimizers(self, use_pl_optimizer=True):
        """The optimizers of configure_optimizers(); one alone is no list."""
        every = self.trainer.handles if use_pl_optimizer else self.trainer.optimizers
        return every[0] if len(every) == 1 else list(every)

    def lr_schedulers(self):
        every = [each.scheduler for each in self.trainer.lr_scheduler_configs]
        return None if not every else every[0] if len(every) == 1 else every

    def manual_backward(self, loss, *arguments, **options):
        raise RuntimeError(
            "there is no graph to go back through here: compute the loss in a function and give it to ms_compat.backward()"
        )

    def backward(self, loss, *arguments, **options):
        return self.manual_backward(loss)

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure=None):
        optimizer.step(closure=optimizer_closure)

    def optimizer_zero_grad(self, epoch, batch_idx, optimizer):
        clear_gradients(optimizer)

    def lr_scheduler_step(self, scheduler, metric):
        if metric is None:
            scheduler.step()
        else:
            scheduler.step(metric)

    def configure_gradient_clipping(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        self.clip_gradients(optimizer, gradient_clip_val, gradient_clip_algorithm)

    def clip_gradients(self, optimizer, gradient_clip_val=None, gradient_clip_algorithm=None):
        """The gradients that the optimizer's parameters keep, by their common norm or each value by itself."""
        limit = self.trainer.gradient_clip_val if gradient_clip_val is None else gradient_clip_val
        if limit is None or limit <= 0:
            return
        if (gradient_clip_algorithm or self.trainer.gradient_clip_algorithm or "norm") == "norm":
            clip_grad_norm(optimizer.parameters, limit)
        else:
            clip_grad_value(optimizer.parameters, limit)

    def toggle_optimizer(self, optimizer):
        """Freeze the parameters of all other optimizers."""
        own = {id(each) for each in optimizer.parameters}
        others = {id(each): each for other in self.trainer.optimizers for each in other.parameters}
        self._toggled = [
            (each, each.requires_grad, getattr(each, "grad", None)) for key, each in others.items() if key not in own
        ]
        for each, _, _ in self._toggled:
            each.requires_grad = False

    def untoggle_optimizer(self, optimizer):
        for each, had_gradient, grad in self._toggled:
            each.requires_grad = had_gradient
            each.grad = grad  # what a backward() in between has added is not theirs

    @contextlib.contextmanager
    def toggled_optimizer(self, optimizer):
        self.toggle_optimizer(optimizer)
        try:
            yield
        finally:
            self.untoggle_optimizer(optimizer)

    def freeze(self):
        set_requires_grad(self, False)
        self.set_train(False)

    def unfreeze(self):
        set_requires_grad(self, True)
        self.set_train(True)

    def on_validation_model_zero_grad(self):
        clear_gradients(self)

    def on_validation_model_eval(self):
        self.set_train(False)

    on_test_model_eval = on_predict_model_eval = on_validation_model_eval
    on_validation_model_train = on_test_model_train = None  # the modes come back as they were
    training_epoch_end = validation_epoch_end = test_epoch_end = None  # of Lightning 1: they get all outputs

    @classmethod
    def load_from_checkpoint(cls, checkpoint_path, map_location=None, hparams_file=None, strict=True, **arguments):
        """A module made with the saved hyperparameters, and others given here, that holds the saved weights."""
        weights_only = arguments.pop("weights_only", None)
        saved = load(checkpoint_path, weights_only=weights_only is not False)
        kept, name = saved.get("hyper_parameters", {}), saved.get("hparams_name")
        given = {**kept, **arguments} if name is None else {name: kept, **arguments}
        accepted = inspect.signature(cls.__init__).parameters
        if not any(each.kind is each.VAR_KEYWORD for each in accepted.values()):
            given = {key: value for key, value in given.items() if key in accepted}
        model = cls(**given)
        model.on_load_checkpoint(saved)
        load_state_dict(model, saved["state_dict"], strict=bool(strict))
        return in_training(model)


class LightningDataModule(KeepsHyperParameters, DataHooks):
    """Where the loaders come from."""

    trainer = None

    def __init__(self):
        super().__init__()

    def nothing(self, *arguments, **options):
        """What a method does that nobody has written."""

    prepare_data = setup = teardown = nothing
    train_dataloader = val_dataloader = test_dataloader = predict_dataloader = None

    def state_dict(self):
        return {}

    def load_state_dict(self, state_dict):
        pass
