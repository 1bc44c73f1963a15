"""Tapes in the shapes that programs have them: asked inside of their block, again under the same name, of a part of a table."""

import numpy as np
import tensorflow as tf

w = tf.Variable([[1.0], [2.0]])
opt = tf.keras.optimizers.SGD(0.1)


def losses_of(x):
    return {"total": tf.reduce_mean((x @ w) ** 2), "other": tf.reduce_sum(w)}


def inside(x):
    with tf.GradientTape() as tape:
        y = x @ w
        loss = tf.reduce_mean(y ** 2)
        # what follows
        grads = tape.gradient(loss, [w])
        opt.apply_gradients(zip(grads, [w]))
    return loss


def part(x):
    with tf.GradientTape() as tape:
        losses = losses_of(x)
    grads = tape.gradient(losses["total"], [w])
    opt.apply_gradients(zip(grads, [w]))
    return losses


def watched(a, b):
    with tf.GradientTape() as t:
        mix = a + 0.5 * (b - a)
        t.watch(mix)
        out = (mix @ w) ** 3
    g = t.gradient(out, [mix])[0]
    return g


def again(x):
    for i in range(2):
        with tf.GradientTape() as tape:
            tape.watch([w])
            a_loss = tf.reduce_mean((x @ w) ** 2) + float(i)
        g = tape.gradient(a_loss, [w])
        opt.apply_gradients(zip(g, [w]))
    with tf.GradientTape() as tape:
        b_loss = tf.reduce_sum(tf.abs(x @ w))
    g = tape.gradient(b_loss, [w])
    opt.apply_gradients(zip(g, [w]))
    return b_loss


x = tf.constant([[1.0, 2.0], [0.5, -1.0]])
print(inside(x).numpy(), w.numpy().ravel())
print({k: float(v) for k, v in part(x).items()}, w.numpy().ravel())
print(watched(x, x * 3).numpy())
print(again(x).numpy(), w.numpy().ravel())


def heatmap(image):
    inputs = tf.keras.Input((6, 6, 1))
    maps = tf.keras.layers.Conv2D(2, 3, activation="relu", name="last_conv", kernel_initializer=tf.keras.initializers.Constant(0.3))(inputs)
    scores = tf.keras.layers.Dense(3, kernel_initializer=tf.keras.initializers.Constant(0.2))(tf.keras.layers.Flatten()(maps) ** 2)
    model = tf.keras.Model(inputs, scores)
    both = tf.keras.Model(model.inputs, [model.get_layer("last_conv").output, model.outputs[0]])
    with tf.GradientTape() as tape:
        out, preds = both(image)
        best = preds[:, tf.argmax(preds[0])]
    grads = tape.gradient(best, out)
    weights = tf.reduce_mean(grads, axis=(0, 1, 2))
    return tf.squeeze(out[0] @ weights[..., tf.newaxis]).numpy()


print(heatmap(tf.reshape(tf.cast(tf.range(36), tf.float32), (1, 6, 6, 1)) / 36.0)[1])


def shown(*values):
    return " ".join("%.4f" % each for value in values for each in np.ravel(value))


def rounds():
    """What a block sets goes on to its next round, and to a tape behind it, as a value."""
    state, hidden = tf.constant([[1.0], [2.0]]), np.ones((2, 1), "float32")
    for _ in range(3):
        with tf.GradientTape() as tape:
            state = tf.tanh(state * w + hidden)
            loss = tf.reduce_sum(tf.square(state - 1.0))
            hidden = state.numpy() * 0.5
        opt.apply_gradients(zip(tape.gradient(loss, [w]), [w]))
        print(shown(loss))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(state * w)
    return tape.gradient(loss, w).numpy()


print(shown(rounds()))
best, scale = None, 1.0


def scaled(value):
    return value * scale


def note_best():
    global best
    with tf.GradientTape() as tape:
        y = w * 2.0
        best = tf.reduce_max(y)
        loss = tf.reduce_sum(y**2)
    return tape.gradient(loss, w).numpy()


print(shown(note_best()), shown(best))
with tf.GradientTape() as tape:
    scale = tf.reduce_sum(w) + 3.0
    loss = tf.reduce_sum(scaled(w) ** 2)
print(shown(tape.gradient(loss, w), scaled(1.0)))

rng, taken = np.random.default_rng(0), []
policy = tf.keras.layers.Dense(2, kernel_initializer=tf.keras.initializers.Constant(0.2))
second = tf.keras.optimizers.SGD(0.1)
for episode in range(2):
    place = np.ones((1, 2), "float32")
    with tf.GradientTape() as tape:
        scores = []
        while len(taken) < 3 * (episode + 1):
            chances = tf.nn.softmax(policy(tf.constant(place)))[0]
            action = int(rng.random() < chances.numpy()[1])
            taken.append(action)
            place = place + 0.5 * (action - 0.3)
            scores.append(tf.math.log(chances[action]))
        loss = -tf.reduce_sum(tf.stack(scores) * np.arange(1.0, 4.0, dtype="float32"))
    second.apply_gradients(zip(tape.gradient(loss, policy.trainable_variables), policy.trainable_variables))
    print(len(taken), shown(loss, policy.get_weights()[0]))


encoder = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(3, activation="tanh")])
encoder.set_weights([np.arange(6.0).reshape(2, 3) / 5, np.ones(3)])
head = tf.keras.layers.Dense(1, kernel_initializer="ones")
points = tf.constant([[0.5, -1.0], [1.5, 0.25]])
with tf.GradientTape(persistent=True) as tape:
    hidden = encoder(points)
    tape.watch(hidden)  # and the encoder's gradients are asked for, too
    score = tf.reduce_mean(head(hidden) ** 2)
print(shown(tape.gradient(score, hidden)), shown(*tape.gradient(score, encoder.trainable_variables)))
print(shown(*tape.gradient(score, head.trainable_variables)))
with tf.GradientTape() as tape:
    doubled = points * 2.0
    tape.watch(doubled)
    score = tf.reduce_sum(doubled ** 3) + tf.reduce_sum(w)
print(shown(tape.gradient(score, doubled, unconnected_gradients=tf.UnconnectedGradients.ZERO)))
with tf.GradientTape(persistent=True) as tape:
    mixed = points @ w
    tape.watch(mixed)
    score = tf.reduce_sum(mixed ** 2)
print(shown(tape.gradient(score, mixed)), shown(*tape.gradient(score, [w])))
