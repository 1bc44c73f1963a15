"""Keras' optimizers square each part of an embedding's gradient alone; a table that is also used whole has one gradient."""

from __future__ import annotations

from pathlib import Path

import pytest
from two_processes import REASON, has_tensorflow

from mindferry.config import Train
from mindferry.convert import convert_project
from mindferry.train import train_side_by_side

SCRIPT = """import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(1)
x, y = rng.integers(0, 7, (40, 9)), rng.integers(0, 7, 40)


class Net(keras.Model):
    def __init__(self, is_tied=False, **settings):
        super().__init__()
        self.embed = layers.Embedding(7, 5, mask_zero=True, **settings)
        self.table = self.add_weight(shape=(9, 5), name="table")
        self.recurrent, self.head, self.is_tied = layers.LSTM(5), layers.Dense(7), is_tied

    def call(self, words):
        h = self.recurrent(self.embed(words) + tf.gather(self.table, tf.range(9)), mask=self.embed.compute_mask(words))
        return self.head(h) if not self.is_tied else tf.matmul(h, self.embed.embeddings, transpose_b=True)


for kind in (keras.optimizers.Adam, keras.optimizers.RMSprop, keras.optimizers.Nadam, keras.optimizers.Adamax,
             keras.optimizers.Adagrad, keras.optimizers.Adadelta, keras.optimizers.Lamb, keras.optimizers.Ftrl,
             keras.optimizers.Adafactor):
    net = Net()
    net.compile(kind(0.02), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    net.fit(x[:24], y[:24], batch_size=8, shuffle=False, verbose=0)
for settings in ({"is_tied": True}, {"embeddings_regularizer": keras.regularizers.L2(1e-6)}):
    net = Net(**settings)
    net.compile(keras.optimizers.Adam(0.02), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    net.fit(x[:24], y[:24], batch_size=8, shuffle=False, verbose=0)
for settings in ({"clipnorm": 0.05}, {"global_clipnorm": 0.1}, {"clipvalue": 0.01}):
    net = Net()
    net.compile(keras.optimizers.Adam(0.02, **settings), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    net.fit(x[:24], y[:24], batch_size=8, shuffle=False, verbose=0)
net, optimizer = Net(), keras.optimizers.Adam(0.02)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
for place in range(0, 24, 8):
    with tf.GradientTape() as tape:
        loss = loss_fn(y[place : place + 8], net(x[place : place + 8]))
    gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, net.trainable_variables), 0.1)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
"""


@pytest.mark.skipif(not has_tensorflow(), reason=REASON)
def test_words_that_come_again_are_trained_as_in_keras_by_every_optimizer(tmp_path: Path) -> None:
    project, out = tmp_path / "net", tmp_path / "out"
    project.mkdir()
    (project / "train.py").write_text(SCRIPT)
    assert convert_project(project, out).files[0].findings == ()
    curves = train_side_by_side(out, Train(script="train.py", steps=45))
    assert curves.passed and len(curves.converted) == 45, curves.first_difference
    assert curves.worst < 1e-4 and curves.updates == 15 * 7 - 2 and not curves.unmatched
