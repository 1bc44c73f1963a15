"""LeNet of the guide."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers


def build():
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(6, 5, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(16, (5, 5), activation="relu"),
            layers.AveragePooling2D(2),
            layers.BatchNormalization(),
            layers.Flatten(),
            layers.Dense(120, activation="relu", kernel_regularizer=keras.regularizers.l2(1e-3)),
            layers.Dense(84, activation="tanh"),
            layers.Dense(10, activation="softmax"),
        ]
    )


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 28, 28, 1)).astype("float32")
    y = rng.integers(0, 10, 80)
    model = build()
    rng = np.random.default_rng(1)
    model.set_weights([rng.normal(0, 0.1, w.shape).astype("float32") if w.ndim > 1 else w for w in model.get_weights()])
    model.compile(
        optimizer=keras.optimizers.SGD(1e-2, momentum=0.9), loss="sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    history = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0, validation_split=0.2)
    for name in sorted(history.history):
        print(name, " ".join(f"{v:.6f}" for v in history.history[name]))
    print("predict", model.predict(x[:4], verbose=0).sum(0).round(5).tolist())


if __name__ == "__main__":
    main()
