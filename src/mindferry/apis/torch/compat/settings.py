"""What MindSpore needs to be told before it computes."""

import os

import mindspore as ms


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
