"""A gradient that is part of a loss: of a critic by its input, and of a loss by a variable."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(5)


def make_critic():
    image = keras.Input((6, 6, 1))
    x = layers.Conv2D(4, 3, strides=2, padding="same", activation=layers.LeakyReLU(0.2))(image)
    x = layers.Dense(5, activation="swish")(layers.Flatten()(x))
    return keras.Model(image, layers.Dense(1)(x))


critic = make_critic()
critic.set_weights([rng.normal(0, 0.4, each.shape).astype("float32") for each in critic.get_weights()])
optimizer = keras.optimizers.SGD(0.01)


def penalty(images):
    with tf.GradientTape() as tape:
        tape.watch(images)
        score = critic(images, training=True)
    slopes = tape.gradient(score, [images])[0]
    norm = tf.sqrt(tf.reduce_sum(tf.square(slopes), axis=[1, 2, 3]))
    return tf.reduce_mean((norm - 1.0) ** 2)


@tf.function
def train_step(real, fake):
    with tf.GradientTape() as tape:
        difference = tf.reduce_mean(critic(fake, training=True)) - tf.reduce_mean(critic(real, training=True))
        loss = difference + 10.0 * penalty(0.3 * real + 0.7 * fake)
    gradients = tape.gradient(loss, critic.trainable_variables)
    optimizer.apply_gradients(zip(gradients, critic.trainable_variables))
    return loss


for step in range(4):
    size = 4 if step < 3 else 3
    pair = rng.normal(size=(2, size, 6, 6, 1)).astype("float32")
    print("loss %.5f" % train_step(tf.constant(pair[0]), tf.constant(pair[1])))

weight = tf.Variable(rng.normal(size=(3, 2)).astype("float32"))
rows = tf.constant(rng.normal(size=(4, 3)).astype("float32"))
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        error = tf.reduce_sum(tf.reshape(tf.sigmoid(rows @ weight), (2, 4)) ** 2, axis=0)
    slope = inner.gradient(error, weight)
    steepness = tf.reduce_sum(slope**2)
curve = outer.gradient(steepness, weight)
print("steepness %.4f" % steepness, "curve", " ".join("%.4f" % each for each in curve.numpy().ravel()))


def normalized(part):
    """TensorFlow's moments hold the mean fast, which only a second derivative tells."""
    net = keras.Sequential([keras.Input((4,)), layers.Dense(6), part, layers.Dense(5, activation="tanh"), layers.Dense(1)])
    net.set_weights([rng.normal(0.2, 0.4, each.shape).astype("float32") for each in net.get_weights()[:8]] + net.get_weights()[8:])
    points = tf.constant(rng.normal(size=(5, 4)).astype("float32"))
    with tf.GradientTape() as tape:
        with tf.GradientTape() as within:
            within.watch(points)
            score = net(points, training=True)
        slopes = within.gradient(score, points)
        loss = tf.reduce_mean((tf.sqrt(tf.reduce_sum(slopes**2, 1)) - 1.0) ** 2)
    return [float(tf.norm(each)) for each in tape.gradient(loss, net.trainable_variables)[:5]]


print("layers %.4f %.4f %.4f %.4f %.4f" % tuple(normalized(layers.LayerNormalization())))
print("groups %.4f %.4f %.4f %.4f %.4f" % tuple(normalized(layers.GroupNormalization(2))))
net_of_batches = layers.BatchNormalization()
points = tf.constant(rng.normal(size=(5, 3)).astype("float32"))
shift = tf.Variable([0.5, -0.5, 0.25])
with tf.GradientTape() as tape:
    with tf.GradientTape() as within:
        within.watch(points)
        score = tf.tanh(net_of_batches(points * shift**2 + shift, training=True)) * tf.stop_gradient(points**2)
    slopes = within.gradient(score, points)
    loss = tf.reduce_sum(slopes**2)
print("batches", " ".join("%.4f" % each for each in tape.gradient(loss, shift).numpy()))
