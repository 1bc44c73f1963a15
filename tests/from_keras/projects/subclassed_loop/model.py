import numpy as np
import tensorflow as tf
from tensorflow.keras import Model, layers


class Scale(layers.Layer):
    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.width = width

    def build(self, input_shape):
        self.w = self.add_weight(
            shape=(input_shape[-1], self.width), initializer="random_normal", trainable=True, name="w"
        )
        self.b = self.add_weight(shape=(self.width,), initializer="zeros", trainable=True, name="b")

    def call(self, inputs):
        return tf.nn.relu(tf.matmul(inputs, self.w) + self.b)


class Net(Model):
    def __init__(self, classes):
        super().__init__()
        self.conv = layers.Conv1D(12, 3, strides=2, padding="same", kernel_regularizer=tf.keras.regularizers.L2(0.01))
        self.bn = layers.BatchNormalization()
        self.blocks = [Scale(10), Scale(7)]
        self.drop = layers.Dropout(0.0)
        self.head = layers.Dense(classes)

    def call(self, x, training=False):
        x = tf.nn.leaky_relu(self.bn(self.conv(x), training=training))
        for block in self.blocks:
            x = block(x)
        x = tf.reduce_mean(x, axis=1)
        if training:
            x = self.drop(x, training=training)
        return self.head(x)


def seeded(model, seed=3):
    rng = np.random.default_rng(seed)
    model.set_weights([rng.normal(0, 0.3, w.shape).astype("float32") if w.ndim > 1 else w for w in model.get_weights()])
