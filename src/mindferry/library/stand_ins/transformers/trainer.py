"""Instead of the whole module: transformers' Trainer for one process on one device, with its order of events."""

import contextlib
import math
import os
import time

import numpy as np
import torch
from accelerate import Accelerator
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler

from .data.data_collator import DataCollatorWithPadding, default_data_collator
from .optimization import get_scheduler
from .trainer_callback import (
    CallbackHandler,
    DefaultFlowCallback,
    PrinterCallback,
    TrainerControl,
    TrainerState,
)
from .trainer_pt_utils import (
    LabelSmoother,
    checkpoint_folders,
    grouped,
    lengths,
    log_metrics,
    look_at_network,
    nested_concat,
    nested_detach,
    nested_numpify,
    optimizer_for,
    remove_surplus,
    save_metrics,
    save_state,
)
from .trainer_utils import (
    EvalLoopOutput,
    EvalPrediction,
    PredictionOutput,
    SaveStrategy,
    TrainOutput,
    denumpify_detensorize,
    set_seed,
    speed_metrics,
)
from .training_args import TrainingArguments
from .utils import logging

logger = logging.get_logger(__name__)

NOT_CALLED = (  # what a class on top of transformers' own Trainer may define, and would define in vain on top of this one
    "training_step _inner_training_loop _prepare_inputs _prepare_input _maybe_log_save_evaluate _save_checkpoint _save "
    "_load_from_checkpoint _load_best_model _wrap_model get_decay_parameter_names get_optimizer_cls_and_kwargs "
    "autocast_smart_context_manager _compute_loss_context_manager hyperparameter_search _get_collator_with_removed_columns "
    "_remove_unused_columns num_examples call_model_init floating_point_ops prediction_loop"
).split()


