"""What MindSpore needs to be told before it computes."""

import os

import mindspore as ms
import numpy as np


def prepare_cpu():
    """On a CPU, MindSpore is up to fifty times slower with its own settings than with these. Other devices keep theirs."""
    if ms.get_context("device_target") == "CPU":
        os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")  # with AVX-512, its convolutions are reference code
        ms.runtime.launch_blocking()  # handing each operator to other threads takes longer than the operator itself


def prefer_tensors():
    """As in torch, `np.sqrt(2) * x` is a tensor, and not an array without gradient, and `x == np.float32(2)` may be true."""
    ms.Tensor.__array_priority__ = 1000
    equal, unequal = ms.Tensor.__eq__, ms.Tensor.__ne__
    ms.Tensor.__eq__ = lambda x, y: equal(x, y.item() if isinstance(y, np.generic) else y)
    ms.Tensor.__ne__ = lambda x, y: unequal(x, y.item() if isinstance(y, np.generic) else y)


def set_deterministic(mode=True):
    """torch.use_deterministic_algorithms. MindSpore refuses to be told twice; what it was told first stays."""
    try:
        ms.set_deterministic(bool(mode))
    except RuntimeError as error:
        if "repeatedly" not in str(error):
            raise
