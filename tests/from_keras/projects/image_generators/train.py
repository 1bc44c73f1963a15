"""Images from arrays, folders and a table, changed by chance, through Keras' older generators."""

import importlib.util
import os
import tempfile

import numpy as np
import tensorflow as tf
from PIL import Image
from tensorflow.keras.preprocessing.image import ImageDataGenerator

rng = np.random.default_rng(4)
images = rng.integers(0, 255, (12, 14, 10, 3)).astype("float32")
labels = np.arange(12) % 3
np.random.seed(3)
changing = ImageDataGenerator(
    rotation_range=20,
    width_shift_range=0.2,
    height_shift_range=[-2, 1],
    shear_range=10,
    zoom_range=0.2,
    horizontal_flip=True,
    vertical_flip=True,
    channel_shift_range=5.0,
    brightness_range=(0.6, 1.3),
    rescale=1 / 255,
    validation_split=0.25,
    fill_mode="reflect",
)
for subset in ("training", "validation"):
    flow = changing.flow(images, labels, batch_size=4, shuffle=True, seed=7, subset=subset)
    x, y = next(flow)
    print(subset, len(flow), flow.n, y, f"{x.mean():.5f} {x.std():.5f} {x[0, 2, 3, 1]:.5f}")
plain = ImageDataGenerator(featurewise_center=True, featurewise_std_normalization=True, zoom_range=[0.8, 1.0])
plain.fit(images)
x, y, weights = plain.flow(images, labels, batch_size=5, sample_weight=labels + 1.0, seed=1)[1]
print(f"{x.mean():.5f} {x.std():.5f} {plain.mean.sum():.3f}", y, weights)
folder = tempfile.mkdtemp()
for number, image in enumerate(images):
    os.makedirs(os.path.join(folder, f"kind{labels[number]}"), exist_ok=True)
    Image.fromarray(image.astype("uint8")).save(os.path.join(folder, f"kind{labels[number]}", f"{number}.png"))
own = ImageDataGenerator(preprocessing_function=lambda image: image / 127.5 - 1.0, validation_split=0.5)
train = own.flow_from_directory(folder, target_size=(8, 8), batch_size=3, class_mode="sparse", shuffle=False, subset="training")
held = own.flow_from_directory(folder, (8, 8), class_mode="categorical", shuffle=False, subset="validation", color_mode="grayscale")
print(train.class_indices, train.classes, train.samples, held.image_shape, [os.path.basename(each) for each in held.filenames])
x, y = next(held)
print(f"{x.mean():.5f}", x.shape, y.sum(0))
if importlib.util.find_spec("pandas"):
    import pandas as pd

    table = pd.DataFrame({"file": train.filenames, "kind": ["a", "b", "a", "b", "a", "b"], "size": np.arange(6.0)})
    for mode, column in (("binary", "kind"), ("raw", "size"), ("input", None)):
        x, y = next(own.flow_from_dataframe(table, folder, x_col="file", y_col=column, class_mode=mode, target_size=(4, 4), shuffle=False))
        print(mode, f"{x.mean():.5f}", y.shape, f"{y.sum():.4f}")
net = tf.keras.Sequential([tf.keras.Input((8, 8, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(3, activation="softmax")])
net.set_weights([rng.normal(0, 0.1, each.shape) for each in net.get_weights()])
net.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
history = net.fit(train, epochs=2, shuffle=False, verbose=0)
print([f"{each:.5f}" for each in history.history["loss"]], [f"{each:.4f}" for each in net.predict(train, verbose=0)[0]])
