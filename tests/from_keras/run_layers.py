"""Runs the layers of layer_cases.tsv in one framework: `run_layers.py keras OUT`, then `run_layers.py FOLDER_OF_MS_KERAS OUT`.

OUT gets, for each case, the weights (from Keras, used by both), the outputs in both modes, and the gradients. What a layer
draws comes from one numpy generator on both sides, so layers with chance in them are compared value by value.
With `--jit`, the second framework's outputs are also computed under ms.jit.
"""

import sys
from pathlib import Path

import numpy as np
from shared_draws import draw_from

HERE = Path(__file__).parent
WHICH, OUT = sys.argv[1], Path(sys.argv[2])
IS_COMPILED = "--jit" in sys.argv
ROWS = [line.split("\t") for line in (HERE / "layer_cases.tsv").read_text().splitlines() if not line.startswith("#")]
WORDS = np.array(["the", "cat", "sat", "on", "a", "mat", "Dog!"])
CALL = "layer(x if len(x) > 1 else x[0], **mode)"


def arrays(text: str, seed: int) -> list[np.ndarray]:
    """i: whole numbers below 5, u: brightness up to 255 (v: and no gradient is wanted), p: shares up to 1 (q: likewise), w: words."""
    rng, made = np.random.default_rng(seed), []
    for part in text.split():
        shape = tuple(int(size) for size in part.lstrip("iuvpqw").split(","))
        match part[0]:
            case "i":
                made.append(rng.integers(0, 5, shape))
            case "u" | "v":
                made.append(rng.uniform(0, 255, shape).astype("float32"))
            case "p" | "q":
                made.append(rng.uniform(0, 1, shape).astype("float32"))
            case "w":
                made.append(WORDS[rng.integers(0, len(WORDS), shape)])
            case _:
                made.append(rng.normal(size=shape).astype("float32"))
    return made


def weight_values(weights: list[np.ndarray], seed: int) -> list[np.ndarray]:
    """Numbers in the place of floats; counts and states of generators stay."""
    rng = np.random.default_rng(seed + 1000)
    return [
        np.abs(rng.normal(0.5, 0.3, each.shape)).astype("float32") if each.dtype == np.float32 else each
        for each in weights
    ]


def adapted(layer, *data):
    layer.adapt(*data)
    layer.is_adapted = True
    return layer


def pieces(out) -> list:
    """The tensors of what a layer gives."""
    if isinstance(out, dict):
        return [each for key in sorted(out) for each in pieces(out[key])]
    return [each for part in out for each in pieces(part)] if isinstance(out, list | tuple) else [out]


def named(title: str, values: list[np.ndarray]) -> dict[str, np.ndarray]:
    return {f"{title}{place or ''}": each for place, each in enumerate(values)}


def is_float(value: np.ndarray) -> bool:
    return value.dtype == np.float32


def of_keras(text: str, given: list[np.ndarray], seed: int, call: str, places: list[int]) -> dict[str, np.ndarray]:
    import keras
    import tensorflow as tf
    from keras import layers

    space = {"layers": layers, "keras": keras, "adapted": adapted, "np": np}
    layer = eval(text, space)
    inputs = [tf.constant(each) for each in given]

    def run(mode: bool | None):
        draw_from(seed)
        found = eval(call, {**space, "layer": layer, "x": inputs, "mode": {} if mode is None else {"training": mode}})
        return [tf.convert_to_tensor(each) for each in pieces(found)]

    run(None)
    if not getattr(layer, "is_adapted", False):
        layer.set_weights(weight_values(layer.get_weights(), seed))
    found = named("eval", [each.numpy() for each in run(False)])
    with tf.GradientTape() as tape:
        for place in places:
            tape.watch(inputs[place])
        outs = run(True)
        loss = sum(
            tf.reduce_sum(out * tf.cos(tf.reshape(tf.range(tf.size(out), dtype=tf.float32), out.shape)))
            for out in outs
            if out.dtype == tf.float32
        )
    found.update(named("train", [each.numpy() for each in outs]))
    if isinstance(loss, tf.Tensor):
        wanted = [
            *(inputs[place] for place in places),
            *(each.value for each in layer.trainable_variables),
        ]
        for place, gradient in enumerate(tape.gradient(loss, wanted)):
            if gradient is not None:
                found[f"gradient{place}"] = tf.convert_to_tensor(gradient).numpy()
    kept = [each.numpy() for each in layer.weights if "seed_generator" not in each.path]
    found.update({f"after{place}": each for place, each in enumerate(kept)})
    found.update({f"loss{place}": each.numpy() for place, each in enumerate(layer.losses)})
    return found


