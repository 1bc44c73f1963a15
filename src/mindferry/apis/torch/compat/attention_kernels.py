"""The choice of an attention kernel, which MindSpore makes itself."""

import contextlib
import enum


class SDPBackend(enum.Enum):
    """torch.nn.attention.SDPBackend: names without effect."""

    ERROR, MATH, FLASH_ATTENTION, EFFICIENT_ATTENTION, CUDNN_ATTENTION, OVERRIDEABLE = range(-1, 5)


def sdpa_kernel(backends=None, set_priority=False):
    """torch.nn.attention.sdpa_kernel: the values are the same with any kernel."""
    return contextlib.nullcontext()
