"""Instead of the whole module: what a Trainer is told, for one process on one device."""

import dataclasses
import json
import os
from dataclasses import dataclass, field
from enum import Enum, StrEnum

from .trainer_utils import HubStrategy, IntervalStrategy, SaveStrategy, SchedulerType

WITHOUT_COUNTERPART = (  # each would change what is computed, or where: ignored, it would be a silent difference
    "push_to_hub group_by_length torch_compile optim_args optim_target_modules neftune_noise_alpha "
    "include_num_input_tokens_seen fsdp deepspeed parallelism_config bf16_full_eval fp16_full_eval "
    "batch_eval_metrics include_for_metrics include_inputs_for_metrics"
).split()


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
    train_sampling_strategy: str = "random"
    length_column_name: str = "length"
    optim_args: str | None = None
    optim_target_modules: str | list[str] | None = None
    neftune_noise_alpha: float | None = None
    include_num_input_tokens_seen: str | bool = False
    include_tokens_per_second: bool = False
    torch_compile_backend: str | None = None
    torch_compile_mode: str | None = None
    torchdynamo: str | None = None
    jit_mode_eval: bool = False
    use_liger_kernel: bool = False
    liger_kernel_config: dict | None = None
    use_cache: bool = False
    use_ipex: bool = False
    use_mps_device: bool = False
    log_level_replica: str = "warning"
    log_on_each_node: bool = True
    project: str = "huggingface"
    trackio_space_id: str | None = "trackio"
    trackio_bucket_id: str | None = None
    trackio_static_space_id: str | bool | None = None
    eval_use_gather_object: bool = False
    save_on_each_node: bool = False
    enable_jit_checkpoint: bool = False
    restore_callback_states_from_checkpoint: bool = False
    hub_private_repo: bool | None = None
    hub_always_push: bool = False
    hub_revision: str | None = None
    push_to_hub_model_id: str | None = None
    push_to_hub_organization: str | None = None
    push_to_hub_token: str | None = None
    accelerator_config: dict | str | None = None
    parallelism_config: object = None
    dataloader_persistent_workers: bool = False
    dataloader_prefetch_factor: int | None = None
    dataloader_multiprocessing_context: str | None = None
    dataloader_in_order: bool = True
    ddp_bucket_cap_mb: int | None = None
    ddp_broadcast_buffers: bool | None = None
    ddp_static_graph: bool | None = None
    ddp_backend: str | None = None
    ddp_timeout: int = 1800
    fsdp: str | list[str] | bool | None = None
    fsdp_config: dict | str | None = None
    fsdp_min_num_params: int = 0
    fsdp_transformer_layer_cls_to_wrap: str | None = None
    deepspeed: dict | str | None = None
    debug: str | list[str] = ""
    mp_parameters: str = ""
    ray_scope: str | None = "last"
    half_precision_backend: str = "auto"
    fp16_opt_level: str = "O1"
    fp16_backend: str = "auto"
    bf16_full_eval: bool = False
    fp16_full_eval: bool = False
    per_gpu_train_batch_size: int | None = None
    per_gpu_eval_batch_size: int | None = None

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
        self.per_device_train_batch_size = self.per_gpu_train_batch_size or self.per_device_train_batch_size
        self.per_device_eval_batch_size = self.per_gpu_eval_batch_size or self.per_device_eval_batch_size
        if self.train_sampling_strategy == "group_by_length":
            self.group_by_length = True
        asked = [name for name in WITHOUT_COUNTERPART if getattr(self, name)]
        if asked:
            raise NotImplementedError(f"TrainingArguments({asked[0]}=…) has no counterpart here: leave it out")

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
