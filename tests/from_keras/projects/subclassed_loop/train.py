import numpy as np
import tensorflow as tf
from model import Net, seeded

net = Net(5)
optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train_loss = tf.keras.metrics.Mean(name="train_loss")
train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        predictions = net(images, training=True)  # logits
        loss = loss_object(labels, predictions)
        loss += tf.add_n(net.losses)
    gradients = tape.gradient(loss, net.trainable_variables)
    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
    train_loss(loss)
    train_accuracy.update_state(labels, predictions)
    return loss


rng = np.random.default_rng(0)
x = rng.normal(size=(40, 8, 6)).astype("float32")
y = rng.integers(0, 5, 40)
net(tf.constant(x[:2]))
seeded(net)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(8).prefetch(tf.data.AUTOTUNE)
for epoch in range(2):
    train_loss.reset_state()
    train_accuracy.reset_state()
    for step, (images, labels) in enumerate(dataset):
        value = train_step(images, labels)
        print(epoch, step, "{:.5f}".format(value.numpy()), f"{float(value):.4f}")
    print(f"Epoch {epoch} {train_loss.result().numpy():.5f} {train_accuracy.result() * 100:.3f}")
