"""What a Lightning Trainer may be told and what it refuses; and the seeds of all random numbers."""

import os
import random

import numpy as np

from .host_numbers import manual_seed

# Options that concern devices or what is shown, with the values that mean what happens here; ... stands for any.
OTHER_OPTIONS = {
    "accelerator": ...,
    "strategy": ("auto", None, "single_device"),
    "devices": (1, "1", "auto", -1, [0]),
    "num_nodes": (1,),
    "precision": (None, 32, "32", "32-true"),
    "benchmark": ...,
    "inference_mode": ...,
    "use_distributed_sampler": ...,
    "detect_anomaly": (False,),
    "enable_model_summary": ...,
    "enable_autolog_hparams": ...,
    "profiler": (None,),
    "plugins": (None, []),
    "sync_batchnorm": (False,),
    "barebones": (False,),
    "max_time": (None,),
    "model_registry": (None,),
    "gpus": (None, 0, 1, "1", -1, [0]),
    "progress_bar_refresh_rate": ...,
    "weights_summary": ...,
}


def refuse_options(options):
    """What a Trainer here can't do is an error, not something that silently doesn't happen."""
    for name, value in options.items():
        if name not in OTHER_OPTIONS:
            raise TypeError(f"Trainer has no option {name}")
        if OTHER_OPTIONS[name] is not ... and value not in OTHER_OPTIONS[name]:
            raise NotImplementedError(f"Trainer({name}={value!r}) is not here: one process, one device, float32")


def seed_everything(seed=None, workers=False, verbose=True):
    """lightning.seed_everything: Python's, numpy's and MindSpore's random numbers."""
    seed = int(os.environ.get("PL_GLOBAL_SEED", 0)) if seed is None else int(seed)
    os.environ["PL_GLOBAL_SEED"] = str(seed)
    random.seed(seed)
    np.random.seed(seed)
    manual_seed(seed)
    return seed
