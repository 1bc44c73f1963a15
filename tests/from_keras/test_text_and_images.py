"""Layers for text and images work in converted networks and data sets, and optimizers' options in fit()."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

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


def test_a_stack_of_layers_that_begins_with_text_predicts(tmp_path: Path) -> None:
    code = """vectorize = layers.TextVectorization(max_tokens=20, output_sequence_length=4)
vectorize.adapt(np.array(["the cat sat", "a dog"]))
tokens = keras.Input((None,), dtype="int64")
inner = keras.Model(tokens, layers.Dense(1)(layers.GlobalAveragePooling1D()(layers.Embedding(20, 4)(tokens))))
texts = tf.constant(["a cat", "dog dog", "the"])
whole = keras.Sequential([vectorize, inner, layers.Activation("sigmoid")]).predict(texts, verbose=0)
parts = tf.sigmoid(inner(vectorize(texts))).numpy()
"""
    space = run(code, tmp_path)
    assert space["whole"].shape == (3, 1)
    np.testing.assert_allclose(space["whole"], space["parts"], rtol=1e-6)


def test_a_network_that_is_not_to_be_trained_makes_no_step(tmp_path: Path) -> None:
    code = """class Counted(keras.optimizers.Adam):
    calls = 0

    def apply_gradients(self, grads_and_vars):
        Counted.calls += 1
        return super().apply_gradients(grads_and_vars)


rng = np.random.default_rng(0)
half = keras.Sequential([keras.Input((4,)), layers.Dense(3, activation="relu"), layers.Dense(1)])
half.compile(Counted(0.1), "mse")
x, y = rng.normal(size=(8, 4)).astype("float32"), rng.normal(size=(8, 1)).astype("float32")
half.trainable = False
before = half.get_weights()
losses = [float(half.train_on_batch(x, y)) for _ in range(2)]
frozen_steps, after = Counted.calls, half.get_weights()
half.trainable = True
half.train_on_batch(x, y)
steps = Counted.calls
"""
    space = run(code, tmp_path)
    assert space["losses"][0] == space["losses"][1] > 0 and (space["frozen_steps"], space["steps"]) == (0, 1)
    assert all(np.array_equal(one, other) for one, other in zip(space["before"], space["after"], strict=True))


def test_a_gradient_within_a_loss_draws_new_numbers_every_time(tmp_path: Path) -> None:
    code = """critic = keras.Sequential([keras.Input((4,)), layers.Dense(9, activation="sigmoid"), layers.Dropout(0.5), layers.Dense(1)])


def penalty(x):
    with tf.GradientTape() as inner:
        inner.watch(x)
        score = critic(x, training=True)
    slope = inner.gradient(score, x)
    return tf.reduce_sum(slope**2)


def train_step(x):
    with tf.GradientTape() as outer:
        value = penalty(x)
    return value, outer.gradient(value, critic.trainable_variables)


x = tf.constant(np.random.default_rng(3).normal(size=(5, 4)).astype("float32"))
"""
    space = run(code, tmp_path)
    x, values, draws = space["x"], [], np.random.default_rng(7)
    for each in space["critic"].trainable_variables:  # large enough for a difference to be told from rounding
        space["assign"](each, 0.7 * draws.normal(size=each.shape).astype("float32"))
    kernel = space["critic"].trainable_variables[0]
    direction = np.random.default_rng(1).normal(size=kernel.shape).astype("float32")
    for seed in range(3):

        def seeded(function: Any, seed: int = seed) -> Any:
            space["Chance"].generator = np.random.default_rng(seed)
            return function(x)

        value, gradients = seeded(space["train_step"])
        values.append(float(value.asnumpy()))
        assert values[-1] == pytest.approx(float(seeded(space["penalty"]).asnumpy()), rel=1e-5)
        first, around = kernel.asnumpy().copy(), []
        for sign in (1, -1):
            space["assign"](kernel, first + sign * 1e-2 * direction)
            around.append(float(seeded(space["penalty"]).asnumpy()))
        space["assign"](kernel, first)
        slope = float((gradients[0].asnumpy() * direction).sum())
        assert slope == pytest.approx((around[0] - around[1]) / 2e-2, rel=2e-2, abs=1e-4)
    assert len(set(values)) == 3
