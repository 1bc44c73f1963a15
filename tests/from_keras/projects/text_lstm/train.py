import numpy as np
import tensorflow as tf
from tensorflow.keras.callbacks import EarlyStopping
from tensorflow.keras.layers import LSTM, Bidirectional, Dense, Embedding, GlobalMaxPooling1D, SpatialDropout1D
from tensorflow.keras.models import Sequential

rng = np.random.default_rng(0)
tokens = rng.integers(1, 30, (24, 9))
tokens[:, 6:] = 0
labels = (tokens.sum(1) % 2).astype("int32")

model = Sequential()
model.add(Embedding(30, 8, mask_zero=True))
model.add(SpatialDropout1D(0.0))
model.add(Bidirectional(LSTM(6, return_sequences=True)))
model.add(LSTM(5))
model.add(Dense(1, activation="sigmoid"))
model.build(input_shape=(None, 9))
rng = np.random.default_rng(4)
model.set_weights([rng.normal(0, 0.4, w.shape).astype("float32") for w in model.get_weights()])
model.compile(loss="binary_crossentropy", optimizer=tf.keras.optimizers.SGD(0.2, momentum=0.5, nesterov=True), metrics=["accuracy"])
history = model.fit(
    tokens,
    labels,
    epochs=3,
    batch_size=8,
    validation_data=(tokens[:16], labels[:16]),
    shuffle=False,
    verbose=0,
    callbacks=[EarlyStopping(monitor="val_loss", patience=1, restore_best_weights=True)],
    class_weight={0: 1.0, 1: 2.0},
)
for name, values in sorted(history.history.items()):
    print(name, [round(float(v), 5) for v in values])
score = model.evaluate(tokens, labels, verbose=0)
print("Test loss: %.4f, accuracy: %.4f" % (score[0], score[1]))

from tensorflow.keras.preprocessing.text import Tokenizer  # the older way with words

tokenizer = Tokenizer(num_words=8, oov_token="<OOV>")
tokenizer.fit_on_texts(["I love my dog", "I love my cat!", "You love my dog?"])
print(tokenizer.word_index, tokenizer.texts_to_sequences(["i really love my cat", "you"]), tokenizer.sequences_to_texts([[2, 3, 99]]))
print(tokenizer.texts_to_matrix(["I love love my cat"], mode="tfidf").round(4).tolist())
pairs = tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.from_tensor_slices(["a", "b", "c"])))
print([(int(number), word.numpy().decode()) for number, word in pairs.skip(1)], tf.strings.join(["x", "y"]).numpy())
best = tf.math.top_k(tf.constant([1.5, 3.5, 2.5]), k=2)
print(best.indices.numpy(), best.values.numpy(), tf.unique(tf.constant([4, 4, 7])).y.numpy())
