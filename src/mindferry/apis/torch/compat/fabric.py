"""lightning.Fabric for one process."""

import contextlib

import mindspore as ms

from .accelerator import set_seed
from .layers_state import load_state_dict, state_dict
from .layers_weight import clip_grad_norm, clip_grad_value
from .saving import load, save


class Fabric:
    """What a training script asks of Fabric, where there is one process and one device."""

    is_global_zero, world_size, global_rank, local_rank, node_rank = True, 1, 0, 0, 0

    def __init__(self, accelerator="auto", strategy="auto", devices="auto", num_nodes=1, precision=None, **options):
        many = devices if isinstance(devices, int) else len(devices) if isinstance(devices, list | tuple) else 1
        if many > 1 or num_nodes > 1:
            raise NotImplementedError(
                f"Fabric(devices={devices!r}) here is one process: use devices=1, or start with msrun"
            )
        self.device = ms.get_context("device_target")
        self.precision = precision or "32-true"  # computed in float32 all the same
        self.callbacks, self.loggers = list(options.get("callbacks") or ()), list(options.get("loggers") or ())

    def launch(self, function=None, *args, **kwargs):
        return function(self, *args, **kwargs) if function is not None else None

    def setup(self, module, *optimizers, **options):
        """They come back as they are: there is nothing to spread or to move."""
        return (module, *optimizers) if optimizers else module

    def setup_module(self, module, *settings, **options):
        return module

    def setup_optimizers(self, *optimizers):
        return optimizers if len(optimizers) != 1 else optimizers[0]

    def setup_dataloaders(self, *loaders, **options):
        return loaders if len(loaders) != 1 else loaders[0]

    def clip_gradients(self, module, optimizer, clip_val=None, max_norm=None, norm_type=2.0, error_if_nonfinite=True):
        parameters = [each for group in optimizer.param_groups for each in group["params"]]
        if clip_val is not None:
            return clip_grad_value(parameters, clip_val)
        return clip_grad_norm(parameters, max_norm, norm_type)

    def autocast(self, *settings, **options):
        return contextlib.nullcontext()

    no_backward_sync = init_module = init_tensor = rank_zero_first = sharded_model = autocast

    def to_device(self, obj):
        return obj

    def all_gather(self, data, *settings, **options):
        return data

    all_reduce = broadcast = all_gather

    def barrier(self, name=None):
        pass

    def print(self, *values, **options):
        print(*values, **options)

    @staticmethod
    def seed_everything(seed=None, workers=None, verbose=True):
        seed = 0 if seed is None else seed
        set_seed(seed)
        return seed

    def call(self, hook_name, *args, **kwargs):
        for each in self.callbacks:
            if callable(getattr(each, hook_name, None)):
                getattr(each, hook_name)(*args, **kwargs)

    def log_dict(self, metrics, step=None):
        for each in self.loggers:
            each.log_metrics(metrics=metrics, step=step)

    def log(self, name, value, step=None):
        self.log_dict({name: value}, step)

    def save(self, path, state, filter=None):
        """Networks and optimizers by their states, the rest as it is."""
        save({name: self.state_of(each) for name, each in state.items()}, path)

    def state_of(self, each):
        if isinstance(each, ms.nn.Cell) and not hasattr(each, "param_groups"):
            return state_dict(each)
        return each.state_dict() if hasattr(each, "state_dict") else each

    def load(self, path, state=None, strict=True):
        """What is not asked for in `state` is returned."""
        held = load(path, weights_only=False)
        for name in [each for each in state or () if each in held]:
            value, target = held.pop(name), state[name]
            if isinstance(target, ms.nn.Cell) and not hasattr(target, "param_groups"):
                load_state_dict(target, value, strict)
            elif hasattr(target, "load_state_dict"):
                target.load_state_dict(value)
            else:
                state[name] = value
        return held

    def load_raw(self, path, obj, strict=True):
        held = load(path, weights_only=False)
        load_state_dict(obj, held, strict) if isinstance(obj, ms.nn.Cell) else obj.load_state_dict(held)
