"""One side of `libraries.applications`: `python applications_worker.py tensorflow|mindspore FOLDER RESULTS SIZE`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

BATCH = 2
Array = Any  # NumPy's


def values(names_and_shapes: list[tuple[str, tuple[int, ...]]]) -> list[Array]:
    """Weights by their kind, so that what the layers compute stays within reach; the same on both sides."""
    chance = np.random.default_rng(11)
    made = []
    for name, shape in names_and_shapes:
        drawn = chance.standard_normal(shape)
        if "kernel" in name:
            fan = np.prod(shape[:2]) if len(shape) == 4 and 1 in shape[2:] else np.prod(shape[:-1])
            value = drawn * np.sqrt(2.0 / fan)
        elif "variance" in name:
            value = 1.0 + 0.3 * np.tanh(drawn)
        else:
            value = 0.1 * drawn + ("gamma" in name)
        made.append(value.astype(np.float32))
    return made


def run_tensorflow(net: Any, images: Array, scale: Array) -> tuple[Any, list[Any], int]:
    import tensorflow as tf

    net.set_weights(values([(each.path.rpartition("/")[2], tuple(each.shape)) for each in net.weights]))
    out = net(images, training=False)  # grouped convolutions as Keras computes them
    for layer in net._flatten_layers():
        if getattr(layer, "groups", 1) not in (None, 1) and layer.groups == layer.filters:
            layer.convolution_op = as_depthwise(layer)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(net(images, training=False) * scale)
    return out.numpy(), [each.numpy() for each in tape.gradient(loss, net.trainable_variables)], net.count_params()


def as_depthwise(layer: Any) -> Any:
    import tensorflow as tf

    def convolve(inputs: Any, kernel: Any) -> Any:
        strides = (1, *layer.strides, 1)
        return tf.nn.depthwise_conv2d(inputs, tf.transpose(kernel, (0, 1, 3, 2)), strides, layer.padding.upper())

    return convolve


def run_mindspore(net: Any, images: Array, scale: Array) -> tuple[Any, list[Any], int]:
    import mindspore as ms

    net.set_weights(values([(each.short_name, tuple(each.shape)) for each in net.weights]))
    given, factor = ms.Tensor(images), ms.Tensor(scale)

    def forward() -> Any:
        out = net(given, training=False)
        return (out * factor).sum(), out

    (_, out), gradients = ms.value_and_grad(forward, None, net.trainable_variables, has_aux=True)()
    return out.asnumpy(), [each.asnumpy() for each in gradients], net.count_params()


def main(side: str, folder: Path, results: Path, size: int) -> None:
    sys.path.insert(0, str(folder))
    build = importlib.import_module("net").build
    chance = np.random.default_rng(3)
    images = chance.standard_normal((BATCH, size, size, 3)).astype(np.float32)
    scale = chance.standard_normal((BATCH, 10)).astype(np.float32)
    run = run_tensorflow if side == "tensorflow" else run_mindspore
    out, gradients, count = run(build(), images, scale)
    kept = {f"gradient{place}": each for place, each in enumerate(gradients)}
    np.savez(results / f"{side}.npz", out=out, weights=np.array(count), **kept)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
