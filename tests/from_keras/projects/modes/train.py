"""Which layers train, and which run as they do for a prediction: told, inherited, or left to their defaults."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(0)
x, y = rng.normal(size=(24, 6)).astype("float32"), rng.normal(size=(24, 2)).astype("float32")


class NotTold(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = keras.Sequential([layers.Dense(5), layers.BatchNormalization(momentum=0.5), layers.ReLU()])
        self.head = layers.Dense(2)

    def call(self, inputs):
        return self.head(self.inner(inputs))


class Told(NotTold):
    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second
        self.norm = layers.BatchNormalization(momentum=0.5)

    def call(self, inputs, training=None):
        h = self.inner(inputs, training=self.first) if self.first is not None else self.inner(inputs)
        h = self.norm(h, training=self.second) if self.second is not None else self.norm(h)
        return self.head(h)


class Default(layers.Layer):
    def __init__(self):
        super().__init__()
        self.norm = layers.BatchNormalization(momentum=0.5)

    def call(self, inputs, training=True):
        return self.norm(inputs)


def functional(mode):
    base_in = keras.Input((6,))
    base = keras.Model(base_in, layers.BatchNormalization(momentum=0.5)(layers.Dense(5)(base_in)))
    inputs = keras.Input((6,))
    h = base(inputs, training=mode)
    return keras.Model(inputs, layers.Dense(2)(layers.BatchNormalization(momentum=0.5)(h)))


def run(name, net):
    net(x[:2])
    weights = np.random.default_rng(7)
    net.set_weights([weights.uniform(0.2, 0.9, each.shape).astype("float32") for each in net.get_weights()])
    net.compile(keras.optimizers.SGD(0.05), "mse")
    history = net.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0)
    print(name, [f"{each:.5f}" for each in history.history["loss"]])
    print([f"{each.sum():.5f}" for each in net.get_weights()])
    print(f"{net.evaluate(x, y, verbose=0):.5f} {net.predict(x[:2], verbose=0).sum():.5f} {float(tf.reduce_sum(net(x[:2]))):.5f}")


run("not told", NotTold())
for first in (None, True, False):
    for second in (None, True):
        run(f"told {first} {second}", Told(first, second))
run("default", keras.Sequential([keras.Input((6,)), Default(), layers.Dense(2)]))
for mode in (None, False):
    run(f"functional {mode}", functional(mode))


def thawed(net):
    """Keras sets nothing where a network is told what it is already: what was frozen within it stays so."""
    net.layers[1].trainable = False
    net.trainable = True
    run("still frozen", net)
    net.trainable = False
    net.trainable = True
    run("thawed", net)
    print(len(net.trainable_weights), len(net.optimizer.variables))


thawed(keras.Sequential([keras.Input((6,)), layers.Dense(3), layers.BatchNormalization(momentum=0.5), layers.Dense(2)]))
