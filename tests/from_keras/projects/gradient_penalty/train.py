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
