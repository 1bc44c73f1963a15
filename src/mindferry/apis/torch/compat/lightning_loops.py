"""The loops of a Lightning Trainer: an epoch of training, a validation, a test, a prediction; hooks in Lightning's order."""

import inspect
import itertools
import math

from .gradients import add_gradients, loss_and_gradients
from .layers_module import parameters
from .lightning_optimizers import parameters_to_train


def limit_of(length, limit):
    """How many batches a fraction or a number of them is."""
    if isinstance(limit, int) and not isinstance(limit, bool):
        return min(length, limit)
    return length if limit == 1.0 or length == math.inf else int(length * limit)


def loader_length(loader):
    try:
        return len(loader)
    except (TypeError, NotImplementedError):
        return math.inf


class CombinedLoader:
    """Several loaders as one: a batch of each, until the longest ends ("max_size_cycle") or the shortest ("min_size")."""

    def __init__(self, iterables, mode="min_size"):
        if mode not in ("min_size", "max_size_cycle", "max_size"):
            raise NotImplementedError(f"CombinedLoader: mode={mode!r} is not here; give the loaders one by one")
        self.iterables, self.mode = iterables, mode

    def parts(self):
        return list(self.iterables.values()) if isinstance(self.iterables, dict) else list(self.iterables)

    def __len__(self):
        lengths = [len(each) for each in self.parts()]
        return min(lengths) if self.mode == "min_size" else max(lengths)

    def __iter__(self):
        ends_with = [len(each) for each in self.parts()]
        streams = [
            iter(each) if self.mode != "max_size_cycle" or len(each) == max(ends_with) else repeated(each)
            for each in self.parts()
        ]
        together = itertools.zip_longest(*streams) if self.mode == "max_size" else zip(*streams)
        for batches in together:
            yield dict(zip(self.iterables, batches)) if isinstance(self.iterables, dict) else list(batches)


def repeated(loader):
    while True:
        yield from loader


def batches_with_end(loader, count):
    """(batch, is it the last) of the first `count` batches; a loader without length is read one batch ahead."""
    stream = itertools.islice(loader, None if count == math.inf else count)
    if count != math.inf:
        for index, batch in enumerate(stream, 1):
            yield batch, index == count
        return
    following = next(stream, stream)  # the stream itself stands for its end
    while following is not stream:
        batch, following = following, next(stream, stream)
        yield batch, following is stream


def step_arguments(step, batch, *indices):
    """training_step(batch) or training_step(batch, batch_idx): the index is given to those that take it."""
    accepted = inspect.signature(step).parameters.values()
    takes_all = any(each.kind is each.VAR_POSITIONAL for each in accepted)
    return (batch, *indices) if takes_all or len(accepted) > 1 else (batch,)


def loss_of(output):
    """What training_step() returned: a loss, or a dictionary with one."""
    return output["loss"] if isinstance(output, dict) else output


