import tensorflow as tf
import numpy as np

TRUE_W, TRUE_B = 3.0, 2.0
rng = np.random.default_rng(1)
x = tf.constant(np.linspace(-2, 2, 40), dtype=tf.float32)
y = x * TRUE_W + TRUE_B + tf.constant(rng.normal(size=40), dtype=tf.float32)


class MyModel(tf.Module):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.w = tf.Variable(5.0)
        self.b = tf.Variable(0.0)

    def __call__(self, x):
        return self.w * x + self.b


def loss(target_y, predicted_y):
    return tf.reduce_mean(tf.square(target_y - predicted_y))


def train(model, x, y, learning_rate):
    with tf.GradientTape() as t:
        current_loss = loss(y, model(x))
    dw, db = t.gradient(current_loss, [model.w, model.b])
    model.w.assign_sub(learning_rate * dw)
    model.b.assign_sub(learning_rate * db)
    return current_loss


model = MyModel()
for epoch in range(6):
    current_loss = train(model, x, y, learning_rate=0.1)
    print(f"Epoch {epoch:2d}: W = {model.w.numpy():.4f}, b = {model.b.numpy():.4f}, loss={current_loss:.5f}")
print(len(model.trainable_variables), tf.reduce_max(x).numpy(), x.shape, tf.argmax([1.0, 5.0, 2.0]).numpy())

weights = tf.Variable(tf.constant(rng.normal(size=(3, 2)), tf.float32), name="weights")
optimizer = tf.keras.optimizers.Adagrad(0.1)
data = tf.constant(rng.normal(size=(5, 3)), tf.float32)
target = tf.one_hot([0, 1, 1, 0, 1], depth=2)
for step in range(5):
    with tf.GradientTape() as tape:
        logits = tf.matmul(data, weights)
        value = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=target, logits=logits))
    grads = tape.gradient(value, [weights])
    optimizer.apply_gradients(zip(grads, [weights]))
    correct = tf.equal(tf.argmax(logits, 1), tf.argmax(target, 1))
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
    print("step %d loss %.5f accuracy %.3f" % (step, value, accuracy))

table = tf.Variable(tf.reshape(tf.range(6.0), (2, 3)))
table[0, 1:].assign([5.5, 6.5])
table[:, tf.constant(0)].assign([1.125, 2.25])
kept = {"a": table}
kept["a"].assign(kept["a"] * 1.5)
print(table.numpy())
