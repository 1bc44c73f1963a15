"""Instead of the whole module: transformers' Trainer for one process on one device, with its order of events."""

import contextlib
import inspect
import math
import os
import re
import shutil
import time

import numpy as np
import torch
from accelerate import Accelerator
from torch import nn
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
from .trainer_pt_utils import LabelSmoother, nested_concat, nested_detach, nested_numpify
from .trainer_utils import (
    EvalPrediction,
    PredictionOutput,
    SaveStrategy,
    TrainOutput,
    set_seed,
    speed_metrics,
)
from .training_args import TrainingArguments
from .utils import logging

logger = logging.get_logger(__name__)

NOT_DECAYED = re.compile(r"bias|layernorm|rmsnorm|(?:^|\.)norm(?:$|\.)|_norm(?:$|\.)", re.IGNORECASE)
NOT_CALLED = (  # what a class on top of transformers' own Trainer may define, and would define in vain on top of this one
    "training_step _inner_training_loop _prepare_inputs _prepare_input _maybe_log_save_evaluate _save_checkpoint _save "
    "_load_from_checkpoint _load_best_model _wrap_model get_decay_parameter_names get_optimizer_cls_and_kwargs "
    "autocast_smart_context_manager _compute_loss_context_manager hyperparameter_search _get_collator_with_removed_columns "
    "_remove_unused_columns num_examples call_model_init floating_point_ops prediction_loop"
).split()
LABELS = ("labels", "label", "label_ids", "start_positions", "end_positions")


