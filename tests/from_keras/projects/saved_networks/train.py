"""A network saved by fit and by hand, loaded again, trained on, and cloned."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import callbacks, layers


@keras.utils.register_keras_serializable()
class Gate(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.dense = layers.Dense(units, use_bias=False)

    def call(self, x):
        return tf.concat([x, tf.nn.softmax(self.dense(x), axis=-1)], axis=-1)

    def get_config(self):
        return {**super().get_config(), "units": self.units}


@keras.utils.register_keras_serializable()
def bent(x):
    return 1.7 * tf.tanh(x * 0.66)


class Own(keras.Model):
    def __init__(self, size, **kwargs):
        super().__init__(**kwargs)
        self.size, self.body, self.head = size, layers.Dense(size, activation="relu"), layers.Dense(2)

    def call(self, x):
        return self.head(self.body(x))

    def get_config(self):
        return {"size": self.size}


rng = np.random.default_rng(0)
x, y = rng.normal(size=(60, 6)).astype("float32"), rng.integers(0, 2, 60)
given = keras.Input((6,), name="given")
shared = layers.Dense(8, activation=bent, kernel_regularizer=keras.regularizers.L2(1e-3))
hidden = layers.Add()([Gate(4)(shared(given)), layers.Dense(12)(given)])
hidden = layers.BatchNormalization()(hidden) * 0.5
net = keras.Model(given, layers.Dense(2, activation="softmax", name="out")(hidden), name="net")
net.set_weights([rng.normal(0, 0.4, w.shape) if w.ndim == 2 else w for w in net.get_weights()])
net.compile(keras.optimizers.Adam(0.02), "sparse_categorical_crossentropy", metrics=["accuracy"])
folder = tempfile.mkdtemp()
best, weights = os.path.join(folder, "best.keras"), os.path.join(folder, "last.weights.h5")
kept = [callbacks.ModelCheckpoint(best), callbacks.BackupAndRestore(os.path.join(folder, "backup"))]
history = net.fit(x, y, epochs=3, batch_size=15, shuffle=False, callbacks=kept, verbose=0)
print([f"{loss:.4f}" for loss in history.history["loss"]])
loaded = keras.models.load_model(best)
print(os.path.exists(best), loaded.name, loaded.layers[-1].name, f"{np.abs(loaded.predict(x, verbose=0) - net.predict(x, verbose=0)).max():.5f}")
for each in (net, loaded):
    again = each.fit(x, y, epochs=2, batch_size=15, shuffle=False, verbose=0)
    print([f"{loss:.4f}" for loss in again.history["loss"]], int(each.optimizer.iterations))
clone = keras.models.clone_model(net)
net.save_weights(weights)
clone.load_weights(weights)
os.remove(weights)
print(f"{np.abs(clone.predict(x, verbose=0) - net.predict(x, verbose=0)).max():.5f}", clone.get_layer("out").get_config()["units"])

own = Own(5)
own(x[:1])
own.set_weights([rng.normal(0, 0.4, w.shape) for w in own.get_weights()])
own.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
own.fit(x, y, epochs=1, shuffle=False, verbose=0)
own.save(os.path.join(folder, "own.keras"))
other = keras.models.load_model(os.path.join(folder, "own.keras"), custom_objects={"Own": Own})
print(f"{other.evaluate(x, y, verbose=0):.4f}", f"{own.evaluate(x, y, verbose=0):.4f}")
