"""Colours of images in bytes: computed as shares of 255, cut off at its bounds, and bytes again."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
bytes_ = tf.constant(rng.integers(0, 256, (5, 6, 3)), tf.uint8)
shares = tf.image.convert_image_dtype(bytes_, tf.float32)
for name, image in (("bytes", bytes_), ("shares", shares)):
    for change in (
        lambda x: tf.image.adjust_brightness(x, 0.3),
        lambda x: tf.image.adjust_brightness(x, -0.4),
        lambda x: tf.image.adjust_contrast(x, 1.7),
        lambda x: tf.image.adjust_gamma(x, 2.0, 0.9),
        lambda x: tf.image.adjust_saturation(x, 2.5),
        lambda x: tf.image.adjust_hue(x, 0.2),
        tf.image.rgb_to_grayscale,
    ):
        made = tf.cast(change(image), tf.float32).numpy()
        print(name, change(image).dtype == image.dtype, made.shape, f"{made.mean():.4f} {made.std():.4f} {made[1, 2, 0]:.4f}")
    print(f"{float(tf.image.psnr(image, image[::-1], 255 if image.dtype == tf.uint8 else 1.0)):.4f}")
pairs, labels = tf.keras.preprocessing.sequence.skipgrams([1, 2, 0, 3], 4, window_size=1, negative_samples=0, shuffle=False)
print(pairs, labels, np.round(tf.keras.preprocessing.sequence.make_sampling_table(4), 6).tolist())

images = tf.stack([tf.image.adjust_saturation(shares, 0.5 + each / 8) for each in range(8)])
net = tf.keras.Sequential([tf.keras.layers.Input((5, 6, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1, kernel_initializer=tf.keras.initializers.Constant(0.01))])
net.compile(optimizer=tf.keras.optimizers.SGD(0.01), loss="mse")
history = net.fit(images.numpy(), np.linspace(0, 1, 8).astype(np.float32)[:, None], epochs=5, batch_size=4, shuffle=False, verbose=0)
print(*(f"{each:.4f}" for each in history.history["loss"]))