class Trainer:
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
        self.label_smoother = (
            LabelSmoother(epsilon=self.args.label_smoothing_factor) if self.args.label_smoothing_factor else None
        )
        accepted = inspect.signature(self.model.forward).parameters
        self.signature = list(accepted)
        self.takes_count = any(each.kind == inspect.Parameter.VAR_KEYWORD for each in accepted.values())
        self.label_names = self.args.label_names or [name for name in self.signature if name in LABELS] or ["labels"]
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
            kept = {*self.signature, *LABELS}
            takes_any = not kept & set(features[0])
            features = [{k: v for k, v in each.items() if takes_any or k in kept} for each in features]
        return self.data_collator(features)

    def _get_train_sampler(self, train_dataset=None):
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
        dataset = eval_dataset if eval_dataset is not None else self.eval_dataset
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
        args = self.args
        if self.optimizer is None:
            plain = {
                f"{path}.{name}"
                for path, part in self.model.named_modules()
                if isinstance(part, nn.LayerNorm)
                for name in ("weight", "bias")
            }
            known = [(name, each) for name, each in self.model.named_parameters() if each.requires_grad]
            decayed = [each for name, each in known if name not in plain and not NOT_DECAYED.search(name)]
            others = [each for name, each in known if name in plain or NOT_DECAYED.search(name)]
            groups = [{"params": decayed, "weight_decay": args.weight_decay}, {"params": others, "weight_decay": 0.0}]
            groups = [each for each in groups if each["params"]]
            kind = str(getattr(args.optim, "value", args.optim))
            if kind.startswith("adamw"):
                self.optimizer = torch.optim.AdamW(
                    groups, lr=args.learning_rate, betas=(args.adam_beta1, args.adam_beta2), eps=args.adam_epsilon
                )
            elif kind == "sgd":
                self.optimizer = torch.optim.SGD(groups, lr=args.learning_rate)
            elif kind == "adagrad":
                self.optimizer = torch.optim.Adagrad(groups, lr=args.learning_rate)
            else:
                raise NotImplementedError(
                    f"optim={kind}: give the Trainer an optimizer of your own, by optimizers=(…, None)"
                )
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
        if self.takes_count and num_items_in_batch is not None:
            inputs = {**inputs, "num_items_in_batch": num_items_in_batch}
        outputs = model(**inputs)
        if self.compute_loss_func is not None and labels is not None:
            loss = self.compute_loss_func(outputs, labels, num_items_in_batch=num_items_in_batch)
        elif labels is not None:
            loss = self.label_smoother(outputs, labels)
        else:
            loss = outputs["loss"] if isinstance(outputs, dict) else outputs[0]
        return (loss, outputs) if return_outputs else loss

    def count_labels(self, batches):
        """How many labels count in the batches of one step; None where that can't be told."""
        if not self.takes_count or not all("labels" in each for each in batches):
            return None
        return sum(int((each["labels"] != -100).sum()) for each in batches)

    # training

    def train(self, resume_from_checkpoint=None, trial=None, ignore_keys_for_eval=None, **kwargs):
        args, model = self.args, self.model
        loader = self.get_train_dataloader()
        steps_in_epoch = max(math.ceil(len(loader) / args.gradient_accumulation_steps), 1)
        if args.max_steps > 0:
            max_steps, epochs = args.max_steps, math.ceil(args.max_steps / steps_in_epoch)
        else:
            max_steps, epochs = math.ceil(args.num_train_epochs * steps_in_epoch), math.ceil(args.num_train_epochs)
        self.create_optimizer_and_scheduler(max_steps)
        self.state = TrainerState(is_local_process_zero=True, is_world_process_zero=True)
        self.state.max_steps, self.state.num_train_epochs = max_steps, epochs
        self.state.compute_steps(args, max_steps)
        resumed = self.resume(resume_from_checkpoint) if resume_from_checkpoint else 0
        self.callback_handler.model, self.callback_handler.optimizer = model, self.optimizer
        self.callback_handler.lr_scheduler, self.callback_handler.train_dataloader = self.lr_scheduler, loader
        self.control = self.callback_handler.on_train_begin(args, self.state, self.control)
        began, total, shown, shown_step, norm = time.time(), 0.0, 0.0, self.state.global_step, None
        if args.eval_on_start:
            self.evaluate(ignore_keys=ignore_keys_for_eval)
        self.optimizer.zero_grad()
        for epoch in range(epochs):
            self.control = self.callback_handler.on_epoch_begin(args, self.state, self.control)
            for step, batches in enumerate(self.grouped(loader)):
                if epoch * steps_in_epoch + step < resumed:
                    continue
                self.control = self.callback_handler.on_step_begin(args, self.state, self.control)
                model.train()
                count = self.count_labels(batches)
                share = 1.0 if count is not None else 1.0 / len(batches)
                for inputs in batches:
                    loss = self.compute_loss(model, inputs, num_items_in_batch=count) * share
                    loss.backward()
                    total += float(loss)
                    shown += float(loss)
                if args.max_grad_norm:
                    norm = float(torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm))
                self.control = self.callback_handler.on_pre_optimizer_step(args, self.state, self.control)
                self.optimizer.step()
                self.control = self.callback_handler.on_optimizer_step(args, self.state, self.control)
                rate = self.lr_scheduler.get_last_lr()[0]
                self.lr_scheduler.step()
                self.optimizer.zero_grad()
                self.state.global_step += 1
                self.state.epoch = epoch + (step + 1) / steps_in_epoch
                self.control = self.callback_handler.on_step_end(args, self.state, self.control)
                shown, shown_step = self.report(shown, shown_step, norm, rate, ignore_keys_for_eval)
                if self.control.should_epoch_stop or self.control.should_training_stop:
                    break
            self.control = self.callback_handler.on_epoch_end(args, self.state, self.control)
            shown, shown_step = self.report(
                shown, shown_step, norm, self.lr_scheduler.get_last_lr()[0], ignore_keys_for_eval
            )
            if self.control.should_training_stop:
                break
        if args.load_best_model_at_end and self.state.best_model_checkpoint:
            self.load_weights(self.state.best_model_checkpoint)
        mean = total / max(self.state.global_step - resumed, 1)
        metrics = speed_metrics("train", began, num_samples=len(self.train_dataset) * epochs, num_steps=max_steps)
        metrics = {**metrics, "train_loss": mean}
        self.log(metrics)
        self.control = self.callback_handler.on_train_end(args, self.state, self.control)
        return TrainOutput(self.state.global_step, mean, metrics)

    def grouped(self, loader):
        """The batches of one step after the other."""
        kept = []
        for batch in loader:
            kept.append(batch)
            if len(kept) == self.args.gradient_accumulation_steps:
                yield kept
                kept = []
        if kept:
            yield kept

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
        logs = {**logs, "epoch": round(self.state.epoch, 2)} if self.state.epoch is not None else dict(logs)
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
        if self.processing_class is not None and hasattr(self.processing_class, "save_pretrained"):
            self.processing_class.save_pretrained(folder)

    def save_state(self):
        os.makedirs(self.args.output_dir, exist_ok=True)
        self.state.save_to_json(os.path.join(self.args.output_dir, "trainer_state.json"))

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
            kept = sorted(self.checkpoints())
            best = self.state.best_model_checkpoint
            for _, old in kept[: -self.args.save_total_limit]:
                if old != best:
                    shutil.rmtree(old)

    def checkpoints(self):
        root = self.args.output_dir
        names = os.listdir(root) if os.path.isdir(root) else []
        return [
            (int(name.rpartition("-")[2]), os.path.join(root, name))
            for name in names
            if re.fullmatch(r"checkpoint-\d+", name)
        ]

    def load_weights(self, folder):
        if hasattr(self.model, "save_pretrained"):
            was_training = self.model.training
            type(self.model).from_pretrained(folder, config=self.model.config, into=self.model).train(was_training)
        else:
            self.model.load_state_dict(torch.load(os.path.join(folder, "pytorch_model.ckpt")))

    def resume(self, folder):
        """Continue after a checkpoint: (True: the last one); the number of steps that are done."""
        folder = max(self.checkpoints())[1] if folder is True else folder
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
        has_labels = all(inputs.get(name) is not None for name in self.label_names)
        labels = tuple(inputs[name] for name in self.label_names) if has_labels else None
        with torch.no_grad():
            if has_labels:
                loss, outputs = self.compute_loss(model, inputs, return_outputs=True)
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
            metrics = dict(self.compute_metrics(EvalPrediction(predictions=predictions, label_ids=labels)))
        start = f"{metric_key_prefix}_"
        named = {name: value for name, value in metrics.items() if name.startswith(start)}
        if losses:
            named[f"{start}loss"] = float(np.mean(losses))
        metrics = named | {start + name: value for name, value in metrics.items() if name not in named}
        return predictions, labels, metrics, seen

    def evaluate(self, eval_dataset=None, ignore_keys=None, metric_key_prefix="eval"):
        began = time.time()
        loader = self.get_eval_dataloader(eval_dataset)
        only_loss = True if self.compute_metrics is None else None
        _, _, metrics, seen = self.evaluation_loop(loader, "Evaluation", only_loss, ignore_keys, metric_key_prefix)
        metrics.update(speed_metrics(metric_key_prefix, began, num_samples=seen, num_steps=len(loader)))
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def predict(self, test_dataset, ignore_keys=None, metric_key_prefix="test"):
        began = time.time()
        loader = self.get_test_dataloader(test_dataset)
        predictions, labels, metrics, seen = self.evaluation_loop(
            loader, "Prediction", False, ignore_keys, metric_key_prefix
        )
        metrics.update(speed_metrics(metric_key_prefix, began, num_samples=seen, num_steps=len(loader)))
        self.control = self.callback_handler.on_predict(self.args, self.state, self.control, metrics)
        return PredictionOutput(predictions=predictions, label_ids=labels, metrics=metrics)

    # what scripts call around it

    def log_metrics(self, split, metrics):
        print(f"***** {split} metrics *****")
        for name in sorted(metrics):
            print(f"  {name} = {metrics[name]}")

    def save_metrics(self, split, metrics, combined=True):
        import json

        os.makedirs(self.args.output_dir, exist_ok=True)
        with open(os.path.join(self.args.output_dir, f"{split}_results.json"), "w", encoding="utf-8") as file:
            json.dump(metrics, file, indent=4, sort_keys=True)

    def is_world_process_zero(self):
        return True

    is_local_process_zero = is_world_process_zero

    def push_to_hub(self, *args, **kwargs):
        raise NotImplementedError("push_to_hub: save_model() writes a folder that can be uploaded")

    def create_model_card(self, *args, **kwargs):
        pass
