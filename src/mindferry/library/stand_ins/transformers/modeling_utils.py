"""from_pretrained and save_pretrained of transformers, for files that hold torch's names: safetensors, whole or in parts, and .ckpt."""

import json
import os

import torch
from safetensors.torch import load_file, save_file

from .conversion_mapping import get_model_conversion_mapping
from .core_model_loading import (
    WeightConverter,
    WeightRenaming,
    dot_natural_key,
    rename_source_key,
    revert_weight_conversion,
)

HUB_OPTIONS = ("cache_dir", "force_download", "local_files_only", "token", "revision", "proxies")
IDLE_OPTIONS = frozenset(  # of torch's loader alone
    "_from_auto _from_pipeline adapter_kwargs trust_remote_code device_map low_cpu_mem_usage use_safetensors weights_only "
    "max_memory offload_folder use_auth_token resume_download".split()
)


def weight_files(source, subfolder, hub):
    """The files of a checkpoint in a folder, or in a repository on the hub."""
    folder = os.path.join(str(source), subfolder)

    def find(name):
        if os.path.isdir(folder):
            place = os.path.join(folder, name)
            return place if os.path.isfile(place) else None
        return cached_file(source, name, subfolder=subfolder, _raise_exceptions_for_missing_entries=False, **hub)

    for name in ("model.safetensors", "pytorch_model.ckpt", "model.ckpt"):
        if (place := find(name)) is not None:
            return [place]
    for index in ("model.safetensors.index.json", "pytorch_model.bin.index.json"):
        if (place := find(index)) is not None:
            with open(place, encoding="utf-8") as file:
                names = sorted(set(json.load(file)["weight_map"].values()))
            return [find(name.removesuffix(".bin") + ".ckpt") or find(name) or name for name in names]
    if (place := find("pytorch_model.bin")) is not None:
        ckpt = os.path.join(os.path.dirname(place), "pytorch_model.ckpt")
        raise OSError(f"{place} is torch's pickle: convert it with `mindferry weights convert {place} -o {ckpt}`")
    raise OSError(f"{folder} has no model.safetensors, no model.safetensors.index.json and no pytorch_model.ckpt")


def read_weights(files):
    state = {}
    for file in files:
        state.update(load_file(file) if str(file).endswith(".safetensors") else torch.load(file))
    return state


def place_weights(model: torch.nn.Module, state, name, ignore_mismatched_sizes):
    """Fill a network from a checkpoint's entries; (missing, unexpected, of another size), as torch's side reports them."""
    own = model.state_dict()
    given = fit_names(in_this_version(model, state), own, model.base_model_prefix)
    other = [key for key in given if key in own and given[key].numel() != own[key].numel()]
    if other and not ignore_mismatched_sizes:
        raise RuntimeError(f"these weights of {name} have another size than the network's: {other}")
    fitting = {key: value for key, value in given.items() if key in own and key not in other}
    model.load_state_dict(fitting, strict=False)
    tied = set(getattr(model, "all_tied_weights_keys", None) or getattr(model, "_tied_weights_keys", None) or ())
    missing = sorted(
        key for key in set(own) - set(fitting) - tied if not key.endswith(("position_ids", "num_batches_tracked"))
    )
    unexpected = sorted(set(given) - set(own))
    if missing:
        logger.warning(f"These weights of {type(model).__name__} are not in {name}, and are new: {missing}")
    if unexpected:
        logger.warning(f"These weights of {name} are not used by {type(model).__name__}: {unexpected}")
    return missing, unexpected, other


def in_this_version(model: torch.nn.Module, state):
    """A checkpoint's entries under the names and in the shapes that this version of the library gives them."""
    if not get_model_conversion_mapping:  # an older library has no such thing
        return state
    steps = get_model_conversion_mapping(model)
    renamings = [each for each in steps if isinstance(each, WeightRenaming)]
    converters = [each for each in steps if isinstance(each, WeightConverter)]
    by_pattern = {pattern: each for each in converters for pattern in each.source_patterns}
    own, made, gathered = model.state_dict(), {}, {}
    for key, value in sorted(state.items(), key=lambda each: dot_natural_key(each[0])):
        name, pattern = rename_source_key(key, renamings, converters, model.base_model_prefix, own)
        if name not in own and key in own:
            name, pattern = key, None
        if pattern is None:
            made[name] = value
        else:
            gathered.setdefault(name, copy.deepcopy(by_pattern[pattern])).add_tensor(name, key, pattern, value)
    for name, step in gathered.items():
        for target, value in step.convert(name, model=model, config=model.config).items():
            made[target] = value[0] if isinstance(value, list) else value
    model._weight_conversions = steps
    return made


def chosen_dtype(dtype, config):
    """What was asked for; 'auto' or nothing: as the checkpoint was saved."""
    if dtype is None or dtype == "auto":
        dtype = getattr(config, "dtype", None)
    return getattr(torch, dtype) if isinstance(dtype, str) else dtype


