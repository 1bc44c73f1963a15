"""Networks whose inputs have no size of their own, and the one output that a list holds."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(2)


def numbered(net):
    net.set_weights([rng.normal(0, 0.2, each.shape).astype("float32") for each in net.get_weights()])
    return net


def deep():
    """Six halvings: a small sample would have no pixel left."""
    picture = keras.Input((None, None, 3))
    x = picture
    for count in (4, 8, 8, 8, 8):
        x = layers.Conv2D(count, 3, padding="valid" if count == 4 else "same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    gate = layers.Dense(x.shape[-1], activation="sigmoid")(layers.GlobalAveragePooling2D()(x))
    print(picture.shape, x.shape, gate.shape)
    return keras.Model(inputs=[picture], outputs=[layers.GlobalMaxPooling2D()(x * gate[:, None, None, :])])


def both_ways():
    picture = keras.Input((None, None, 1))
    a = layers.Conv2D(4, 3, padding="same", activation="relu")(picture)
    b = layers.Conv2D(8, 3, strides=2, padding="same")(a)
    c = layers.UpSampling2D()(layers.Conv2D(8, 3, strides=2, padding="same")(b))
    up = layers.Conv2DTranspose(4, 2, strides=2)(layers.Concatenate()([c, b]))
    return keras.Model([picture], [layers.Conv2D(1, 1)(layers.Concatenate()([up, a]))])


net = numbered(deep())
print(net.output_shape, type(net(np.ones((1, 64, 64, 3), "float32"))) is not list)
for height, width in ((64, 72), (80, 64)):
    print([f"{each:.5f}" for each in net(rng.random((1, height, width, 3)).astype("float32")).numpy().ravel()])
net = numbered(both_ways())
print(net.output_shape)
net.compile("sgd", "mae")
x, y = rng.random((8, 24, 16, 1)), rng.random((8, 24, 16, 1))
history = net.fit(x, y, batch_size=4, epochs=3, shuffle=False, verbose=0)
print([f"{each:.5f}" for each in history.history["loss"]], f"{(net.predict(x, verbose=0) > 0.2).mean():.4f}")
words = keras.Input((None,), dtype="int32")
x = layers.LSTM(8, return_sequences=True)(layers.Embedding(30, 8)(words))
x = layers.Dense(x.shape[-1], activation="tanh")(layers.Attention()([x, x]))
net = numbered(keras.Model(words, layers.Dense(3)(layers.GlobalAveragePooling1D()(x))))
print(x.shape, net.count_params(), net(np.arange(10).reshape(2, 5)).numpy().round(5))
signal = keras.Input((None, 6))
x = signal
for size, stride in ((3, 2), (3, 2), (5, 1)):
    x = layers.Conv1D(8, size, strides=stride)(x)
pixels = keras.Input((None, None, 4))
print(x.shape, tf.nn.depth_to_space(np.ones((1, 3, 2, 4), "float32"), 2).shape)
net = numbered(keras.Model(pixels, layers.Lambda(lambda each: tf.nn.depth_to_space(each, 2))(layers.Conv2D(4, 1)(pixels))))
print(net.output_shape, f"{float(tf.reduce_sum(net(np.ones((1, 3, 2, 4), 'float32')))):.4f}")
