import os

os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import numpy as np
import tensorflow as tf
from keras import layers


class CustomModel(keras.Model):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.mae_metric = keras.metrics.MeanAbsoluteError(name="mae")
        self.loss_fn = keras.losses.MeanSquaredError()

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.loss_fn(y, y_pred)
        trainable_vars = self.trainable_variables
        gradients = tape.gradient(loss, trainable_vars)
        self.optimizer.apply(gradients, trainable_vars)
        self.loss_tracker.update_state(loss)
        self.mae_metric.update_state(y, y_pred)
        return {"loss": self.loss_tracker.result(), "mae": self.mae_metric.result()}

    @property
    def metrics(self):
        return [self.loss_tracker, self.mae_metric]


a = keras.Input(shape=(6,), name="a")
b = keras.Input(shape=(4,), name="b")
shared = layers.Dense(5, activation="gelu")
h = layers.concatenate([shared(a), layers.Dense(5, activation="swish")(b)])
h2 = layers.Add()([shared(a), layers.Dense(5)(h)])
h2 = layers.LayerNormalization()(h2 * 0.5 + 1.0)
out = layers.Dense(1, name="out")(h2)
model = CustomModel(inputs=[a, b], outputs=out)
rng = np.random.default_rng(3)
model.set_weights([rng.normal(0, 0.3, w.shape).astype("float32") if w.ndim > 1 else w for w in model.get_weights()])
model.compile(
    optimizer=keras.optimizers.RMSprop(learning_rate=keras.optimizers.schedules.ExponentialDecay(0.01, 5, 0.9))
)
xa, xb, y = rng.normal(size=(30, 6)), rng.normal(size=(30, 4)), rng.normal(size=(30, 1))
h = model.fit([xa, xb], y, batch_size=5, epochs=3, shuffle=False, verbose=0)
print([round(v, 5) for v in h.history["loss"]], [round(v, 5) for v in h.history["mae"]])
inputs = keras.Input((8,))
x = layers.Dense(6, activation="relu")(inputs)
cls = layers.Dense(3, activation="softmax", name="cls")(x)
reg = layers.Dense(2, name="reg")(x)
two = keras.Model(inputs, [cls, reg])
two.set_weights([rng.normal(0, 0.3, w.shape).astype("float32") if w.ndim > 1 else w for w in two.get_weights()])
two.compile("sgd", loss={"cls": "categorical_crossentropy", "reg": "mse"}, loss_weights={"cls": 1.0, "reg": 0.2})
yc = np.eye(3)[rng.integers(0, 3, 24)].astype("float32")
h = two.fit(
    rng.normal(size=(24, 8)),
    {"cls": yc, "reg": rng.normal(size=(24, 2))},
    batch_size=6,
    epochs=3,
    shuffle=False,
    verbose=0,
)
print([round(v, 5) for v in h.history["loss"]])
print([round(float(two.train_on_batch(np.ones((3, 8)), [yc[:3], np.ones((3, 2))])[0]), 5) for _ in range(3)])
two.summary(print_fn=lambda *a, **k: None)
