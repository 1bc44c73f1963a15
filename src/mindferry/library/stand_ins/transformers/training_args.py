"""Instead of the whole module: what a Trainer is told, for one process on one device."""

import dataclasses
import json
import os
from dataclasses import dataclass, field
from enum import Enum, StrEnum

from .trainer_utils import HubStrategy, IntervalStrategy, SaveStrategy, SchedulerType


class OptimizerNames(StrEnum):
    ADAMW_TORCH = "adamw_torch"
    ADAMW_TORCH_FUSED = "adamw_torch_fused"
    ADAMW_HF = "adamw_hf"
    SGD = "sgd"
    ADAGRAD = "adagrad"
    RMSPROP = "rmsprop"


class ParallelMode(Enum):
    NOT_PARALLEL = "not_parallel"


@dataclass
class TrainingArguments:
    output_dir: str | None = field(default=None, metadata={"help": "The folder of what training writes."})
    overwrite_output_dir: bool = False
    do_train: bool = False
    do_eval: bool = False
    do_predict: bool = False
    eval_strategy: str = "no"
    evaluation_strategy: str | None = None
    prediction_loss_only: bool = False
    per_device_train_batch_size: int = 8
    per_device_eval_batch_size: int = 8
    gradient_accumulation_steps: int = 1
    eval_accumulation_steps: int | None = None
    eval_delay: float = 0
    learning_rate: float = 5e-5
    weight_decay: float = 0.0
    adam_beta1: float = 0.9
    adam_beta2: float = 0.999
    adam_epsilon: float = 1e-8
    max_grad_norm: float = 1.0
    num_train_epochs: float = 3.0
    max_steps: int = -1
    lr_scheduler_type: str = "linear"
    lr_scheduler_kwargs: dict | None = None
    warmup_ratio: float | None = None
    warmup_steps: float = 0
    log_level: str = "passive"
    logging_dir: str | None = None
    logging_strategy: str = "steps"
    logging_first_step: bool = False
    logging_steps: float = 500
    logging_nan_inf_filter: bool = True
    save_strategy: str = "steps"
    save_steps: float = 500
    save_total_limit: int | None = None
    save_only_model: bool = False
    save_safetensors: bool = True
    use_cpu: bool = False
    no_cuda: bool = False
    seed: int = 42
    data_seed: int | None = None
    bf16: bool = False
    fp16: bool = False
    tf32: bool | None = None
    local_rank: int = -1
    dataloader_drop_last: bool = False
    eval_steps: float | None = None
    dataloader_num_workers: int = 0
    dataloader_pin_memory: bool = True
    run_name: str | None = None
    disable_tqdm: bool | None = None
    remove_unused_columns: bool = True
    label_names: list[str] | None = None
    load_best_model_at_end: bool = False
    metric_for_best_model: str | None = None
    greater_is_better: bool | None = None
    label_smoothing_factor: float = 0.0
    optim: str = "adamw_torch"
    group_by_length: bool = False
    report_to: str | list[str] | None = None
    ddp_find_unused_parameters: bool | None = None
    push_to_hub: bool = False
    resume_from_checkpoint: str | None = None
    hub_model_id: str | None = None
    hub_strategy: str = "every_save"
    hub_token: str | None = None
    gradient_checkpointing: bool = False
    gradient_checkpointing_kwargs: dict | None = None
    include_inputs_for_metrics: bool = False
    include_for_metrics: list[str] = field(default_factory=list)
    eval_do_concat_batches: bool = True
    batch_eval_metrics: bool = False
    eval_on_start: bool = False
    auto_find_batch_size: bool = False
    full_determinism: bool = False
    torch_compile: bool = False
    torch_empty_cache_steps: int | None = None
    past_index: int = -1
    ignore_data_skip: bool = False
    average_tokens_across_devices: bool = True
    skip_memory_metrics: bool = True

    n_gpu = process_index = local_process_index = 0
    world_size, parallel_mode, device = 1, ParallelMode.NOT_PARALLEL, "cpu"
    should_log = should_save = place_model_on_device = True

    def __post_init__(self):
        if self.evaluation_strategy is not None:
            self.eval_strategy = self.evaluation_strategy
        self.output_dir = os.path.expanduser(self.output_dir or "trainer_output")
        self.eval_strategy = IntervalStrategy(self.eval_strategy)
        self.logging_strategy = IntervalStrategy(self.logging_strategy)
        self.save_strategy = SaveStrategy(self.save_strategy)
        self.lr_scheduler_type = SchedulerType(self.lr_scheduler_type)
        self.hub_strategy = HubStrategy(self.hub_strategy)
        self.do_eval = self.do_eval or self.eval_strategy != IntervalStrategy.NO
        self.disable_tqdm = True if self.disable_tqdm is None else self.disable_tqdm
        if self.eval_strategy == IntervalStrategy.STEPS and not self.eval_steps:
            self.eval_steps = self.logging_steps
        if self.load_best_model_at_end and self.metric_for_best_model is None:
            self.metric_for_best_model = "loss"
        if self.greater_is_better is None and self.metric_for_best_model is not None:
            self.greater_is_better = not self.metric_for_best_model.endswith("loss")
        if self.push_to_hub or self.group_by_length or self.torch_compile:
            raise NotImplementedError("push_to_hub, group_by_length and torch_compile have no counterpart here")

    @property
    def train_batch_size(self):
        return self.per_device_train_batch_size

    @property
    def eval_batch_size(self):
        return self.per_device_eval_batch_size

    def get_warmup_steps(self, num_training_steps):
        if self.warmup_steps >= 1:
            return int(self.warmup_steps)
        ratio = self.warmup_ratio if self.warmup_ratio is not None else self.warmup_steps
        return -int(-num_training_steps * ratio // 1)

    def to_dict(self):
        found = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        return {name: value.value if isinstance(value, Enum) else value for name, value in found.items()}

    def to_json_string(self):
        return json.dumps(self.to_dict(), indent=2, default=str)

    def to_sanitized_dict(self):
        return {
            name: value if isinstance(value, bool | int | float | str) else str(value)
            for name, value in self.to_dict().items()
        }

    def get_process_log_level(self):
        return 30