class FitLoop:
    """Trainer.fit(), once everything is set up."""

    def __init__(self, trainer):
        self.trainer, self.model = trainer, trainer.lightning_module
        self.outputs = []  # of the epoch, for training_epoch_end()

    def run(self):
        trainer = self.trainer
        trainer.load_train_data()
        if trainer.limit_train_batches == 0 or trainer.num_training_batches == 0 or self.is_done():
            return
        if trainer.validates_this_epoch():
            trainer.load_evaluation_data("val")
        trainer.call_hook("on_train_start")
        while not self.is_done():
            if trainer.reload_dataloaders_every_n_epochs:
                trainer.load_train_data()
            self.set_sampler_epoch()
            trainer.call_hook("on_train_epoch_start")
            self.run_epoch()
            self.end_epoch()
        trainer.call_hook("on_train_end")

    def is_done(self):
        trainer = self.trainer
        is_over = trainer.max_steps != -1 and trainer.global_step >= trainer.max_steps
        is_over = is_over or (trainer.max_epochs != -1 and trainer.current_epoch >= trainer.max_epochs)
        return is_over or (trainer.should_stop and self.may_stop())

    def may_stop(self):
        """min_epochs and min_steps have been reached."""
        trainer = self.trainer
        return trainer.epochs_run >= (trainer.min_epochs or 0) and trainer.global_step >= (trainer.min_steps or 0)

    def set_sampler_epoch(self):
        loader = self.trainer.train_dataloader
        for sampler in (getattr(loader, "sampler", None), getattr(loader, "batch_sampler", None)):
            if hasattr(sampler, "set_epoch"):
                sampler.set_epoch(self.trainer.current_epoch)

    def run_epoch(self):
        trainer = self.trainer
        trainer.batch_idx, trainer.is_last_batch = -1, False
        for batch, is_last in batches_with_end(trainer.train_dataloader, trainer.num_training_batches):
            if not self.run_batch(batch, is_last):
                return
            self.validate_if_due()
            self.step_schedulers("step", on_plateau=True)
            if not self.is_accumulating():
                trainer.batches_that_stepped += 1
            is_over = trainer.max_steps != -1 and trainer.global_step >= trainer.max_steps
            if is_over or (trainer.should_stop and self.may_stop()):
                return

    def run_batch(self, batch, is_last):
        """One training step and its hooks; False if the rest of the epoch is to be left out."""
        trainer = self.trainer
        batch = trainer.transfer(batch, 0)
        trainer.batch_idx += 1
        trainer.total_batch_idx += 1
        trainer.is_last_batch = is_last
        trainer.kept.start_batch(batch)
        trainer.call_callbacks("on_train_batch_start", batch, trainer.batch_idx)
        is_skipped = trainer.call_module("on_train_batch_start", batch, trainer.batch_idx) == -1
        if is_skipped:
            trainer.is_last_batch, outputs = True, None
        elif self.model.automatic_optimization:
            outputs = self.optimize(batch)
        else:
            outputs = trainer.call_module(
                "training_step", *step_arguments(self.model.training_step, batch, trainer.batch_idx)
            )
            outputs = outputs if isinstance(outputs, dict) or outputs is None else {"loss": outputs}
        self.step_schedulers("step", on_plateau=False)
        if trainer.is_last_batch:
            self.step_schedulers("epoch", on_plateau=False)
        if is_skipped:
            return False
        if self.model.training_epoch_end is not None and outputs:
            self.outputs.append(outputs)
        trainer.call_hook("on_train_batch_end", outputs or {}, batch, trainer.batch_idx)
        trainer.publish(is_step=True)
        if not (self.is_accumulating() and self.model.automatic_optimization):
            trainer.write_step()
        return True

    def is_accumulating(self):
        """Whether this batch's gradients wait for those of the next."""
        trainer = self.trainer
        return not trainer.is_last_batch and (trainer.batch_idx + 1) % trainer.accumulate_grad_batches != 0

    def optimize(self, batch):
        """Loss and gradients; and the optimizer's step, unless gradients are accumulated."""
        trainer, outputs = self.trainer, []

        def closure():
            outputs[:] = [self.differentiate(batch)]
            return loss_of(outputs[0])

        if not trainer.handles:
            outputs[:] = [self.differentiate(batch)]
        elif self.is_accumulating():
            closure()
        else:
            trainer.call_module("optimizer_step", trainer.current_epoch, trainer.batch_idx, trainer.handles[0], closure)
            trainer.global_step += 1
        output = outputs[0] if outputs else None
        return output if isinstance(output, dict) or output is None else {"loss": output}

    def differentiate(self, batch):
        """training_step(), with its loss's gradients added to those that the parameters keep."""
        trainer, model, results = self.trainer, self.model, []
        share = trainer.accumulate_grad_batches

        def forward():
            arguments = step_arguments(model.training_step, batch, trainer.batch_idx)
            results[:] = [trainer.call_module("training_step", *arguments)]
            loss = loss_of(results[0])
            if loss is None:
                raise SkippedStep
            return loss / share if share != 1 else loss

        wanted = parameters_to_train(model, trainer.optimizers, parameters(model))
        try:
            loss, grads = loss_and_gradients(forward, wanted)
        except SkippedStep:
            loss = grads = None
        optimizer = trainer.optimizers[0] if trainer.optimizers else None
        if optimizer is not None and trainer.batch_idx % trainer.accumulate_grad_batches == 0:
            trainer.call_hook("on_before_zero_grad", optimizer)
            trainer.call_module("optimizer_zero_grad", trainer.current_epoch, trainer.batch_idx, optimizer)
        if loss is None:
            return None
        trainer.call_hook("on_before_backward", loss)
        add_gradients(wanted, grads)
        trainer.call_hook("on_after_backward")
        return {**results[0], "loss": loss} if isinstance(results[0], dict) else loss

    def validate_if_due(self):
        trainer = self.trainer
        if not trainer.validates_this_epoch():
            return
        count = trainer.total_batch_idx if trainer.check_val_every_n_epoch is None else trainer.batch_idx
        is_due = (
            trainer.is_last_batch if trainer.val_check_batch == math.inf else (count + 1) % trainer.val_check_batch == 0
        )
        if is_due or (trainer.should_stop and self.may_stop()):
            if not self.is_accumulating():
                trainer.call_module("on_validation_model_zero_grad")
            EvaluationLoop(trainer, "val").run()

    def step_schedulers(self, interval, on_plateau):
        trainer = self.trainer
        if not self.model.automatic_optimization or (interval == "step" and self.is_accumulating()):
            return
        count = (trainer.batch_idx if interval == "step" else trainer.current_epoch) + 1
        for config in trainer.lr_scheduler_configs:
            if config.reduce_on_plateau != on_plateau or config.interval != interval or count % config.frequency:
                continue
            value = trainer.callback_metrics.get(config.monitor) if on_plateau else None
            if on_plateau and value is None:
                if config.strict:
                    raise RuntimeError(f"ReduceLROnPlateau monitors {config.monitor}, which is not logged")
                continue
            trainer.call_module("lr_scheduler_step", config.scheduler, value)

    def end_epoch(self):
        trainer = self.trainer
        trainer.kept.end_batches()
        trainer.epochs_run += 1
        if self.model.training_epoch_end is not None:
            outputs, self.outputs = self.outputs, []
            trainer.call_module("training_epoch_end", outputs)
        trainer.call_callbacks("on_train_epoch_end", monitoring=False)
        trainer.call_module("on_train_epoch_end")
        trainer.publish(is_step=False)
        trainer.call_callbacks("on_train_epoch_end", monitoring=True)
        trainer.publish(is_step=False)
        if trainer.is_last_batch:
            self.step_schedulers("epoch", on_plateau=True)
        trainer.write_epoch()
        trainer.kept.clear()
        trainer.current_epoch += 1


