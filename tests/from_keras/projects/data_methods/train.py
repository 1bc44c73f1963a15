"""Methods of data sets that choose, group and mix, and text that is split into rows."""

import numpy as np
import tensorflow as tf

numbers = tf.data.Dataset.range(1, 9)


def words():
    for size in (1, 4, 2, 6, 3, 5):
        yield list(range(size)), size % 2


rows = tf.data.Dataset.from_generator(
    words, output_signature=(tf.TensorSpec((None,), tf.int32), tf.TensorSpec((), tf.int32))
)
for x, y in rows.bucket_by_sequence_length(lambda x, y: tf.shape(x)[0], [3, 5], [2, 2, 2]):
    print(x.numpy().tolist(), y.numpy().tolist())
print([int(each) for each in numbers.scan(tf.constant(0, tf.int64), lambda total, each: (total + each, total * each))])
print([int(each) for each in numbers.take_while(lambda each: each < 4)])
print([each.numpy().tolist() for each in numbers.batch(3).rebatch(2)])
mixed = tf.data.Dataset.range(1, 5).interleave(
    lambda each: tf.data.Dataset.from_tensors(each).repeat(each), cycle_length=2, block_length=1
)
print([int(each) for each in mixed])
grouped = numbers.group_by_window(lambda each: each % 3, lambda key, part: part.batch(2), window_size=2)
print([each.numpy().tolist() for each in grouped])
chosen = tf.data.Dataset.choose_from_datasets([numbers, numbers.skip(4)], tf.data.Dataset.range(2).repeat(3))
print([int(each) for each in chosen], numbers.element_spec, int(numbers.cardinality()))
split = tf.strings.split(["a b c", "d e"])
print(split.to_list(), split.to_tensor("-").numpy().tolist(), split.row_lengths().numpy().tolist())
print(tf.strings.reduce_join(tf.strings.unicode_split(["abc", "de"], "UTF-8"), axis=-1, separator=".").numpy().tolist())
print(*(f"{float(each) / 7:.4f}" for each in numbers))

lines = tf.constant(["1.5,cat,3", "-2.25,dog,", ",'x',7"])
numbers, words, counts = tf.io.decode_csv(lines, record_defaults=[0.5, "none", [4]])
print(numbers.numpy(), [each.decode() for each in words.numpy()], counts.numpy(), counts.dtype.name)
letters = tf.strings.unicode_split(tf.constant(["ab", "c"]), "UTF-8").to_tensor()
print(letters.shape, [float(each) + 0.25 for each in tf.io.decode_csv("3|4", [0, tf.constant([], tf.float32)], field_delim="|")])


class Turned(tf.keras.utils.Sequence):
    """Turned round at the end of each epoch; Keras says so once before the first one, too."""

    def __init__(self):
        super().__init__()
        self.rows, self.told = np.arange(12, dtype="float32").reshape(6, 2) / 9, []

    def __len__(self):
        return 2

    def __getitem__(self, place):
        rows = self.rows[3 * place : 3 * place + 3]
        return rows, rows[:, :1] ** 2

    def on_epoch_begin(self):
        self.told.append("begin")

    def on_epoch_end(self):
        self.told.append("end")
        self.rows = self.rows[::-1].copy()


net = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="ones")])
net.compile(tf.keras.optimizers.SGD(0.2), "mse", metrics=["cosine_similarity"])
batches, others = Turned(), Turned()
history = net.fit(batches, validation_data=others, epochs=3, shuffle=False, verbose=0)
print({name: [f"{each:.5f}" for each in values] for name, values in history.history.items()})
print([f"{each:.5f}" for each in net.evaluate(others, verbose=0)], batches.told, others.told)
print([int(each) for each in tf.data.Dataset.range(6).shuffle(1)])  # a buffer of one has no choice
print(max(int(next(iter(tf.data.Dataset.range(9).shuffle(3)))) for _ in range(40)))
scaled = tf.keras.layers.Normalization(axis=-1)
scaled.adapt(batches.rows)
print(scaled.mean.shape, [f"{each:.4f}" for part in (scaled.mean, scaled.variance) for each in part.numpy().ravel()])