def of_mindspore(text: str, given: list[np.ndarray], seed: int, call: str, places: list[int]) -> dict[str, np.ndarray]:
    import mindspore as ms
    import ms_keras
    from mindspore import ops

    space = {"layers": ms_keras, "keras": ms_keras, "adapted": adapted, "np": np}
    layer = eval(text, space)
    inputs = [ms.Tensor(each) if each.dtype.kind != "U" else each for each in given]

    def run(x, mode: bool | None):
        ms_keras.Chance.generator = np.random.default_rng(seed)
        return pieces(eval(call, {**space, "layer": layer, "x": x, "mode": {} if mode is None else {"training": mode}}))

    run(inputs, None)
    if not getattr(layer, "is_adapted", False):
        layer.set_weights(weight_values(layer.get_weights(), seed))
    found = named("eval", [values_of(each) for each in run(inputs, False)])
    if IS_COMPILED and call == CALL:
        found.update(of_jit(layer, inputs))
    held = []

    def forward(*each):
        outs = run(list(each), True)
        held.append(outs)
        total = 0.0
        for out in outs:
            if isinstance(out, ms.Tensor) and out.dtype == ms.float32:
                total = total + ops.sum(out * ops.cos(ops.reshape(ops.arange(out.size).astype(ms.float32), out.shape)))
        return total

    weights = layer.trainable_variables
    has_gradient = any(is_float(each) for name, each in found.items()) and (places or weights)
    if places and has_gradient:
        made = ms.grad(forward, tuple(places), weights or None)(*inputs)
        first, second = made if weights else (made, ())
        gradients = [*(first if isinstance(first, tuple) else [first]), *second]
    elif has_gradient:
        gradients = ms.grad(forward, None, weights)(*inputs)
    else:
        gradients = []
        held.append(run(inputs, True))
    found.update(named("train", [values_of(each) for each in held[0]]))
    found.update({f"gradient{place}": each.asnumpy() for place, each in enumerate(gradients)})
    found.update({f"after{place}": each for place, each in enumerate(layer.get_weights())})
    found.update({f"loss{place}": each.asnumpy() for place, each in enumerate(layer.losses)})
    return found


def of_jit(layer, inputs) -> dict[str, np.ndarray]:
    try:
        return named("jit", [values_of(each) for each in pieces(compiled(layer)(*inputs))])
    except Exception as error:
        return {"jit_error": np.array(f"{type(error).__name__}: {str(error)[:300]}")}


def compiled(layer):
    import mindspore as ms

    class Net(ms.nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        @ms.jit
        def construct(self, *x):
            return self.layer(list(x) if len(x) > 1 else x[0], training=False)

    return Net().set_train(False)


def values_of(value) -> np.ndarray:
    return value if isinstance(value, np.ndarray) else np.asarray(value.asnumpy())


if __name__ == "__main__":
    if WHICH != "keras":
        sys.path.insert(0, WHICH)
    results: dict[str, np.ndarray] = {}
    for number, (text, shapes, *call) in enumerate(ROWS):
        try:
            run = of_keras if WHICH == "keras" else of_mindspore
            places = [place for place, part in enumerate(shapes.split()) if part[0] not in "iqvw"]
            found = run(text, arrays(shapes, number), number, call[0] if call else CALL, places)
        except Exception as error:
            found = {"error": np.array(f"{type(error).__name__}: {str(error)[:300]}")}
        results.update({f"{number}/{name}": value for name, value in found.items()})
    np.savez(OUT, **results)