class SkippedStep(Exception):
    """training_step() returned None."""


class EvaluationLoop:
    """Validation ("val") or test ("test"): no gradients, evaluation mode, and the values logged over each loader."""

    def __init__(self, trainer, kind, is_sanity_check=False):
        self.trainer, self.model, self.kind = trainer, trainer.lightning_module, kind
        self.name = "validation" if kind == "val" else "test"
        self.step = getattr(self.model, f"{self.name}_step")
        self.takes_outputs = getattr(self.model, f"{self.name}_epoch_end") is not None
        self.is_sanity_check = is_sanity_check

    def run(self):
        """A dictionary for each loader."""
        trainer, name = self.trainer, self.name
        loaders, limits = trainer.load_evaluation_data(self.kind)
        if self.is_sanity_check:
            limits = [min(each, trainer.num_sanity_val_steps) for each in limits]
        if self.step is None or not sum(limits):
            return []
        outer, trainer.kept = trainer.kept, trainer.kept_by[self.kind]
        was, trainer.phase = (
            trainer.phase,
            "sanity_check" if self.is_sanity_check else "validate" if self.kind == "val" else "test",
        )
        modes = modes_of(self.model)
        trainer.call_module(f"on_{name}_model_eval")
        trainer.call_hook(f"on_{name}_start")
        trainer.call_hook(f"on_{name}_epoch_start")
        found, outputs = [], []
        for index, (loader, limit) in enumerate(zip(loaders, limits)):
            outputs.append([])
            for batch_idx, (batch, _) in enumerate(batches_with_end(loader, limit)):
                output = self.run_batch(batch, batch_idx, index if len(loaders) > 1 else None)
                outputs[-1] += [output] if output is not None and self.takes_outputs else []
            trainer.kept.end_batches()
            found.append(self.values_of(index if len(loaders) > 1 else None))
        trainer.kept.dataloader_idx = None
        if self.takes_outputs:
            trainer.call_module(f"{name}_epoch_end", outputs if len(outputs) > 1 else outputs[0])
        trainer.call_hook(f"on_{name}_epoch_end")
        self.publish(found)
        trainer.call_hook(f"on_{name}_end")
        trainer.kept.clear()
        if getattr(self.model, f"on_{name}_model_train") is not None:
            trainer.call_module(f"on_{name}_model_train")
        else:
            restore_modes(self.model, modes)
        trainer.kept, trainer.phase = outer, was
        return found

    def run_batch(self, batch, batch_idx, index):
        trainer, name = self.trainer, self.name
        batch = trainer.transfer(batch, index or 0)
        places = (batch_idx,) if index is None else (batch_idx, index)
        trainer.kept.start_batch(batch, index)
        trainer.call_hook(f"on_{name}_batch_start", batch, *places)
        output = trainer.call_module(f"{name}_step", *step_arguments(self.step, batch, *places))
        trainer.call_hook(f"on_{name}_batch_end", output, batch, *places)
        if not self.is_sanity_check:
            trainer.publish(is_step=True)
        return output

    def values_of(self, index):
        logged, _, _ = self.trainer.kept.metrics(is_step=False)
        suffix = "" if index is None else f"/dataloader_idx_{index}"
        return {name: value for name, value in logged.items() if not suffix or name.endswith(suffix)}

    def publish(self, found):
        trainer = self.trainer
        if self.is_sanity_check:
            return
        trainer.publish(is_step=False)
        logged, _, _ = trainer.kept.metrics(is_step=False)
        for values in found:
            values.update({name: value for name, value in logged.items() if "/dataloader_idx_" not in name})
        trainer.write(logged)
        if self.kind == "val":
            trainer.has_validated = True


