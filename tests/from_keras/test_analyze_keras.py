"""`mindferry analyze` of Keras code: what it is made of, how it is trained, which sizes are open. Nothing is imported or run."""

from __future__ import annotations

import pytest

from mindferry.analyze import analyze_project
from mindferry.artifacts import Inventory

NET = """import keras
from keras import layers, regularizers


class Block(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.dense = layers.Dense(units, kernel_initializer="he_normal")

    def call(self, x):
        return self.dense(x)


def tagger(words=50, size=8):
    inputs = keras.Input(shape=(None,), dtype="int32")
    x = layers.Embedding(words, size)(inputs)
    x = layers.Dropout(0.3)(x)
    x = Block(size)(x)
    return keras.Model(inputs, layers.Dense(3, kernel_regularizer=regularizers.L2(1e-4))(x))
"""
TRAIN = """import numpy as np
import tensorflow as tf
from net import tagger

tf.keras.mixed_precision.set_global_policy("mixed_float16")
tf.random.set_seed(3)
BATCH = 16
rng = np.random.default_rng(0)
rng.shuffle(rng.random(4))
ds = tf.data.Dataset.from_generator(lambda: iter([]), tf.int32).shuffle(500).padded_batch(BATCH)
schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.01, 100, 0.9)
model = tagger()
model.layers[1].trainable = False
model.compile(optimizer=tf.keras.optimizers.Adam(schedule, clipnorm=2.0), loss="mse")
stop = tf.keras.callbacks.EarlyStopping(monitor="loss", patience=4)
model.fit(ds, epochs=7, callbacks=[stop])


@tf.function
def chosen(scores, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.boolean_mask(labels, scores > 0.5))
    if tf.reduce_sum(scores) > 0:
        return tape.gradient(loss, labels)
    return tf.where(scores > 0.5)
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Inventory:
    project = tmp_path_factory.mktemp("project")
    (project / "net.py").write_text(NET)
    (project / "train.py").write_text(TRAIN)
    return analyze_project(project)


@pytest.mark.parametrize(
    "wanted",
    [
        ("shuffling", "shuffle", "500", "train.py", 10),
        ("learning rate", "ExponentialDecay", "0.01, 100, 0.9", "train.py", 11),
        ("batch size", "batch size", "16", "train.py", 10),
        ("epochs", "epochs", "7", "train.py", 16),
        ("initialisation", "kernel_initializer", "he_normal", "net.py", 8),
        ("structure", "Dropout", "p=0.3", "net.py", 17),
        ("training", "mixed precision", "mixed_float16", "train.py", 5),
        ("training", "seed", "3", "train.py", 6),
        ("training", "freezing", "model.layers[1]", "train.py", 13),
        ("training", "gradient clipping by norm", "2", "train.py", 14),
        ("training", "early stopping", "4", "train.py", 15),
        ("training", "regularizer L2", "0.0001", "net.py", 19),
    ],
)
def test_how_it_is_trained_is_listed_with_values_and_places(found: Inventory, wanted: tuple[object, ...]) -> None:
    assert wanted in {(each.topic, each.name, each.value, each.path, each.line) for each in found.tricks}


def test_what_shuffles_an_array_in_place_is_no_data_set(found: Inventory) -> None:
    assert [each.line for each in found.tricks if each.topic == "shuffling"] == [10]


def test_networks_of_functions_and_classes_and_the_entry_point_are_parts(found: Inventory) -> None:
    parts = {(each.kind, each.name, each.path, each.line) for each in found.parts}
    assert ("network", "tagger", "net.py", 14) in parts and ("entry point", "train.py", "train.py", 16) in parts
    (network,) = [each for each in found.parts if each.name == "tagger"]
    assert network.children[:2] == ("Embedding", "Dropout")
    (block,) = [each for each in found.parts if each.name == "Block"]
    assert block.children == ("dense: Dense",)


def test_sizes_that_depend_on_data_or_are_open_are_named(found: Inventory) -> None:
    assert {(each.topic, each.path, each.line) for each in found.dynamic} == {
        ("open size of an input", "net.py", 15),
        ("padded batch", "train.py", 10),
        ("boolean_mask", "train.py", 22),
        ("data-dependent branch", "train.py", 23),
        ("nonzero", "train.py", 25),
    }


def test_a_tape_is_covered(found: Inventory) -> None:
    kinds = {each.api: (each.kind, each.counterpart) for each in found.apis}
    assert kinds["tensorflow.GradientTape"] == ("native", "mindspore.value_and_grad")
