"""accelerate.Accelerator for one process."""

import contextlib

import mindspore as ms

from .layers_weight import clip_grad_norm, clip_grad_value


class Accelerator:
    """What a training script asks of accelerate, where there is one process and one device."""

    is_main_process = is_local_main_process = is_last_process = sync_gradients = True
    num_processes, process_index, local_process_index = 1, 0, 0
    scaler = None

    def __init__(self, *settings, gradient_accumulation_steps=1, mixed_precision=None, **options):
        if gradient_accumulation_steps != 1:
            raise NotImplementedError(
                "gradient_accumulation_steps: call step() and zero_grad() every few batches instead"
            )
        self.device = ms.get_context("device_target")
        self.mixed_precision = mixed_precision or "no"  # computed in float32 all the same

    def prepare(self, *objects, **options):
        return objects if len(objects) != 1 else objects[0]

    def autocast(self, *settings, **options):
        return contextlib.nullcontext()

    def no_sync(self, model):
        return contextlib.nullcontext()

    def accumulate(self, *models):
        return contextlib.nullcontext()

    def clip_grad_norm_(self, parameters, max_norm, norm_type=2):
        return clip_grad_norm(parameters, max_norm, norm_type)

    def clip_grad_value_(self, parameters, clip_value):
        clip_grad_value(parameters, clip_value)

    def wait_for_everyone(self):
        pass

    def print(self, *values, **options):
        print(*values, **options)

    def unwrap_model(self, model, *settings, **options):
        return model

    def get_state_dict(self, model, *settings):
        return model.state_dict()

    def gather(self, tensor):
        return tensor

    def gather_for_metrics(self, tensor, *settings):
        return tensor

    def reduce(self, tensor, *settings, **options):
        return tensor
