"""accelerate.Accelerator for one process."""

import contextlib
import logging
import os
import random

import mindspore as ms
import numpy as np
from mindspore import nn

from .gradients import add_gradients, clear_gradients, gathered
from .layers_state import load_state_dict, state_dict
from .layers_weight import clip_grad_norm, clip_grad_value
from .saving import load, save


class Accelerator:
    """What a training script asks of accelerate, where there is one process and one device."""

    is_main_process = is_local_main_process = is_last_process = sync_gradients = True
    num_processes, process_index, local_process_index = 1, 0, 0
    distributed_type, use_distributed, scaler, optimizer_step_was_skipped = "NO", False, None, False

    def __init__(self, *settings, gradient_accumulation_steps=1, mixed_precision=None, project_dir=None, **options):
        self.gradient_accumulation_steps, self.project_dir = gradient_accumulation_steps, project_dir
        self.device = ms.get_context("device_target")
        self.mixed_precision = mixed_precision or "no"  # computed in float32 all the same
        self.batches, self.is_last_batch = 0, False
        self.state, self.trackers, self.prepared = self, [], []

    def prepare(self, *objects, **options):
        made = [self.prepare_one(each) for each in objects]
        self.prepared.extend(made)
        return tuple(made) if len(made) != 1 else made[0]

    def prepare_one(self, each):
        if self.gradient_accumulation_steps == 1:
            return each
        if hasattr(each, "param_groups"):
            return PreparedOptimizer(each, self)
        if isinstance(each, nn.Cell):
            for parameter in each.trainable_params():
                parameter.gradient_share = 1 / self.gradient_accumulation_steps
            return each
        if hasattr(each, "get_last_lr"):
            return PreparedScheduler(each, self)
        return PreparedLoader(each, self) if hasattr(each, "__iter__") else each

    prepare_model = prepare_optimizer = prepare_scheduler = prepare_data_loader = prepare

    @contextlib.contextmanager
    def accumulate(self, *models):
        """The batches inside count together; the last one of a loader always counts."""
        self.batches = 0 if self.is_last_batch else self.batches + 1
        self.sync_gradients = self.is_last_batch or self.batches % self.gradient_accumulation_steps == 0
        yield

    def autocast(self, *settings, **options):
        return contextlib.nullcontext()

    no_sync = join_uneven_inputs = profile = autocast

    @contextlib.contextmanager
    def main_process_first(self):
        yield

    local_main_process_first = main_process_first

    def on_main_process(self, function):
        return function

    on_local_main_process = on_last_process = on_main_process

    def clip_grad_norm_(self, parameters, max_norm, norm_type=2):
        return clip_grad_norm(parameters, max_norm, norm_type) if self.sync_gradients else None

    def clip_grad_value_(self, parameters, clip_value):
        if self.sync_gradients:
            clip_grad_value(parameters, clip_value)

    def wait_for_everyone(self):
        pass

    def print(self, *values, **options):
        print(*values, **options)

    def unwrap_model(self, model, *settings, **options):
        return model

    def get_state_dict(self, model, *settings):
        return state_dict(model)

    def gather(self, tensor):
        return tensor

    def gather_for_metrics(self, tensor, *settings):
        return tensor

    def reduce(self, tensor, *settings, **options):
        return tensor

    pad_across_processes = reduce

    @contextlib.contextmanager
    def split_between_processes(self, inputs, apply_padding=False):
        yield inputs

    def init_trackers(self, project_name, config=None, init_kwargs=None):
        pass

    def log(self, values, step=None, log_kwargs=None):
        """There is no tracker; what is logged can be seen at the level of information."""
        logging.getLogger("accelerate").info("step %s: %s", step, values)

    def end_training(self):
        pass

    def register_for_checkpointing(self, *objects):
        self.prepared.extend(objects)

    def free_memory(self, *objects):
        self.prepared.clear()
        return list(objects)

    clear = free_memory

    def save(self, obj, f, safe_serialization=False):
        save(obj, f)

    def save_model(self, model, save_directory, *settings, **options):
        os.makedirs(save_directory, exist_ok=True)
        save(state_dict(model), os.path.join(save_directory, "model.ckpt"))

    def save_state(self, output_dir=None, **options):
        """What was prepared, one file each."""
        folder = output_dir or os.path.join(self.project_dir or ".", "checkpoints")
        os.makedirs(folder, exist_ok=True)
        for index, each in enumerate(self.prepared):
            if isinstance(each, nn.Cell) and not hasattr(each, "param_groups"):
                save(state_dict(each), os.path.join(folder, f"{index}.ckpt"))
            elif hasattr(each, "state_dict"):
                save(each.state_dict(), os.path.join(folder, f"{index}.ckpt"))
        return folder

    def load_state(self, input_dir=None, **options):
        folder = input_dir or os.path.join(self.project_dir or ".", "checkpoints")
        for index, each in enumerate(self.prepared):
            place = os.path.join(folder, f"{index}.ckpt")
            if os.path.exists(place):
                held = load(place, weights_only=False)
                if isinstance(each, nn.Cell) and not hasattr(each, "param_groups"):
                    load_state_dict(each, held)
                else:
                    each.load_state_dict(held)

    def skip_first_batches(self, dataloader, num_batches=0):
        return skip_first_batches(dataloader, num_batches)


