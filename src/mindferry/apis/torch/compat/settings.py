"""What MindSpore needs to be told before it computes."""

import os

import mindspore as ms
import numpy as np


def prepare_cpu():
    """On a CPU, MindSpore is up to fifty times slower with its own settings than with these. Other devices keep theirs."""
    if ms.get_context("device_target") != "CPU":
        return
    # On AVX-512 hosts the bundled oneDNN computes convolutions with its reference code, unless it is held to AVX2.
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as cpu:
            if "avx512f" in cpu.read():
                os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")
    # Handing each operator to threads that share the same cores takes longer than the operator, and errors surface later.
    ms.runtime.launch_blocking()


def prefer_tensors():
    """Tensors take over from numpy's numbers, as torch's do: `np.sqrt(2) * x` would be an array, whose gradient is lost.

    MindSpore calls a tensor unequal to every number of numpy's.
    """
    ms.Tensor.__array_priority__ = 1000
    equal, unequal = ms.Tensor.__eq__, ms.Tensor.__ne__
    ms.Tensor.__eq__ = lambda x, y: equal(x, y.item() if isinstance(y, np.generic) else y)
    ms.Tensor.__ne__ = lambda x, y: unequal(x, y.item() if isinstance(y, np.generic) else y)
