import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def make_generator_model():
    model = tf.keras.Sequential()
    model.add(layers.Dense(4 * 4 * 8, use_bias=False, input_shape=(10,)))
    model.add(layers.BatchNormalization())
    model.add(layers.LeakyReLU())
    model.add(layers.Reshape((4, 4, 8)))
    assert model.output_shape == (None, 4, 4, 8)
    model.add(layers.Conv2DTranspose(4, (5, 5), strides=(2, 2), padding="same", use_bias=False))
    model.add(layers.BatchNormalization())
    model.add(layers.LeakyReLU())
    model.add(layers.Conv2DTranspose(1, (5, 5), strides=(2, 2), padding="same", use_bias=False, activation="tanh"))
    return model


def make_discriminator_model():
    model = tf.keras.Sequential()
    model.add(layers.Conv2D(8, (5, 5), strides=(2, 2), padding="same", input_shape=[16, 16, 1]))
    model.add(layers.LeakyReLU())
    model.add(layers.Dropout(0.0))
    model.add(layers.Flatten())
    model.add(layers.Dense(1))
    return model


def discriminator_loss(real_output, fake_output):
    real_loss = cross_entropy(tf.ones_like(real_output), real_output)
    fake_loss = cross_entropy(tf.zeros_like(fake_output), fake_output)
    return real_loss + fake_loss


generator, discriminator = make_generator_model(), make_discriminator_model()
rng = np.random.default_rng(3)
for m in (generator, discriminator):
    m.set_weights([rng.normal(0, 0.1, w.shape).astype("float32") if w.ndim > 1 else w for w in m.get_weights()])
generator_optimizer = tf.keras.optimizers.SGD(1e-1)
discriminator_optimizer = tf.keras.optimizers.SGD(1e-1)


@tf.function
def train_step(images, noise):
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        generated_images = generator(noise, training=True)
        real_output = discriminator(images, training=True)
        fake_output = discriminator(generated_images, training=True)
        gen_loss = cross_entropy(tf.ones_like(fake_output), fake_output)
        disc_loss = discriminator_loss(real_output, fake_output)
    gradients_of_generator = gen_tape.gradient(gen_loss, generator.trainable_variables)
    gradients_of_discriminator = disc_tape.gradient(disc_loss, discriminator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gradients_of_generator, generator.trainable_variables))
    discriminator_optimizer.apply_gradients(zip(gradients_of_discriminator, discriminator.trainable_variables))
    return gen_loss, disc_loss


for step in range(5):
    images = tf.constant(rng.normal(size=(4, 16, 16, 1)), dtype=tf.float32)
    g, d = train_step(images, tf.constant(rng.normal(size=(4, 10)).astype("float32")))
    print(step, f"{g.numpy():.5f} {d.numpy():.5f}")
x = tf.Variable([1.0, 2.0])
with tf.GradientTape(persistent=True) as tape:
    y = tf.reduce_sum(x**3)
    z = tf.reduce_prod(x)
print(tape.gradient(y, x).numpy(), tape.gradient(z, x).numpy())
x.assign_sub([0.5, 0.5])
print(x.numpy())
