import os
import tempfile

import keras
import numpy as np
from keras import callbacks, layers, optimizers


class Recorder(callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.losses = []

    def on_train_batch_end(self, batch, logs=None):
        self.losses.append(logs["loss"])

    def on_epoch_end(self, epoch, logs=None):
        print("epoch", epoch, f"{logs['loss']:.5f}", f"{float(self.model.optimizer.learning_rate):.5f}")


def scheduler(epoch, lr):
    return lr if epoch < 2 else lr * 0.5


rng = np.random.default_rng(0)
x = rng.normal(size=(40, 6)).astype("float32")
y = (x @ rng.normal(size=(6, 1)) + 0.1).astype("float32")
model = keras.Sequential([layers.Dense(8, activation="elu"), layers.Dense(1)])
model(x[:1])
rng = np.random.default_rng(5)
model.set_weights([rng.normal(0, 0.4, w.shape).astype("float32") for w in model.get_weights()])
model.compile(optimizer=optimizers.RMSprop(0.01, momentum=0.3, centered=True, clipnorm=1.0), loss=keras.losses.Huber(), metrics=["mae", "mse"])
recorder = Recorder()
path = os.path.join(tempfile.mkdtemp(), "best.weights.h5")
history = model.fit(
    x,
    y,
    batch_size=10,
    epochs=5,
    shuffle=False,
    verbose=0,
    validation_split=0.25,
    callbacks=[
        recorder,
        callbacks.LearningRateScheduler(scheduler),
        callbacks.ModelCheckpoint(path, save_best_only=True, save_weights_only=True, monitor="val_loss"),
        callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: print("done", epoch)),
        callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, min_delta=10.0),
    ],
)
for name, values in sorted(history.history.items()):
    print(name, [round(float(v), 5) for v in values])
print([round(float(v), 5) for v in recorder.losses])
model.load_weights(path)
print([round(float(v), 5) for v in model.evaluate(x, y, verbose=0)])
