import numpy as np
import tensorflow as tf
from tensorflow.keras import Model, layers, regularizers


def residual_block(x, filters, stride=1):
    shortcut = x
    y = layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False, kernel_regularizer=regularizers.l2(1e-4))(x)
    y = layers.BatchNormalization()(y)
    y = layers.ReLU()(y)
    y = layers.Conv2D(filters, 3, padding="same", use_bias=False)(y)
    y = layers.BatchNormalization()(y)
    if stride != 1 or shortcut.shape[-1] != filters:
        shortcut = layers.Conv2D(filters, 1, strides=stride, use_bias=False)(shortcut)
        shortcut = layers.BatchNormalization()(shortcut)
    return layers.Activation("relu")(layers.add([y, shortcut]))


def build():
    inputs = tf.keras.Input(shape=(12, 12, 3))
    x = layers.Rescaling(1.0 / 2)(inputs)
    x = layers.ZeroPadding2D(1)(x)
    x = layers.Conv2D(8, 3, padding="valid", name="stem")(x)
    x = layers.MaxPooling2D(3, strides=2, padding="same")(x)
    x = residual_block(x, 8)
    x = residual_block(x, 12, stride=2)
    x = layers.GlobalAveragePooling2D()(x)
    return Model(inputs, layers.Dense(4)(x))


def augment(image, label):
    image = tf.cast(image, tf.float32) * 0.5
    return tf.image.flip_left_right(image), label


rng = np.random.default_rng(0)
images, labels = rng.normal(size=(24, 12, 12, 3)).astype("float32"), rng.integers(0, 4, 24)
train = tf.data.Dataset.from_tensor_slices((images, labels)).map(augment, num_parallel_calls=tf.data.AUTOTUNE)
train = train.cache().batch(6, drop_remainder=True).repeat().prefetch(tf.data.AUTOTUNE)
test = tf.data.Dataset.from_tensor_slices((images, labels)).batch(5)
model = build()
rng = np.random.default_rng(4)
model.set_weights([rng.normal(0, 0.2, w.shape).astype("float32") if w.ndim > 1 else w for w in model.get_weights()])
model.compile(
    optimizer=tf.keras.optimizers.SGD(learning_rate=0.05),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=[tf.keras.metrics.SparseCategoricalAccuracy(name="acc")],
)
history = model.fit(train, epochs=3, steps_per_epoch=4, validation_data=test, verbose=0)
for name in ("loss", "acc", "val_loss", "val_acc"):
    print(name, [round(float(v), 4) for v in history.history[name]])
features = Model(model.input, model.get_layer("stem").output)
print(features.predict(images[:1], verbose=0).mean().round(5), model.evaluate(test, verbose=0, return_dict=True)["loss"])