class PreparedOptimizer:
    """An optimizer that steps once every few batches, with the mean of their gradients."""

    def __init__(self, optimizer, accelerator):
        self.inner, self.accelerator = optimizer, accelerator

    def __getattr__(self, name):
        return getattr(self.__dict__["inner"], name)

    def __call__(self, grads):
        add_gradients(self.inner.parameters, grads)
        if self.accelerator.sync_gradients:
            self.inner(gathered(self.inner))
            clear_gradients(self.inner)

    def apply_if_due(self):
        if self.accelerator.sync_gradients:
            self.inner(gathered(self.inner))

    def clear_if_due(self):
        if self.accelerator.sync_gradients:
            clear_gradients(self.inner)


class PreparedScheduler:
    """A scheduler that steps when its optimizer does."""

    def __init__(self, scheduler, accelerator):
        self.inner, self.accelerator = scheduler, accelerator

    def __getattr__(self, name):
        return getattr(self.__dict__["inner"], name)

    def step(self, *values, **options):
        if self.accelerator.sync_gradients:
            self.inner.step(*values, **options)


class PreparedLoader:
    """A loader that knows its last batch."""

    def __init__(self, loader, accelerator):
        self.inner, self.accelerator = loader, accelerator

    def __getattr__(self, name):
        return getattr(self.__dict__["inner"], name)

    def __len__(self):
        return len(self.inner)

    def __iter__(self):
        nothing = object()
        batches = iter(self.inner)
        batch = next(batches, nothing)
        while batch is not nothing:
            following = next(batches, nothing)
            self.accelerator.is_last_batch = following is nothing
            yield batch
            batch = following
        self.accelerator.is_last_batch = False


def skip_first_batches(dataloader, num_batches=0):
    """The batches of a loader but for the first few."""
    return [batch for index, batch in enumerate(dataloader) if index >= num_batches]


class AcceleratorSettings:
    """ProjectConfiguration, DistributedDataParallelKwargs and the like: they change nothing in one process."""

    def __init__(self, *values, **options):
        self.__dict__.update(options)


class MainProcessLogger(logging.LoggerAdapter):
    """A logger that takes accelerate's main_process_only and in_order."""

    def process(self, message, options):
        return message, {
            name: value for name, value in options.items() if name not in ("main_process_only", "in_order")
        }


def set_seed(seed, *settings, **options):
    """Python's, numpy's and MindSpore's random numbers."""
    random.seed(seed)
    np.random.seed(seed)
    ms.set_seed(seed)


def get_logger(name, log_level=None):
    logger = logging.getLogger(name)
    if log_level is not None:
        logger.setLevel(log_level.upper())
    return MainProcessLogger(logger, {})


def is_unavailable(*settings, **options):
    """accelerate.utils.is_xpu_available and its kin: converted code has none of torch's devices and kernels."""
    return False
