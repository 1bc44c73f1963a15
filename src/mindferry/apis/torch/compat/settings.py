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
    """Tensors take over from numpy's numbers, as torch's do: `np.sqrt(2) * x` would be an array, whose gradient is lost."""
    ms.Tensor.__array_priority__ = 1000
    for name in ("__eq__", "__ne__"):
        setattr(ms.Tensor, name, with_plain_number(getattr(ms.Tensor, name)))


def with_plain_number(compare):
    """MindSpore calls a tensor unequal to every number of numpy's."""

    def compare_plain(self, other):
        return compare(self, other.item() if isinstance(other, np.generic) else other)

    return compare_plain
