"""Examples written to a TFRecord file, and read by a pipeline."""

import os
import tempfile

import numpy as np
import tensorflow as tf


def feature_of(value):
    if isinstance(value, bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    if isinstance(value, int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
    return tf.train.Feature(float_list=tf.train.FloatList(value=value))


rng = np.random.default_rng(0)
path = os.path.join(tempfile.mkdtemp(), "data.tfrecord")
with tf.io.TFRecordWriter(path) as writer:
    for place in range(8):
        image = rng.integers(0, 255, (4, 4, 1)).astype(np.uint8)
        row = {"image": image.tobytes(), "label": place % 3 - 1, "box": [0.25 * place, -1.5], "name": f"n{place}".encode()}
        example = tf.train.Example(features=tf.train.Features(feature={k: feature_of(v) for k, v in row.items()}))
        writer.write(example.SerializeToString())
wanted = {
    "image": tf.io.FixedLenFeature([], tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
    "box": tf.io.FixedLenFeature([2], tf.float32),
    "name": tf.io.FixedLenFeature([], tf.string),
    "absent": tf.io.FixedLenFeature([], tf.float32, default_value=0.5),
}


def parse(record):
    found = tf.io.parse_single_example(record, wanted)
    image = tf.reshape(tf.io.decode_raw(found["image"], tf.uint8), [4, 4, 1])
    return tf.cast(image, tf.float32) / 255.0, found["label"] + 1, found["box"] * found["absent"]


raw = tf.data.TFRecordDataset([path])
for record in raw.skip(2).take(1):
    example = tf.train.Example.FromString(record.numpy())
    print(example.features.feature["label"].int64_list.value, example.features.feature["name"].bytes_list.value)
print([each.numpy() for each in raw.map(lambda record: tf.io.parse_single_example(record, wanted)["name"])])
for images, labels, boxes in raw.map(parse).batch(3):
    print(images.shape, labels.numpy(), boxes.numpy().tolist(), f"{float(tf.reduce_sum(images)):.4f}")
kept = tf.io.serialize_tensor(tf.constant([[1.5, -2.5], [3.0, 4.25]]))
print(tf.io.parse_tensor(kept, out_type=tf.float32).numpy())