class Trainer:
    loss_is_scaled_for_ga = None
    is_in_train = is_deepspeed_enabled = is_fsdp_enabled = _created_lr_scheduler = False
    log_metrics, save_metrics, save_state = log_metrics, save_metrics, save_state

    def __init__(
        self,
        model: nn.Module = None,
        args: TrainingArguments = None,
        data_collator=None,
        train_dataset=None,
        eval_dataset=None,
        processing_class=None,
        model_init=None,
        compute_loss_func=None,
        compute_metrics=None,
        callbacks=None,
        optimizers=(None, None),
        optimizer_cls_and_kwargs=None,
        preprocess_logits_for_metrics=None,
        tokenizer=None,
    ):
        self.args = args if args is not None else TrainingArguments(output_dir="tmp_trainer")
        own = [name for name in NOT_CALLED if getattr(type(self), name, None) is not getattr(Trainer, name, None)]
        if own:
            raise NotImplementedError(
                f"this Trainer does not call {own[0]}: write what it does into compute_loss, log or a callback"
            )
        set_seed(self.args.seed)
        self.accelerator = Accelerator()
        self.model: nn.Module = model if model is not None else model_init()
        self.model_wrapped = self.model
        self.processing_class = processing_class if processing_class is not None else tokenizer
        self.tokenizer = self.processing_class
        by_tokenizer = self.processing_class is not None and hasattr(self.processing_class, "pad")
        self.data_collator = data_collator or (
            DataCollatorWithPadding(self.processing_class) if by_tokenizer else default_data_collator
        )
        self.train_dataset, self.eval_dataset = train_dataset, eval_dataset
        self.compute_metrics, self.compute_loss_func = compute_metrics, compute_loss_func
        self.preprocess_logits_for_metrics = preprocess_logits_for_metrics
        self.optimizer, self.lr_scheduler = optimizers
        self.optimizer_cls_and_kwargs = optimizer_cls_and_kwargs
        self.label_smoother = (
            LabelSmoother(epsilon=self.args.label_smoothing_factor) if self.args.label_smoothing_factor else None
        )
        look_at_network(self, self.model.get_base_model() if hasattr(self.model, "peft_config") else self.model)
        self.state, self.control = (
            TrainerState(is_local_process_zero=True, is_world_process_zero=True),
            TrainerControl(),
        )
        self.callback_handler = CallbackHandler(
            [DefaultFlowCallback, *(callbacks or []), PrinterCallback],
            self.model,
            self.processing_class,
            self.optimizer,
            self.lr_scheduler,
        )
        self.control = self.callback_handler.on_init_end(self.args, self.state, self.control)

    def add_callback(self, callback):
        self.callback_handler.add_callback(callback)

    def pop_callback(self, callback):
        return self.callback_handler.pop_callback(callback)

    def remove_callback(self, callback):
        self.callback_handler.remove_callback(callback)

    # data

    def collate(self, features):
        """Columns that the network does not take are left out, as the Trainer does."""
        if self.args.remove_unused_columns and isinstance(features[0], dict):
            kept = {*self.signature, *self.label_names, "label", "label_ids"}
            takes_any = not kept & set(features[0])
            features = [{k: v for k, v in each.items() if takes_any or k in kept} for each in features]
        return self.data_collator(features)

    def _get_train_sampler(self, train_dataset=None):
        if not hasattr(self.train_dataset if train_dataset is None else train_dataset, "__len__"):
            return None
        if self.args.train_sampling_strategy == "sequential":
            return SequentialSampler(self.train_dataset if train_dataset is None else train_dataset)
        generator = torch.Generator()
        generator.manual_seed(self.args.seed if self.args.data_seed is None else self.args.data_seed)
        return RandomSampler(self.train_dataset if train_dataset is None else train_dataset, generator=generator)

    def _get_eval_sampler(self, eval_dataset):
        return None

    def get_train_dataloader(self):
        if self.train_dataset is None:
            raise ValueError("Trainer: training requires a train_dataset.")
        return DataLoader(
            self.train_dataset,
            batch_size=self.args.train_batch_size,
            sampler=self._get_train_sampler(self.train_dataset),
            collate_fn=self.collate,
            drop_last=self.args.dataloader_drop_last,
            num_workers=self.args.dataloader_num_workers,
        )

    def get_eval_dataloader(self, eval_dataset=None):
        dataset = self.eval_dataset if eval_dataset is None else eval_dataset
        dataset = self.eval_dataset[dataset] if isinstance(dataset, str) else dataset
        if dataset is None:
            raise ValueError("Trainer: evaluation requires an eval_dataset.")
        return DataLoader(
            dataset,
            batch_size=self.args.eval_batch_size,
            sampler=self._get_eval_sampler(dataset),
            collate_fn=self.collate,
            drop_last=self.args.dataloader_drop_last,
        )

    def get_test_dataloader(self, test_dataset):
        return self.get_eval_dataloader(test_dataset)

    # optimizer

    def create_optimizer(self):
        if self.optimizer is None:
            self.optimizer = optimizer_for(self.model, self.args, self.optimizer_cls_and_kwargs)
        return self.optimizer

    def create_scheduler(self, num_training_steps, optimizer=None):
        if self.lr_scheduler is None:
            self.lr_scheduler = get_scheduler(
                self.args.lr_scheduler_type,
                optimizer=self.optimizer if optimizer is None else optimizer,
                num_warmup_steps=self.args.get_warmup_steps(num_training_steps),
                num_training_steps=num_training_steps,
                scheduler_specific_kwargs=self.args.lr_scheduler_kwargs,
            )
            self._created_lr_scheduler = True
        return self.lr_scheduler

    def create_optimizer_and_scheduler(self, num_training_steps):
        self.create_optimizer()
        self.create_scheduler(num_training_steps)

    # loss

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = None
        if (self.label_smoother is not None or self.compute_loss_func is not None) and "labels" in inputs:
            inputs = dict(inputs)
            labels = inputs.pop("labels")
        if self.model_accepts_loss_kwargs and num_items_in_batch is not None:
            inputs = {**inputs, "num_items_in_batch": num_items_in_batch}
        outputs = model(**inputs)
        if self.compute_loss_func is not None:
            loss = self.compute_loss_func(outputs, labels, num_items_in_batch=num_items_in_batch)
        elif labels is not None:
            words = {"num_items_in_batch": num_items_in_batch} if self.counts_compared else {}
            loss = self.label_smoother(outputs, labels, shift_labels=self.smooths_shifted, **words)
        else:
            loss = outputs["loss"] if isinstance(outputs, dict) else outputs[0]
        return (loss, outputs) if return_outputs else loss

    def count_labels(self, batches):
        """How many labels count in the batches of one step; None where the loss does not ask."""
        if not (self.model_accepts_loss_kwargs or self.compute_loss_func) or "labels" not in batches[0]:
            return None
        is_shifted = self.shifts_labels and self.counts_compared
        labels = [each["labels"][..., 1:] if is_shifted else each["labels"] for each in batches]
        return sum(int((each != -100).sum()) for each in labels)

    # training

    def train(self, resume_from_checkpoint=None, trial=None, ignore_keys_for_eval=None, **kwargs):
        args, model = self.args, self.model
        loader = self.get_train_dataloader()
        batches_in_epoch, steps_in_epoch, epochs, max_steps = lengths(loader, args)
        if self._created_lr_scheduler:
            self.lr_scheduler, self._created_lr_scheduler = None, False
        self.create_optimizer_and_scheduler(max_steps)
        self.state = TrainerState(is_local_process_zero=True, is_world_process_zero=True)
        self.state.max_steps, self.state.num_train_epochs = max_steps, epochs
        self.state.compute_steps(args, max_steps)
        resumed = self.resume(resume_from_checkpoint) if resume_from_checkpoint else 0
        self.callback_handler.model, self.callback_handler.optimizer = model, self.optimizer
        self.callback_handler.lr_scheduler, self.callback_handler.train_dataloader = self.lr_scheduler, loader
        self.control = self.callback_handler.on_train_begin(args, self.state, self.control)
        began, total, shown, shown_step = time.time(), 0.0, 0.0, self.state.global_step
        norm, rate, self.is_in_train = None, self.rate(), True
        if args.eval_on_start:
            self.evaluate(ignore_keys=ignore_keys_for_eval)
        self.optimizer.zero_grad()
        for _ in range(resumed // steps_in_epoch):
            next(iter(loader), None)  # an epoch that is done has drawn its order
        for epoch in range(resumed // steps_in_epoch, epochs):
            self.control = self.callback_handler.on_epoch_begin(args, self.state, self.control)
            seen = 0
            for step, batches in enumerate(grouped(loader, args.gradient_accumulation_steps)):
                seen += len(batches)
                if epoch * steps_in_epoch + step < resumed:
                    continue
                self.control = self.callback_handler.on_step_begin(args, self.state, self.control)
                model.train()
                count = self.count_labels(batches)
                share = 1.0 if self.is_scaled(count) else 1.0 / len(batches)
                for place, inputs in enumerate(batches):
                    loss = self.compute_loss(model, inputs, num_items_in_batch=count) * share
                    loss.backward()
                    value = float(loss)
                    if args.logging_nan_inf_filter and not math.isfinite(value):
                        value = shown / (1 + self.state.global_step - shown_step)
                    total, shown = total + value, shown + value
                    if place < len(batches) - 1:
                        self.control = self.callback_handler.on_substep_end(args, self.state, self.control)
                norm = float(torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm or math.inf))
                self.control = self.callback_handler.on_pre_optimizer_step(args, self.state, self.control)
                self.optimizer.step()
                self.control = self.callback_handler.on_optimizer_step(args, self.state, self.control)
                rate = self.rate()
                if not isinstance(self.lr_scheduler, ReduceLROnPlateau):
                    self.lr_scheduler.step()
                self.optimizer.zero_grad()
                self.state.global_step += 1
                self.state.epoch = epoch + seen / batches_in_epoch
                self.control = self.callback_handler.on_step_end(args, self.state, self.control)
                shown, shown_step = self.report(shown, shown_step, norm, rate, ignore_keys_for_eval)
                if self.control.should_epoch_stop or self.control.should_training_stop:
                    break
            self.control.should_training_stop = self.control.should_training_stop or not seen
            self.control = self.callback_handler.on_epoch_end(args, self.state, self.control)
            shown, shown_step = self.report(shown, shown_step, norm, rate, ignore_keys_for_eval)
            if self.control.should_training_stop:
                break
        mean = total / max(self.state.global_step - resumed, 0.001)
        done = self.state.global_step - resumed
        metrics = speed_metrics("train", began, num_samples=done * args.train_batch_size, num_steps=done)
        metrics = {**metrics, "train_loss": mean}
        self.log(metrics)
        if args.load_best_model_at_end and self.state.best_model_checkpoint:
            self.load_weights(self.state.best_model_checkpoint)
        self.control = self.callback_handler.on_train_end(args, self.state, self.control)
        self.is_in_train = False
        return TrainOutput(self.state.global_step, mean, metrics)

    def is_scaled(self, count):
        """Whether a loss is already a share of the whole step's."""
        if self.loss_is_scaled_for_ga is not None:
            return self.loss_is_scaled_for_ga
        return (self.model_accepts_loss_kwargs and count is not None) or self.compute_loss_func is not None

    def rate(self):
        is_held = isinstance(self.lr_scheduler, ReduceLROnPlateau)
        return float(self.optimizer.param_groups[0]["lr"]) if is_held else self.lr_scheduler.get_last_lr()[0]

    def report(self, shown, shown_step, norm, rate, ignore_keys=None):
        """Log, evaluate and save, as far as it is due."""
        if self.control.should_log and self.state.global_step > shown_step:
            logs = {"loss": shown / (self.state.global_step - shown_step)}
            if norm is not None:
                logs["grad_norm"] = norm
            logs["learning_rate"] = rate
            shown, shown_step = 0.0, self.state.global_step
            self.log(logs)
        metrics = self.evaluate(ignore_keys=ignore_keys) if self.control.should_evaluate else None
        if metrics is not None and self.args.metric_for_best_model is not None:
            name = self.args.metric_for_best_model
            value = metrics[name if name.startswith("eval_") else f"eval_{name}"]
            if isinstance(self.lr_scheduler, ReduceLROnPlateau):
                self.lr_scheduler.step(value)
            best = self.state.best_metric
            is_better = best is None or (value > best if self.args.greater_is_better else value < best)
            if is_better:
                self.state.best_metric = value
                self.state.best_global_step = self.state.global_step
            if self.args.save_strategy == SaveStrategy.BEST:
                self.control.should_save = is_better
        if self.control.should_save:
            self.save_checkpoint()
            self.control = self.callback_handler.on_save(self.args, self.state, self.control)
        return shown, shown_step

    def log(self, logs, start_time=None):
        if self.state.epoch is not None:
            logs["epoch"] = self.state.epoch
        self.state.log_history.append({**logs, "step": self.state.global_step})
        self.control = self.callback_handler.on_log(self.args, self.state, self.control, logs)

    # checkpoints

    def save_model(self, output_dir=None, _internal_call=False):
        folder = output_dir or self.args.output_dir
        os.makedirs(folder, exist_ok=True)
        if hasattr(self.model, "save_pretrained"):
            self.model.save_pretrained(folder)
        else:
            torch.save(self.model.state_dict(), os.path.join(folder, "pytorch_model.ckpt"))
        tokenizer = self.processing_class or getattr(self.data_collator, "tokenizer", None)
        if hasattr(tokenizer, "save_pretrained"):
            tokenizer.save_pretrained(folder)

    def save_checkpoint(self):
        folder = os.path.join(self.args.output_dir, f"checkpoint-{self.state.global_step}")
        self.save_model(folder)
        if self.state.best_global_step == self.state.global_step:
            self.state.best_model_checkpoint = folder
        if not self.args.save_only_model:
            torch.save(self.optimizer.state_dict(), os.path.join(folder, "optimizer.ckpt"))
            torch.save(self.lr_scheduler.state_dict(), os.path.join(folder, "scheduler.ckpt"))
        self.state.save_to_json(os.path.join(folder, "trainer_state.json"))
        if self.args.save_total_limit:
            remove_surplus(self.args.output_dir, self.args.save_total_limit, self.state.best_model_checkpoint)

    def load_weights(self, folder):
        if hasattr(self.model, "peft_config"):
            self.model.load_adapter(folder, self.model.active_adapter)
        elif hasattr(self.model, "save_pretrained"):
            was_training = self.model.training
            type(self.model).from_pretrained(folder, config=self.model.config, into=self.model).train(was_training)
        else:
            self.model.load_state_dict(torch.load(os.path.join(folder, "pytorch_model.ckpt")))

    def resume(self, folder):
        """Continue after a checkpoint: (True: the last one); the number of steps that are done."""
        folder = checkpoint_folders(self.args.output_dir)[-1] if folder is True else folder
        self.load_weights(folder)
        self.optimizer.load_state_dict(torch.load(os.path.join(folder, "optimizer.ckpt"), weights_only=False))
        self.lr_scheduler.load_state_dict(torch.load(os.path.join(folder, "scheduler.ckpt"), weights_only=False))
        held = TrainerState.load_from_json(os.path.join(folder, "trainer_state.json"))
        self.state.global_step, self.state.epoch = held.global_step, held.epoch
        self.state.log_history, self.state.best_metric = held.log_history, held.best_metric
        self.state.best_model_checkpoint = held.best_model_checkpoint
        return held.global_step

    # evaluation

    compute_loss_context_manager = staticmethod(contextlib.nullcontext)
    _prepare_inputs = staticmethod(lambda inputs: inputs)  # there is one device

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        """(loss, logits, labels) of a batch."""
        ignored = set(ignore_keys or getattr(getattr(model, "config", None), "keys_to_ignore_at_inference", ()) or ())
        names = self.label_names
        has_labels = bool(names) and all(inputs.get(name) is not None for name in names)
        has_labels = has_labels or (not names and inputs.get("return_loss", self.can_return_loss))
        labels = tuple(inputs[name] for name in names) if has_labels else None
        with torch.no_grad():
            if has_labels:
                count = self.count_labels([inputs])
                loss, outputs = self.compute_loss(model, inputs, return_outputs=True, num_items_in_batch=count)
                loss = loss.detach().mean()
            else:
                loss, outputs = None, model(**inputs)
        if prediction_loss_only:
            return loss, None, None
        if isinstance(outputs, dict):
            logits = tuple(value for name, value in outputs.items() if name not in ignored and name != "loss")
        else:
            logits = outputs[1:] if has_labels else outputs
        logits = nested_detach(logits)
        logits = logits[0] if len(logits) == 1 else logits
        return loss, logits, (labels[0] if labels is not None and len(labels) == 1 else labels)

    def evaluation_loop(
        self, dataloader, description, prediction_loss_only=None, ignore_keys=None, metric_key_prefix="eval"
    ):
        self.model.eval()
        losses, predictions, labels, seen = [], None, None, 0
        wants_loss_only = self.args.prediction_loss_only if prediction_loss_only is None else prediction_loss_only
        for inputs in dataloader:
            size = len(next(iter(inputs.values())))
            loss, logits, truth = self.prediction_step(self.model, inputs, wants_loss_only, ignore_keys)
            seen += size
            if loss is not None:
                losses += [float(loss)] * size
            if logits is not None:
                if self.preprocess_logits_for_metrics is not None:
                    logits = self.preprocess_logits_for_metrics(logits, truth)
                logits = nested_numpify(logits)
                predictions = logits if predictions is None else nested_concat(predictions, logits, padding_index=-100)
            if truth is not None:
                truth = nested_numpify(truth)
                labels = truth if labels is None else nested_concat(labels, truth, padding_index=-100)
            self.control = self.callback_handler.on_prediction_step(self.args, self.state, self.control)
        metrics = {}
        if self.compute_metrics is not None and predictions is not None and labels is not None:
            metrics = denumpify_detensorize(
                self.compute_metrics(EvalPrediction(predictions=predictions, label_ids=labels))
            )
        start = f"{metric_key_prefix}_"
        named = {name: value for name, value in metrics.items() if name.startswith(start)}
        if losses:
            named[f"{start}loss"] = float(np.mean(losses))
        metrics = named | {start + name: value for name, value in metrics.items() if name not in named}
        return EvalLoopOutput(predictions=predictions, label_ids=labels, metrics=metrics, num_samples=seen)

    def evaluate(self, eval_dataset=None, ignore_keys=None, metric_key_prefix="eval"):
        several = self.eval_dataset if eval_dataset is None else eval_dataset
        if isinstance(several, dict):
            metrics = {}
            for name, each in several.items():
                one = name if eval_dataset is None else each
                metrics.update(self.evaluate(one, ignore_keys, f"{metric_key_prefix}_{name}"))
            return metrics
        began, loader = time.time(), self.get_eval_dataloader(eval_dataset)
        only_loss = True if self.compute_metrics is None else None
        found = self.evaluation_loop(loader, "Evaluation", only_loss, ignore_keys, metric_key_prefix)
        metrics, seen = found.metrics, found.num_samples
        steps = math.ceil(seen / self.args.eval_batch_size)
        metrics.update(speed_metrics(metric_key_prefix, began, num_samples=seen, num_steps=steps))
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def predict(self, test_dataset, ignore_keys=None, metric_key_prefix="test"):
        began, loader = time.time(), self.get_test_dataloader(test_dataset)
        found = self.evaluation_loop(loader, "Prediction", None, ignore_keys, metric_key_prefix)
        metrics, seen = found.metrics, found.num_samples
        steps = math.ceil(seen / self.args.eval_batch_size)
        metrics.update(speed_metrics(metric_key_prefix, began, num_samples=seen, num_steps=steps))
        self.control = self.callback_handler.on_predict(self.args, self.state, self.control, metrics)
        return PredictionOutput(predictions=found.predictions, label_ids=found.label_ids, metrics=metrics)

    # what scripts call around it

    def is_world_process_zero(self):
        return True

    is_local_process_zero = is_world_process_zero

    def push_to_hub(self, *args, **kwargs):
        raise NotImplementedError("push_to_hub: save_model() writes a folder that can be uploaded")

    def create_model_card(self, *args, **kwargs):
        pass
