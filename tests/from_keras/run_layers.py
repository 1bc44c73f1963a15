"""Runs the layers of layer_cases.tsv in one framework: `run_layers.py keras OUT`, then `run_layers.py FOLDER_OF_MS_KERAS OUT`.

OUT gets, for each case, the weights (from Keras, used by both), the outputs in both modes, and the gradients.
"""

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
WHICH, OUT = sys.argv[1], Path(sys.argv[2])
ROWS = [line.split("\t") for line in (HERE / "layer_cases.tsv").read_text().splitlines() if not line.startswith("#")]


def arrays(text: str, seed: int) -> list[np.ndarray]:
    rng, made = np.random.default_rng(seed), []
    for part in text.split():
        shape = tuple(int(size) for size in part.lstrip("i").split(","))
        made.append(rng.integers(0, 5, shape) if part.startswith("i") else rng.normal(size=shape).astype("float32"))
    return made


def weight_values(shapes: list[tuple[int, ...]], seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed + 1000)
    return [np.abs(rng.normal(0.5, 0.3, shape)).astype("float32") for shape in shapes]


def of_keras(text: str, given: list[np.ndarray], seed: int) -> dict[str, np.ndarray]:
    import tensorflow as tf
    from keras import layers

    layer = eval(text, {"layers": layers})
    inputs = [tf.constant(each) for each in given]
    one = inputs if len(inputs) > 1 else inputs[0]
    layer(one)
    layer.set_weights(weight_values([each.shape for each in layer.get_weights()], seed))
    found = {"eval": layer(one, training=False).numpy()}
    with tf.GradientTape() as tape:
        for each in inputs:
            tape.watch(each)
        out = layer(one, training=True)
        loss = tf.reduce_sum(out * tf.cos(tf.reshape(tf.range(tf.size(out), dtype=tf.float32), out.shape)))
    wanted = [
        *(each for each in inputs if each.dtype == tf.float32),
        *(each.value for each in layer.trainable_variables),
    ]
    found["train"] = out.numpy()
    for place, gradient in enumerate(tape.gradient(loss, wanted)):
        if gradient is not None:
            found[f"gradient{place}"] = tf.convert_to_tensor(gradient).numpy()
    found.update({f"after{place}": each for place, each in enumerate(layer.get_weights())})
    return found


def of_mindspore(text: str, given: list[np.ndarray], seed: int) -> dict[str, np.ndarray]:
    import mindspore as ms
    import ms_keras
    from mindspore import ops

    layer = eval(text, {"layers": ms_keras})
    inputs = [ms.Tensor(each) for each in given]
    layer(inputs if len(inputs) > 1 else inputs[0])
    layer.set_weights(weight_values([each.shape for each in layer.get_weights()], seed))
    found = {"eval": layer(inputs if len(inputs) > 1 else inputs[0], training=False).asnumpy()}
    held = []

    def forward(*each):
        out = layer(list(each) if len(each) > 1 else each[0], training=True)
        held.append(out)
        return ops.sum(out * ops.cos(ops.reshape(ops.arange(out.size).astype(ms.float32), out.shape)))

    places = tuple(place for place, each in enumerate(given) if each.dtype == np.float32)
    weights = layer.trainable_variables
    if places:
        made = ms.grad(forward, places, weights or None)(*inputs)
        first, second = made if weights else (made, ())
        gradients = [*(first if isinstance(first, tuple) else [first]), *second]
    else:
        gradients = ms.grad(forward, None, weights)(*inputs)
    found["train"] = held[0].asnumpy()
    found.update({f"gradient{place}": each.asnumpy() for place, each in enumerate(gradients)})
    found.update({f"after{place}": each for place, each in enumerate(layer.get_weights())})
    return found


if WHICH != "keras":
    sys.path.insert(0, WHICH)
results: dict[str, np.ndarray] = {}
for number, (text, shapes) in enumerate(ROWS):
    try:
        found = (of_keras if WHICH == "keras" else of_mindspore)(text, arrays(shapes, number), number)
    except Exception as error:
        found = {"error": np.array(f"{type(error).__name__}: {str(error)[:300]}")}
    results.update({f"{number}/{name}": value for name, value in found.items()})
np.savez(OUT, **results)
