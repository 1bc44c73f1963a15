import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class TransformerBlock(layers.Layer):
    def __init__(self, embed_dim, num_heads, ff_dim, rate=0.0, **kwargs):
        super().__init__(**kwargs)
        self.att = layers.MultiHeadAttention(num_heads=num_heads, key_dim=embed_dim)
        self.ffn = keras.Sequential([layers.Dense(ff_dim, activation="relu"), layers.Dense(embed_dim)])
        self.layernorm1 = layers.LayerNormalization(epsilon=1e-6)
        self.layernorm2 = layers.LayerNormalization(epsilon=1e-6)
        self.dropout1 = layers.Dropout(rate)
        self.dropout2 = layers.Dropout(rate)

    def call(self, inputs, training=False):
        attn_output = self.att(inputs, inputs, use_causal_mask=True)
        attn_output = self.dropout1(attn_output, training=training)
        out1 = self.layernorm1(inputs + attn_output)
        ffn_output = self.dropout2(self.ffn(out1), training=training)
        return self.layernorm2(out1 + ffn_output)


class TokenAndPositionEmbedding(layers.Layer):
    def __init__(self, maxlen, vocab_size, embed_dim):
        super().__init__()
        self.token_emb = layers.Embedding(input_dim=vocab_size, output_dim=embed_dim)
        self.pos_emb = layers.Embedding(input_dim=maxlen, output_dim=embed_dim)

    def call(self, x):
        maxlen = tf.shape(x)[-1]
        positions = tf.range(start=0, limit=maxlen, delta=1)
        return self.token_emb(x) + self.pos_emb(positions)


def build():
    inputs = layers.Input(shape=(7,))
    x = TokenAndPositionEmbedding(7, 20, 8)(inputs)
    x = TransformerBlock(8, 2, 16)(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dense(10, activation="relu")(x)
    outputs = layers.Dense(3, activation="softmax")(x)
    return keras.Model(inputs=inputs, outputs=outputs, name="classifier")


rng = np.random.default_rng(0)
x, y = rng.integers(0, 20, (32, 7)), rng.integers(0, 3, (32,))
model = build()
rng = np.random.default_rng(9)
model.set_weights([rng.normal(0, 0.3, w.shape).astype("float32") if w.ndim > 1 else w for w in model.get_weights()])
schedule = keras.optimizers.schedules.CosineDecay(0.05, decay_steps=20, warmup_target=0.1, warmup_steps=3)
model.compile(optimizer=keras.optimizers.SGD(schedule), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, batch_size=4, epochs=3, shuffle=False, verbose=0)
print(" ".join(f"{v:.5f}" for v in history.history["loss"]))
print(model.predict(x[:2], verbose=0).round(4).tolist(), len(model.layers), model.count_params())