def modes_of(model):
    return model.phase, [(cell, cell.training) for _, cell in model.cells_and_names()]


def restore_modes(model, modes):
    model.phase = modes[0]
    for cell, mode in modes[1]:
        cell.add_flags(training=mode)


class PredictionLoop:
    """Trainer.predict(): what predict_step() returns, batch by batch."""

    def __init__(self, trainer):
        self.trainer, self.model = trainer, trainer.lightning_module

    def run(self):
        trainer, model, found = self.trainer, self.model, []
        loaders, limits = trainer.load_evaluation_data("predict")
        modes = modes_of(model)
        trainer.call_module("on_predict_model_eval")
        trainer.call_hook("on_predict_start")
        trainer.call_hook("on_predict_epoch_start")
        for index, (loader, limit) in enumerate(zip(loaders, limits)):
            found.append([])
            for batch_idx, (batch, _) in enumerate(batches_with_end(loader, limit)):
                batch = trainer.transfer(batch, index)
                places = (batch_idx, index) if len(loaders) > 1 else (batch_idx,)
                trainer.call_hook("on_predict_batch_start", batch, *places)
                found[-1].append(
                    trainer.call_module("predict_step", *step_arguments(model.predict_step, batch, *places))
                )
                trainer.call_hook("on_predict_batch_end", found[-1][-1], batch, *places)
        trainer.call_hook("on_predict_epoch_end")
        trainer.call_hook("on_predict_end")
        restore_modes(model, modes)
        return found[0] if len(found) == 1 else found
