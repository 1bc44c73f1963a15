"""from_pretrained and save_pretrained of diffusers' networks, for safetensors, whole or in parts, and .ckpt."""

import json
import os

import torch
from huggingface_hub import hf_hub_download
from safetensors.torch import load_file, save_file

FILE = "diffusion_pytorch_model"


def weight_files(folder, subfolder, variant, hub):
    """The files of a checkpoint in a folder, or in a repository on the hub."""
    place = os.path.join(str(folder), subfolder or "")
    start = f"{FILE}.{variant}" if variant else FILE

    def find(name):
        if os.path.isdir(place):
            return os.path.join(place, name) if os.path.isfile(os.path.join(place, name)) else None
        try:
            return hf_hub_download(str(folder), name, subfolder=subfolder, **hub)
        except (OSError, ValueError):
            return None

    for name in (f"{start}.safetensors", f"{start}.ckpt"):
        if (found := find(name)) is not None:
            return [found]
    if (index := find(f"{FILE}.safetensors.index.json")) is not None:
        with open(index, encoding="utf-8") as file:
            return [find(name) for name in sorted(set(json.load(file)["weight_map"].values()))]
    raise OSError(
        f"{place} has no {start}.safetensors and no {start}.ckpt; `mindferry weights convert` makes one of a .bin"
    )


class ModelMixin:
    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path, **kwargs):
        """The network with the weights of a folder, or of a repository on the hub."""
        subfolder, variant = kwargs.pop("subfolder", None), kwargs.pop("variant", None)
        wanted_dtype = kwargs.pop("torch_dtype", kwargs.pop("dtype", None))
        hub = {
            name: kwargs.pop(name)
            for name in ("cache_dir", "force_download", "local_files_only", "token", "revision")
            if name in kwargs
        }
        for name in ("low_cpu_mem_usage", "device_map", "use_safetensors", "max_memory", "quantization_config"):
            kwargs.pop(name, None)
        config, unused = cls.load_config(
            pretrained_model_name_or_path, return_unused_kwargs=True, subfolder=subfolder, **hub, **kwargs
        )
        model: torch.nn.Module = cls.from_config(config, **unused)
        state = {}
        for file in weight_files(pretrained_model_name_or_path, subfolder, variant, hub):
            state.update(load_file(file) if str(file).endswith(".safetensors") else torch.load(file))
        model.load_state_dict(state)
        if wanted_dtype is not None and wanted_dtype != torch.float32:
            model.to(dtype=wanted_dtype)
        model.eval()
        return model

    def save_pretrained(self, save_directory, is_main_process=True, variant=None, **kwargs):
        """Configuration and weights, as torch's side reads them."""
        if is_main_process:
            os.makedirs(save_directory, exist_ok=True)
            self.save_config(save_directory)
            name = f"{FILE}.{variant}.safetensors" if variant else f"{FILE}.safetensors"
            save_file(self.state_dict(), os.path.join(save_directory, name), metadata={"format": "pt"})
