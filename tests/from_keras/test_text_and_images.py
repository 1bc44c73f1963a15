"""Layers for text and images work in converted networks and data sets, and optimizers' options in fit()."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mindferry import convert_source

HEAD = """import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

"""


def run(code: str, folder: Path) -> dict[str, Any]:
    """The names of the converted code, which is a real file: ms.jit wants to read it."""
    made = convert_source(HEAD + code)
    assert made.findings == ()
    path = folder / "converted.py"
    path.write_text(made.code)
    space: dict[str, Any] = {"__name__": "converted"}
    exec(compile(made.code, str(path), "exec"), space)
    return space


def test_a_network_takes_text(tmp_path: Path) -> None:
    code = """texts = np.array([["The cat sat!"], ["a dog"], ["the dog"], ["cat cat"]])
vectorize = layers.TextVectorization(max_tokens=20, output_sequence_length=4)
vectorize.adapt(texts)
words = keras.Input(shape=(1,), dtype=tf.string)
x = layers.Embedding(vectorize.vocabulary_size(), 4)(vectorize(words))
model = keras.Model(words, layers.Dense(1)(layers.GlobalAveragePooling1D()(x)))
model.compile(keras.optimizers.SGD(0.5), "mse")
history = model.fit(texts, np.array([[1.0], [0.0], [0.0], [1.0]]), epochs=3, verbose=0)
rows = [row.numpy() for row in tf.data.Dataset.from_tensor_slices(texts).batch(2).map(vectorize)]
vocabulary = vectorize.get_vocabulary()
"""
    space = run(code, tmp_path)
    assert space["vocabulary"] == ["", "[UNK]", "cat", "the", "dog", "sat", "a"]
    assert np.array_equal(np.concatenate(space["rows"])[0], [3, 2, 5, 0])
    losses = space["history"].history["loss"]
    assert losses[2] < losses[0]


def test_augmentation_is_for_training(tmp_path: Path) -> None:
    code = """augment = keras.Sequential([layers.RandomFlip("horizontal"), layers.RandomRotation(0.2), layers.RandomContrast(0.3)])
images = np.random.default_rng(0).uniform(0, 255, (4, 8, 8, 3)).astype("float32")
kept, changed = augment(images, training=False), augment(images, training=True)
data = tf.data.Dataset.from_tensor_slices((images, np.arange(4))).batch(2)
mapped = [batch.numpy() for batch, _ in data.map(lambda x, y: (augment(x, training=True), y))]
model = keras.Sequential([layers.Input((8, 8, 3)), augment, layers.Flatten(), layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(images, np.array([0, 1, 0, 1]), epochs=1, verbose=0)
same = model.predict(images, verbose=0) - model.predict(images, verbose=0)
"""
    space = run(code, tmp_path)
    assert np.array_equal(space["kept"].asnumpy(), space["images"])
    assert np.abs(space["changed"].asnumpy() - space["images"]).max() > 1
    assert [each.shape for each in space["mapped"]] == [(2, 8, 8, 3)] * 2
    assert not np.any(space["same"])


def test_a_scaled_loss_trains_as_a_plain_one_and_averages_become_weights(tmp_path: Path) -> None:
    code = """x = np.random.default_rng(1).normal(size=(12, 3)).astype("float32")
y = x.sum(1, keepdims=True)

def trained(optimizer):
    model = keras.Sequential([layers.Input((3,)), layers.Dense(1, kernel_initializer="ones")])
    model.compile(optimizer, "mse")
    history = model.fit(x, y * 2, batch_size=4, epochs=2, shuffle=False, verbose=0)
    return [*history.history["loss"], *model.get_weights()[0].ravel()]

usual = trained(keras.optimizers.SGD(0.1))
scaled = trained(keras.optimizers.SGD(0.1, loss_scale_factor=64.0))
guarded = trained(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1), initial_scale=8.0))
averaged = trained(keras.optimizers.SGD(0.1, use_ema=True, ema_momentum=0.9))
"""
    space = run(code, tmp_path)
    np.testing.assert_allclose(space["scaled"], space["usual"], rtol=1e-5)
    np.testing.assert_allclose(space["guarded"], space["usual"], rtol=1e-5)
    np.testing.assert_allclose(space["averaged"][:2], space["usual"][:2], rtol=1e-5)
    assert np.abs(np.array(space["averaged"][2:]) - space["usual"][2:]).min() > 1e-2
