"""Masks through layers with states and through wrappers, inputs of another rank and type, and what steps of one's own leave to the metrics."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(0)


def prepared(net, seed):
    weights = np.random.default_rng(seed)
    net.set_weights([weights.normal(0, 0.4, each.shape).astype("float32") for each in net.get_weights()])
    return net


def shown(history):
    for name, values in history.history.items():
        print(name, [f"{value:.5f}" for value in values])


class Attending(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.attention = layers.MultiHeadAttention(num_heads=1, key_dim=units)
        self.norm = layers.LayerNormalization()

    def call(self, x, context):
        return self.norm(x + self.attention(query=x, value=context))


class Reader(keras.Model):
    """The decoder's mask must reach its attention, though its GRU gives a state too."""

    def __init__(self):
        super().__init__()
        self.words = layers.Embedding(12, 6, mask_zero=True)
        self.encoder = layers.Bidirectional(layers.GRU(6, return_sequences=True), merge_mode="sum")
        self.decoder = layers.GRU(6, return_sequences=True, return_state=True)
        self.attending = Attending(6)
        self.scores = layers.Dense(12)

    def call(self, inputs):
        source, target = inputs
        context = self.encoder(self.words(source))
        x, _ = self.decoder(self.words(target))
        return self.scores(self.attending(x, context))


source, target = rng.integers(1, 12, (12, 5)), rng.integers(1, 12, (12, 4))
source[::2, 3:] = 0
target[::3, 2:] = 0
reader = Reader()
reader((source[:1], target[:1]))
prepared(reader, 1)
reader.compile(keras.optimizers.SGD(0.1), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
batches = tf.data.Dataset.from_tensor_slices(((source, target), target)).batch(4)
shown(reader.fit(batches, epochs=2, verbose=0))

first, second = keras.Input((None,), dtype="int32"), keras.Input((None,), dtype="int32")
words = layers.Embedding(12, 4, mask_zero=True)
whole, *states = layers.Bidirectional(layers.LSTM(2, return_sequences=True, return_state=True))(words(first))
states = [layers.Concatenate()([states[0], states[2]]), layers.Concatenate()([states[1], states[3]])]
x, _, _ = layers.LSTM(4, return_sequences=True, return_state=True)(words(second), initial_state=states)
x = layers.GaussianNoise(0.0)(layers.Identity()(layers.PReLU(shared_axes=[1])(layers.UnitNormalization()(x))))
x = layers.Concatenate()([x, layers.Attention()([x, whole])])
tagger = keras.Model([first, second], layers.TimeDistributed(layers.Dense(12, activation="softmax"))(x))
prepared(tagger, 2).compile(keras.optimizers.SGD(0.2), "sparse_categorical_crossentropy", metrics=["accuracy"])
shown(tagger.fit([source, target], target, batch_size=4, epochs=2, shuffle=False, verbose=0))


class Doubling(layers.Layer):
    def __init__(self, units):
        self.units = self.state_size = units
        super().__init__()

    def build(self, input_shape):
        self.kernel = self.add_weight((input_shape[-1], self.units), name="kernel")

    def call(self, inputs, states):
        made = tf.tanh(inputs @ self.kernel + 2.0 * states[0])
        return made, [made]


stacked = keras.Sequential([keras.Input((3, 2)), layers.RNN([Doubling(4), layers.GRUCell(3)]), layers.Dense(1)])
prepared(stacked, 3).compile("sgd", "mse")
shown(stacked.fit(rng.normal(size=(8, 3, 2)), rng.normal(size=(8, 1)), epochs=2, shuffle=False, verbose=0))

pictures = keras.Sequential([keras.Input((6, 6, 1)), layers.Conv2D(2, 3), layers.Flatten(), layers.Dense(1)])
prepared(pictures, 4)
print(f"{pictures.predict(rng.integers(0, 9, (4, 6, 6)), verbose=0).sum():.4f}")


class Stepping(keras.Model):
    """As Keras' guide has it: the metrics are told by their names, and `compile_metrics` stands for those of `compile`."""

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape: loss = self.compute_loss(y=y, y_pred=self(x, training=True))
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, self(x))
        return {each.name: each.result() for each in self.metrics}


class Forgetting(Stepping):
    """Where a step gives the metrics' names, an epoch has what these have collected, even if it is nothing."""

    def train_step(self, data):
        return {"loss": super().train_step(data)["loss"] + 3.0}


x, y = rng.normal(size=(16, 4)).astype("float32"), rng.normal(size=(16, 1)).astype("float32")
for kind, metrics in ((Stepping, ["mae", "mse"]), (Forgetting, None)):
    inputs = keras.Input((4,))
    net = prepared(kind(inputs, layers.Dense(1)(layers.Dense(3, "gelu")(inputs))), 5)
    net.compile(keras.optimizers.get({"class_name": "SGD", "config": {"learning_rate": 0.05}}), "mse", metrics=metrics)
    shown(net.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0))
    print([each.name for each in net.metrics])

kept = tf.constant([2.0, 3.0])
scale, total = np.array([2.0, 0.5], "float32"), kept
total *= scale
total -= scale
print(total.numpy(), kept.numpy())
seen, weight = tf.constant(2.0), tf.Variable(3.0)
with tf.GradientTape() as tape:
    tape.watch(seen)
    out = seen * seen * weight
print([f"{float(each):.3f}" for each in tape.gradient(out, [seen, weight])])
heads = keras.Model(inputs, [layers.Dense(2)(inputs), layers.Dense(3)(inputs)])
prepared(heads, 6).compile("sgd", [keras.losses.MeanSquaredError(), None])
print([f"{each:.4f}" for each in heads.fit(x, x[:, :2], epochs=2, shuffle=False, verbose=0).history["loss"]])

ids = keras.Input((4,), dtype="int32")
words = keras.layers.Embedding(9, 3, mask_zero=True, embeddings_initializer="ones")
for mask in (ids != 0, words.compute_mask(ids), ~(ids < 1) & (abs(ids) % 5 != 0) | (ids // 4 == 7)):
    pooled = keras.layers.GlobalAveragePooling1D()(keras.layers.Dense(2, kernel_initializer="ones")(words(ids)), mask=mask)
    counted = keras.layers.Lambda(lambda each: tf.reduce_sum(tf.cast(each, tf.float32), 1, keepdims=True) / 7.0, output_shape=(1,))(mask)
    whole = keras.Model(ids, keras.layers.Concatenate()([pooled, counted]))
    print(np.round(whole(np.array([[1, 2, 0, 0], [3, 5, 5, 0], [4, 5, 6, 7]])).numpy(), 4).tolist())
