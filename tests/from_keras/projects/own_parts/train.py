"""A regularizer, a constraint, a loss and a metric of somebody's own, and functions of keras.ops beyond the everyday ones."""

import keras
import numpy as np
from keras import layers, ops


class Lasso(keras.regularizers.Regularizer):
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, w):
        return self.factor * ops.sum(ops.abs(w))

    def get_config(self):
        return {"factor": self.factor}


class Centred(keras.constraints.Constraint):
    def __call__(self, w):
        return w - ops.mean(w)


class Bent(keras.Loss):
    def call(self, y_true, y_pred):
        return ops.mean(ops.log(ops.cosh(y_pred - y_true)), axis=-1)


class Largest(keras.Metric):
    def __init__(self, name="largest"):
        super().__init__(name=name)
        self.most = self.add_weight(name="most", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.most.assign(ops.maximum(self.most, ops.max(ops.abs(y_pred - y_true))))

    def result(self):
        return self.most


class Norm(layers.Layer):
    def __init__(self):
        super().__init__()
        self.size = keras.metrics.Mean(name="size")

    def call(self, x):
        self.size.update_state(ops.mean(ops.abs(x)))
        return ops.layer_normalization(x, epsilon=1e-3) + ops.rms_normalization(x) * ops.hard_tanh(x)


def attend(x):
    heads = ops.reshape(x, (-1, 2, 2, 2))
    return ops.reshape(ops.dot_product_attention(heads, heads, heads, is_causal=True), (-1, 8))


rng = np.random.default_rng(2)
x, y = rng.normal(size=(24, 5)).astype("float32"), rng.normal(size=(24, 1)).astype("float32")
net = keras.Sequential(
    [
        keras.Input((5,)),
        layers.Dense(8, kernel_regularizer=Lasso(1e-2), kernel_constraint=Centred()),
        Norm(),
        layers.Lambda(attend),
        layers.Dense(1),
    ]
)
net.set_weights([rng.normal(0, 0.4, w.shape) for w in net.get_weights()])
rates = keras.optimizers.schedules.ExponentialDecay(0.05, decay_steps=3, decay_rate=0.7)
net.compile(keras.optimizers.Adam(rates, gradient_accumulation_steps=2), Bent(), metrics=[Largest()])
history = net.fit(x, y, batch_size=6, epochs=3, shuffle=False, verbose=0)
print({name: [f"{value:.4f}" for value in values] for name, values in sorted(history.history.items())})
print(f"{float(ops.mean(net.layers[0].kernel)):.5f}", net.metrics_names, f"{float(sum(net.losses)):.5f}")
plain = keras.Sequential([keras.Input((3,)), layers.Dense(4, activation="relu"), layers.Dense(2)])
made = keras.Sequential.from_config(plain.get_config())
print([each["class_name"] for each in plain.get_config()["layers"]], len(made.weights))
row = ops.array([-1.5, 0.5, 2.0, 8.0])
for made in (ops.cbrt(row), ops.exp2(row), ops.trunc(row), ops.hypot(row, 2.0), ops.deg2rad(row), ops.fliplr(ops.ones((2, 2)))):
    print(np.round(ops.convert_to_numpy(made), 4).tolist())
print(ops.convert_to_numpy(ops.isin(ops.array([1, 2, 3]), ops.array([2, 5]))), float(ops.nanmean(ops.array([1.0, np.nan, 4.0]))))
last, steps = ops.scan(lambda state, each: (state + each, state * each), ops.array(1.0), row)
print(float(last), np.round(ops.convert_to_numpy(steps), 4).tolist(), float(ops.fori_loop(0, 3, lambda i, s: s * 2.5, ops.array(1.0))))
print([each.path.rpartition("/")[2] for each in net.layers[0].weights], net.layers[0].kernel.regularizer.factor)
each_row = keras.losses.get("mse")(y, y * 0.5)
print(each_row.shape, np.round(ops.convert_to_numpy(each_row)[:3], 4).tolist(), float(keras.losses.get("MeanSquaredError")(y, y * 0.5)))
first = keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True, clipnorm=0.5)
again = type(first).from_config(first.get_config())
print(sorted((key, str(value)) for key, value in again.get_config().items() if key != "name"))
net.compile(again, "mse")
print([f"{each:.4f}" for each in net.fit(x, y, batch_size=6, epochs=2, shuffle=False, verbose=0).history["loss"]])
