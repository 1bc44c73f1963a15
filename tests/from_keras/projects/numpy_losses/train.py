import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(12, 3)).astype("float32"), rng.normal(size=(12, 1)).astype("float32")
mask = (rng.uniform(size=(12, 1)) > 0.3).astype("float32")


def fresh():
    return tf.keras.Sequential(
        [tf.keras.Input((3,)), tf.keras.layers.Dense(1, kernel_initializer=tf.keras.initializers.Constant(0.3))]
    )


def mse(y_true, y_pred):
    return tf.reduce_mean(tf.square(y_true - y_pred))


def mse2(y_true, y_pred):
    err = y_pred - y_true
    return tf.reduce_mean(err * err)


def step(net, fn):
    opt = tf.keras.optimizers.SGD(0.1)
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = fn(net)
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return "%.5f" % float(fn(net))


def case(name, fn):
    print(name, step(fresh(), fn))


case("left array", lambda net: tf.reduce_mean(tf.square(Y - net(X))))
case("right array", lambda net: tf.reduce_mean(tf.square(net(X) - Y)))
case("function left", lambda net: mse(Y, net(X)))
case("function right", lambda net: mse2(Y, net(X)))
case("mask times", lambda net: tf.reduce_mean(mask * tf.square(net(X) - tf.constant(Y))))
case("times mask", lambda net: tf.reduce_mean(tf.square(net(X) - tf.constant(Y)) * mask))
case("np scalar", lambda net: tf.reduce_mean(np.float32(2.0) * net(X)))
case("np sqrt", lambda net: np.sqrt(2.0) * tf.reduce_mean(net(X)))
case("np pi", lambda net: tf.reduce_mean(net(X)) / np.sqrt(np.pi))
case("array matmul", lambda net: tf.reduce_mean(X.T @ net(X)))
case("matmul array", lambda net: tf.reduce_mean(tf.transpose(net(X)) @ X))
case("power", lambda net: tf.reduce_mean(np.float32(2.0) ** net(X)))


def batches(n):
    for i in range(0, 12, n):
        yield X[i : i + n], Y[i : i + n]


net = fresh()
opt = tf.keras.optimizers.Adam(0.05)
for epoch in range(2):
    for xb, yb in batches(4):
        with tf.GradientTape() as tape:
            pred = net(xb, training=True)
            loss = tf.reduce_mean((yb - pred) ** 2)
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
    print(epoch, "%.5f" % loss.numpy())


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.d = tf.keras.layers.Dense(1, kernel_initializer="ones")
        self.scale = np.array([0.5, 1.0, 2.0], dtype="float32")
        self.gain = np.float32(1.5)

    def call(self, x):
        return self.gain * self.d(self.scale * x)


n2 = Net()
n2.compile("sgd", "mse", metrics=["cosine_similarity"])
print(["%.5f" % v for v in n2.fit(X, Y, batch_size=6, epochs=2, shuffle=False, verbose=0).history["loss"]])
print(["%.5f" % v for v in n2.evaluate(X, Y, verbose=0)])
w = tf.Variable(np.ones((3, 1), "float32"))
for i in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((X @ w - Y) ** 2) / len(X)
    g = tape.gradient(loss, w)
    w.assign_sub(0.1 * g)
    print("%.5f" % loss.numpy(), np.round(w.numpy().ravel(), 4).tolist())
idx = np.array([0, 2])
t = tf.constant(X)
print(np.round(tf.gather(t, idx).numpy()[0], 4).tolist(), float(tf.reduce_sum(t[:, np.newaxis, 1])) > -99)
ok = tf.equal(tf.cast(t > 0, tf.float32), (X > 0).astype("float32"))
print(
    bool(tf.reduce_all(ok)),
    (tf.constant(Y) == Y).numpy().all() if hasattr(tf.constant(Y) == Y, "numpy") else np.all(tf.constant(Y) == Y),
)
print("%.4f %.4f %.4f" % (np.mean(t), np.std(net(X), axis=0)[0], np.max(tf.abs(t))), np.squeeze(net(X)).shape)
acc = np.mean(np.argmax(t, axis=1) == np.argmax(X, axis=1))
print(acc)
acc = tf.reduce_mean(tf.cast(tf.argmax(t, axis=1) == np.argmax(X, axis=1), tf.float32))
print("%.3f" % acc)
