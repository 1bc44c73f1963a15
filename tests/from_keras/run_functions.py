"""Runs cases.py of a folder, in TensorFlow or converted to MindSpore: what each function gives, and the gradients of its sum."""

import sys
from pathlib import Path

import numpy as np

sys.argv, ARGUMENTS = sys.argv[:1], sys.argv[1:]
WHICH, FOLDER, INPUTS, OUT = ARGUMENTS[0], *map(Path, ARGUMENTS[1:4])
sys.path.insert(0, str(FOLDER))
import cases  # noqa: E402


def of_tensorflow(function, given):
    import tensorflow as tf

    tensors = [tf.constant(each) for each in given]
    floats = [each for each in tensors if each.dtype.is_floating]
    with tf.GradientTape() as tape:
        for each in floats:
            tape.watch(each)
        out = tf.convert_to_tensor(function(*tensors))
        factor = np.sin(np.arange(int(tf.size(out))) + 1).astype(np.float32).reshape(out.shape)
        total = tf.reduce_sum(out * factor) if out.dtype.is_floating else None
    try:
        made = tape.gradient(total, floats, unconnected_gradients="zero") if total is not None else []
    except LookupError:  # TensorFlow has no gradient of it
        made = []
    return out.numpy(), [tf.convert_to_tensor(each).numpy() for each in made]


def of_mindspore(function, given):
    import mindspore as ms

    tensors = [ms.Tensor(each) for each in given]
    places = tuple(place for place, each in enumerate(given) if each.dtype.kind == "f")
    out = ms.Tensor(function(*tensors))
    if "Float" not in str(out.dtype) or not places:
        return out.asnumpy(), []
    factor = ms.Tensor(np.sin(np.arange(out.size) + 1).astype(np.float32).reshape(out.shape))
    gradients = ms.grad(lambda *each: (function(*each) * factor).sum(), places)(*tensors)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    return out.asnumpy(), [each.asnumpy() for each in gradients]


found: dict[str, np.ndarray] = {}
with np.load(INPUTS) as inputs:
    for number in range(cases.COUNT):
        given = [inputs[f"{number}/{place}"] for place in range(3) if f"{number}/{place}" in inputs]
        run = of_tensorflow if WHICH == "tensorflow" else of_mindspore
        try:
            out, gradients = run(getattr(cases, f"case_{number}"), given)
            found[f"{number}/out"] = out
            found.update({f"{number}/gradient {place}": each for place, each in enumerate(gradients)})
        except Exception as error:
            found[f"{number}/error"] = np.array(f"{type(error).__name__}: {str(error)[:300]}")
np.savez(OUT, **found)
