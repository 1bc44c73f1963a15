"""`mindferry train` of a Keras project: random first weights, shuffled data, dropout and picked actions are the reference's on both sides."""

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

tf.random.set_seed(3)
rng = np.random.default_rng(1)
x, y = rng.normal(size=(48, 6, 4)).astype("float32"), rng.integers(0, 3, 48)
inputs = keras.Input((6, 4))
h = layers.BatchNormalization()(layers.Conv1D(8, 3, activation="relu", kernel_regularizer="l2")(inputs))
h = layers.Bidirectional(layers.GRU(4))(layers.Dropout(0.3)(h))
net = keras.Model(inputs, layers.Dense(3, activation="softmax")(h))
optimizer = keras.optimizers.Adam(1e-2)
loss_fn = keras.losses.SparseCategoricalCrossentropy()
for a, b in tf.data.Dataset.from_tensor_slices((x, y)).shuffle(48).batch(12):
    with tf.GradientTape() as tape:
        chances = net(a, training=True)
        picked = tf.one_hot(tf.random.categorical(tf.math.log(chances), 1)[:, 0], 3)
        loss = loss_fn(b, chances) + tf.reduce_mean(picked * chances * tf.random.truncated_normal([3]))
    gradients = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
net.compile("rmsprop", "sparse_categorical_crossentropy", metrics=["accuracy"])
net.fit(x, y, epochs=3, batch_size=12, verbose=0)
"""


@pytest.mark.skipif(not has_tensorflow(), reason=REASON)
def test_ten_steps_of_a_tape_and_of_fit_agree_and_a_wrong_rate_and_a_weight_that_stays_are_told(tmp_path: Path) -> None:
    project, out = tmp_path / "net", tmp_path / "out"
    project.mkdir()
    (project / "train.py").write_text(SCRIPT)
    assert convert_project(project, out).files[0].findings == ()
    curves = train_side_by_side(out, Train(script="train.py", steps=10))
    assert curves.passed and curves.framework == "TensorFlow", curves
    assert len(curves.reference) == len(curves.converted) == 10
    assert curves.worst < 1e-4 and 0 < max(curves.distances) < 1e-3
    assert (curves.updates, curves.unmatched) == (14, ())
    assert len({round(step.loss, 3) for step in curves.reference}) > 5
    text = (out / "train.py").read_text()
    (out / "train.py").write_text(text.replace("Adam(1e-2)", "Adam(2e-2)"))
    wrong = train_side_by_side(out, Train(script="train.py", steps=3))
    assert not wrong.passed and wrong.first_difference.startswith("step 2: loss")
    (out / "train.py").write_text(text)
    helpers = (out / "ms_keras.py").read_text()
    step = "        m, v = self.slots("
    assert helpers.count(step) == 1
    frozen = f'        if variable.name.endswith("beta"):\n            return\n{step}'
    (out / "ms_keras.py").write_text(helpers.replace(step, frozen))
    still = train_side_by_side(out, Train(script="train.py", steps=2, tolerance=0.5))
    assert still.worst < 0.5 and not still.passed
    assert still.first_difference.endswith("stays as it was, in TensorFlow it moves")
