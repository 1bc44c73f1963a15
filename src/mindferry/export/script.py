"""The infer.py that lies beside an exported model: load, run, time. It needs MindSpore and numpy alone."""

from __future__ import annotations

from collections.abc import Sequence

TEMPLATE = '''"""Run {file} on arrays, and measure how long a call takes.

    python infer.py                      random inputs
    python infer.py a.npy b.npy          your own, in the model's order
    python infer.py a.npy --save out.npz --repeat 100

Written by `mindferry export`; yours to edit.
"""

import argparse
import os
import time
from pathlib import Path

os.environ.setdefault("GLOG_v", "3")
if "avx512f" in (Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""):
    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")  # otherwise convolutions are some 50 times slower there

import mindspore as ms
import numpy as np
from mindspore import nn

MODEL = Path(__file__).parent / "{file}"
INPUTS = {inputs!r}  # what it was exported with


def load_model({key_parameter}):
    return nn.GraphCell(ms.load(str(MODEL){decryption}))


def random_inputs():
    random = np.random.RandomState(0)
    return [random.uniform(low, high, shape).astype(dtype) for dtype, shape, low, high in INPUTS]


def main():
    parser = argparse.ArgumentParser(description="Run the exported model.")
    parser.add_argument("inputs", nargs="*", help=".npy files, in the model's order")
    parser.add_argument("--save", help="write the outputs to this .npz file")
    parser.add_argument("--repeat", type=int, default=20, help="calls to time after the first")
{key_option}    args = parser.parse_args()

    model = load_model({key_argument})
    arrays = [np.load(name) for name in args.inputs] or random_inputs()
    tensors = [ms.Tensor(array) for array in arrays]

    start = time.perf_counter()
    outputs = run(model, tensors)
    print(f"first call {{time.perf_counter() - start:.3f}} s (it compiles)")
    times = []
    for _ in range(args.repeat):
        start = time.perf_counter()
        run(model, tensors)
        times.append(time.perf_counter() - start)
    if times:
        print(f"then {{sorted(times)[len(times) // 2] * 1000:.2f}} ms a call, the median of {{len(times)}}")
    for index, output in enumerate(outputs):
        print(f"output {{index}}: {{output.dtype}} {{list(output.shape)}}, mean {{output.mean():.6g}}")
    if args.save:
        np.savez(args.save, *outputs)


def run(model, tensors):
    """The outputs as arrays; reading them waits until they are computed."""
    result = model(*tensors)
    return [each.asnumpy() for each in (result if isinstance(result, (tuple, list)) else [result])]


if __name__ == "__main__":
    main()
'''


def infer_script(file: str, inputs: Sequence[str], is_encrypted: bool, mode: str) -> str:
    option = '    parser.add_argument("--key", required=True, help="file with the key that it was encrypted with")\n'
    return TEMPLATE.format(
        file=file,
        inputs=[_described(spec) for spec in inputs],
        key_parameter="key" if is_encrypted else "",
        decryption=f', dec_key=key, dec_mode="{mode}"' if is_encrypted else "",
        key_option=option if is_encrypted else "",
        key_argument="Path(args.key).read_bytes()" if is_encrypted else "",
    )


def _described(spec: str) -> tuple[str, tuple[int, ...], float, float]:
    """(dtype, shape, low, high) of an input."""
    from .inputs import SPEC, make_arrays

    array = make_arrays([spec], 0)[0]
    match = SPEC.fullmatch(spec.strip())
    is_integer = array.dtype.kind in "iu"
    low, high = (float(match[4] or 0), float(match[5] or (10 if is_integer else 1))) if match else (0.0, 1.0)
    return str(array.dtype), tuple(int(size) for size in array.shape), low, high
