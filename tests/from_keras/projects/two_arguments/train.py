"""Networks that take two arguments, a loop inside of a tape, variables of a metric's own, and what older programs call."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K


class Encoder(tf.keras.Model):
    def __init__(self, units):
        self.units = units
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(20, 6)
        self.gru = tf.keras.layers.GRU(units, return_sequences=True, return_state=True)

    def call(self, x, hidden):
        return self.gru(self.embedding(x), initial_state=hidden)


class Decoder(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(20, 6)
        self.score, self.out = tf.keras.layers.Dense(1), tf.keras.layers.Dense(20)
        self.cell = tf.keras.layers.GRU(units, return_state=True)

    def call(self, x, hidden, memory):
        weights = tf.nn.softmax(self.score(tf.nn.tanh(tf.expand_dims(hidden, 1) + memory)), axis=1)
        context = tf.reduce_sum(weights * memory, axis=1)
        x = tf.concat([tf.expand_dims(context, 1), self.embedding(x)], axis=-1)
        made, state = self.cell(x)
        return self.out(tf.reshape(made, (-1, made.shape.as_list()[-1]))), state


class Spread(tf.keras.metrics.Metric):
    def __init__(self, name="spread", **kwargs):
        super().__init__(name=name, **kwargs)
        self.total = self.add_weight(name="total", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.total.assign_add(tf.reduce_sum(K.square(y_pred - K.mean(y_pred))))

    def result(self):
        return K.sqrt(self.total + K.epsilon())


class Older(tf.keras.Model):
    def train_step(self, data):
        x, y, weight = data
        with tf.GradientTape(persistent=True) as tape:
            out = self(x, training=True)
            loss = self.compiled_loss(y, out, weight, regularization_losses=self.losses)
        grads = tape.gradient(loss, self.trainable_variables)
        del tape
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.compiled_metrics.update_state(y, out, weight)
        return {m.name: m.result() for m in self.metrics}


def numbers(net, seed):
    rng = np.random.default_rng(seed)
    net.set_weights([rng.normal(0, 0.3, w.shape).astype("float32") for w in net.get_weights()])


rng = np.random.default_rng(0)
source, target = rng.integers(1, 20, (6, 5)), rng.integers(0, 20, (6, 4))
encoder, decoder = Encoder(7), Decoder(7)
memory, state = encoder(source, tf.zeros((6, 7)))
decoder(target[:, :1], state, memory)
numbers(encoder, 1)
numbers(decoder, 2)
optimizer = tf.keras.optimizers.Adam(0.01)
per_word = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")


@tf.function
def step(inp, targ, hidden):
    loss = 0
    with tf.GradientTape() as tape:
        memory, hidden = encoder(inp, hidden)
        given = tf.expand_dims([1] * 6, 1)
        for t in range(1, targ.shape[1]):
            predictions, hidden = decoder(given, hidden, memory)
            mask = tf.cast(tf.math.logical_not(tf.math.equal(targ[:, t], 0)), tf.float32)
            loss += tf.reduce_mean(per_word(targ[:, t], predictions) * mask)
            given = tf.expand_dims(targ[:, t], 1)
    variables = encoder.trainable_variables + decoder.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss / int(targ.shape[1])


for _ in range(3):
    print(f"{float(step(tf.constant(source), tf.constant(target), tf.zeros((6, 7)))):.6f}")

inputs = tf.keras.Input((5,))
net = Older(inputs, tf.keras.layers.Dense(2, kernel_regularizer="l2")(inputs))
numbers(net, 3)
net.compile("sgd", "mse", metrics=[Spread()], weighted_metrics=["mae"])
x, y = rng.normal(size=(12, 5)).astype("float32"), rng.normal(size=(12, 2)).astype("float32")
history = net.fit(x, y, sample_weight=np.linspace(0.5, 2, 12), batch_size=4, epochs=2, shuffle=False, verbose=0)
print(" ".join(f"{history.history[name][-1]:.5f}" for name in ("spread", "mae")))
saved = tf.train.Checkpoint(net=net).write(os.path.join(tempfile.mkdtemp(), "kept"))
before = net.predict(x[:2], verbose=0)
numbers(net, 4)
tf.train.Checkpoint(net=net).read(saved).expect_partial()
print(f"{np.abs(net.predict(x[:2], verbose=0) - before).max():.5f}")