def fit_names(state, wanted, prefix):
    """The checkpoint's entries under the names that the network has: old names of normalization, the base model's prefix."""
    fitted = {}
    for key, value in state.items():
        for old, new in (("LayerNorm.gamma", "LayerNorm.weight"), ("LayerNorm.beta", "LayerNorm.bias")):
            key = key.replace(old, new)
        if key not in wanted and prefix:
            key = next((each for each in (f"{prefix}.{key}", key.removeprefix(f"{prefix}.")) if each in wanted), key)
        fitted[key] = value
    return fitted


def get_module_from_name(module, tensor_name):
    """The part of a network that owns a weight, and the weight's name in it."""
    if "." in tensor_name:
        owner, tensor_name = tensor_name.rsplit(".", 1)
        module = module.get_submodule(owner)
    return module, tensor_name


class DistributedMixin:
    """Weights are not spread over devices."""

    _device_mesh = _mesh_manager = _tp_size = _fsdp_size = None
    _tp_plan = _ep_plan = _pp_plan = _fsdp_plan = None
    is_distributed_loading_by_transformers = False

    def init_parallel_plans(self):
        """There is nothing to plan."""


class PreTrainedModel:
    def get_correct_experts_implementation(self, requested_experts):
        """Experts one after another: grouped matrix products are torch's own kernels."""
        if requested_experts in (None, "eager", "grouped_mm"):
            return "eager"
        if requested_experts != "batched_mm":
            raise ValueError(
                f"experts_implementation={requested_experts!r} is torch's own: use 'eager' or 'batched_mm'"
            )
        return requested_experts

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path,
        *model_args,
        config=None,
        state_dict=None,
        dtype=None,
        torch_dtype=None,
        ignore_mismatched_sizes=False,
        output_loading_info=False,
        subfolder="",
        into=None,
        **kwargs,
    ):
        """The network (`into`: this one) with the weights of a folder, or of a repository on the hub."""
        hub = {name: kwargs.pop(name) for name in HUB_OPTIONS if name in kwargs}
        kwargs = {name: value for name, value in kwargs.items() if name not in IDLE_OPTIONS}
        if any(kwargs.pop(name, None) for name in ("quantization_config", "load_in_8bit", "load_in_4bit")):
            raise NotImplementedError("quantized weights are torch's own kernels: load the network as it is")
        attention = kwargs.pop("attn_implementation", None)
        if not isinstance(config, PreTrainedConfig):
            source = config if config is not None else pretrained_model_name_or_path
            config, kwargs = cls.config_class.from_pretrained(
                source, return_unused_kwargs=True, subfolder=subfolder, **hub, **kwargs
            )
        else:
            config = copy.deepcopy(config)
        if attention is not None:
            config._attn_implementation = attention
        config.name_or_path = str(pretrained_model_name_or_path)
        model: torch.nn.Module = cls(config, *model_args, **kwargs) if into is None else into
        if state_dict is None:
            state_dict = read_weights(weight_files(pretrained_model_name_or_path, subfolder, hub))
        missing, unexpected, other = place_weights(
            model, state_dict, pretrained_model_name_or_path, ignore_mismatched_sizes
        )
        model.tie_weights()
        kind = chosen_dtype(dtype if dtype is not None else torch_dtype, config)
        if kind is not None and kind != torch.float32:
            model.to(dtype=kind)
        model.eval()
        if model.can_generate():
            try:
                model.generation_config = type(model.generation_config).from_pretrained(
                    pretrained_model_name_or_path, subfolder=subfolder, **hub
                )
            except OSError:
                pass
        if output_loading_info:
            report = {
                "missing_keys": missing,
                "unexpected_keys": unexpected,
                "mismatched_keys": other,
                "error_msgs": [],
            }
            return model, report
        return model

    def save_pretrained(self, save_directory, is_main_process=True, state_dict=None, **kwargs):
        """Configuration and weights, as torch's side reads them."""
        if not is_main_process:
            return
        os.makedirs(save_directory, exist_ok=True)
        self.config.architectures = [type(self).__name__]
        self.config.save_pretrained(save_directory)
        if self.can_generate():
            self.generation_config.save_pretrained(save_directory)
        tied = set(getattr(self, "all_tied_weights_keys", None) or ())
        state = self.state_dict() if state_dict is None else state_dict
        kept = {key: value for key, value in state.items() if key not in tied}
        if revert_weight_conversion:
            kept = revert_weight_conversion(self, kept)
        save_file(kept, os.path.join(save_directory, "model.safetensors"), metadata={"format": "pt"})

    @classmethod
    def is_custom_code(cls):
        """Whether the network is not the library's own."""
        return not f".{cls.__module__}".startswith((".transformers.", ".ported.transformers.")) and (
            ".ported.transformers." not in cls.__module__
        )
