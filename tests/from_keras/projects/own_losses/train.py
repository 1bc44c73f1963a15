"""Losses, metrics and gradients that a program writes itself, of labels as they come: one axis, short whole numbers."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import backend as K

rng = np.random.default_rng(8)
x = rng.normal(size=(24, 6)).astype("float32")
labels = rng.integers(0, 2, 24)


def margin(y_true, y_pred):
    y_true = tf.cast(y_true, y_pred.dtype)
    return K.mean(y_true * K.square(y_pred) + (1 - y_true) * K.square(K.maximum(1 - y_pred, 0)))


def uneven(y_true, y_pred):
    return -(2 * y_true - 1) * y_pred + 0.1 * K.square(y_pred)


class Weighed(keras.losses.Loss):
    def call(self, y_true, y_pred):
        return tf.reduce_mean((1 - y_true) * tf.abs(y_pred) + y_true * tf.abs(3 - y_pred), axis=-1)


def hits(y_true, y_pred):
    return K.mean(K.equal(y_true, K.cast(y_pred > 0.5, y_true.dtype)))


def network():
    net = keras.Sequential([keras.Input((6,)), keras.layers.Dense(5, activation="tanh"), keras.layers.Dense(1)])
    net.set_weights([rng.normal(0, 0.5, each.shape).astype("float32") for each in net.get_weights()])
    return net


for loss, y in ((margin, labels), (uneven, labels.astype("uint8")), (Weighed(), labels[:, None].astype("uint8"))):
    for weight in (None, np.linspace(0.5, 2, 24)):
        net = network()
        net.compile(keras.optimizers.SGD(0.05), loss, metrics=[hits])
        history = net.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0, sample_weight=weight).history
        print([f"{each:.5f}" for name in sorted(history) for each in history[name]])


@tf.custom_gradient
def reversed_gradient(value):
    def gradient(upstream):
        return -0.5 * upstream

    return tf.identity(value), gradient


@tf.custom_gradient
def softly(a, b):
    e = tf.exp(a)
    return tf.math.log(1 + e) * b, lambda upstream: (upstream * b * (1 - 1 / (1 + e)), upstream * 10.0)


net = network()
optimizer = keras.optimizers.SGD(0.1)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(reversed_gradient(net(x))))
    gradients = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
    print(f"{loss.numpy():.5f}")
first, second = tf.Variable([1.0, 50.0]), tf.Variable([0.5, 2.0])
with tf.GradientTape() as tape:
    out = tf.reduce_sum(softly(first, second))
print([each.numpy().round(5) for each in tape.gradient(out, [first, second])])
square = tf.constant([[1.0, 2.0], [3.0, 5.0]])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(square)
    out = tf.matmul(square, square)
    rows = tf.sin(square) * tf.reduce_sum(square, axis=1, keepdims=True)
print(tape.jacobian(out, square).numpy().ravel(), tape.batch_jacobian(rows, square).numpy().round(5).ravel())
weights = tf.Variable([[1.0, -1.0, 2.0], [0.5, 0.0, 1.0]])
with tf.GradientTape() as tape:
    out = tf.tanh(square @ weights)
table = tape.jacobian(out, weights)
print(table.shape, table.numpy().round(5).ravel()[:12])
print(f"{float(keras.ops.mean(labels > 0)):.5f} {float(keras.ops.mean(labels)):.5f} {float(keras.ops.std(labels)):.5f}")
print(f"{int(keras.ops.sum(labels > 0))} {float(keras.ops.var(labels > 0, axis=0)):.5f} {float(K.std(tf.constant(labels > 0))):.5f}")
print(square.get_shape().ndims, square.get_shape().rank, square.shape.rank, first.trainable)
