import keras
import numpy as np
from keras import layers, ops


class CustomCallback(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        print(f"Starting training; got log keys: {list(logs.keys())}")

    def on_epoch_begin(self, epoch, logs=None):
        print(f"Start epoch {epoch} of training")

    def on_epoch_end(self, epoch, logs=None):
        print(f"End epoch {epoch}; keys: {list(logs.keys())}")

    def on_train_batch_end(self, batch, logs=None):
        print("For batch {}, loss is {:7.4f}.".format(batch, logs["loss"]))

    def on_test_batch_end(self, batch, logs=None):
        print("test batch", batch, list(logs))


class EarlyStoppingAtMinLoss(keras.callbacks.Callback):
    def __init__(self, patience=0):
        super().__init__()
        self.patience = patience
        self.best_weights = None

    def on_train_begin(self, logs=None):
        self.wait = 0
        self.stopped_epoch = 0
        self.best = np.inf

    def on_epoch_end(self, epoch, logs=None):
        current = logs.get("loss")
        if np.less(current, self.best):
            self.best = current
            self.wait = 0
            self.best_weights = self.model.get_weights()
        else:
            self.wait += 1
            if self.wait >= self.patience:
                self.stopped_epoch = epoch
                self.model.stop_training = True
                print("Restoring model weights from the end of the best epoch.")
                self.model.set_weights(self.best_weights)

    def on_train_end(self, logs=None):
        if self.stopped_epoch > 0:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")


class CustomLearningRateScheduler(keras.callbacks.Callback):
    def __init__(self, schedule):
        super().__init__()
        self.schedule = schedule

    def on_epoch_begin(self, epoch, logs=None):
        if not hasattr(self.model.optimizer, "learning_rate"):
            raise ValueError('Optimizer must have a "learning_rate" attribute.')
        lr = self.model.optimizer.learning_rate
        scheduled_lr = self.schedule(epoch, lr)
        self.model.optimizer.learning_rate = scheduled_lr
        print(f"\nEpoch {epoch}: Learning rate is {float(np.array(scheduled_lr))}.")


LR_SCHEDULE = [(1, 0.05), (2, 0.01)]


def lr_schedule(epoch, lr):
    if epoch < LR_SCHEDULE[0][0] or epoch > LR_SCHEDULE[-1][0]:
        return lr
    for i in range(len(LR_SCHEDULE)):
        if epoch == LR_SCHEDULE[i][0]:
            return LR_SCHEDULE[i][1]
    return lr


def get_model():
    model = keras.Sequential()
    model.add(keras.layers.Dense(1, kernel_initializer=keras.initializers.Constant(0.4)))
    model.compile(
        optimizer=keras.optimizers.RMSprop(learning_rate=0.125),
        loss="mean_squared_error",
        metrics=["mean_absolute_error"],
    )
    return model


rng = np.random.default_rng(5)
x_train, y_train = rng.uniform(size=(40, 6)).astype("float32"), rng.uniform(size=(40,)).astype("float32")
model = get_model()
model.fit(
    x_train,
    y_train,
    batch_size=10,
    epochs=1,
    verbose=0,
    validation_split=0.5,
    shuffle=False,
    callbacks=[CustomCallback()],
)
res = model.evaluate(x_train, y_train, batch_size=20, verbose=0, callbacks=[CustomCallback()])
print("%.5f %.5f" % tuple(res))
model = get_model()
model.fit(
    x_train,
    y_train,
    batch_size=10,
    steps_per_epoch=3,
    epochs=8,
    verbose=0,
    shuffle=False,
    callbacks=[EarlyStoppingAtMinLoss()],
)
model = get_model()
model.fit(
    x_train,
    y_train,
    batch_size=10,
    epochs=4,
    verbose=0,
    shuffle=False,
    callbacks=[CustomLearningRateScheduler(lr_schedule)],
)
plateau = keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.2, patience=1, min_lr=0.001)
stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=2, restore_best_weights=True, start_from_epoch=1)
log = keras.callbacks.LambdaCallback(
    on_epoch_end=lambda epoch, logs: print(epoch, "%.5f" % logs["loss"], "%.6f" % logs["learning_rate"])
)
sched = keras.callbacks.LearningRateScheduler(lambda epoch, lr: lr * 0.9 if epoch else lr)
h = model.fit(
    x_train,
    y_train,
    batch_size=10,
    epochs=6,
    verbose=0,
    validation_data=(x_train[:10], y_train[:10]),
    shuffle=False,
    callbacks=[plateau, stop, sched, log],
)
print(sorted(h.history), h.epoch, stop.stopped_epoch, stop.best_epoch, "%.5f" % stop.best)
print("%.5f" % model.evaluate(x_train, y_train, verbose=0)[0])


rng = np.random.default_rng(9)


class Distiller(keras.Model):
    def __init__(self, student, teacher):
        super().__init__()
        self.teacher = teacher
        self.student = student

    def compile(self, optimizer, metrics, student_loss_fn, distillation_loss_fn, alpha=0.1, temperature=3):
        super().compile(optimizer=optimizer, metrics=metrics)
        self.student_loss_fn = student_loss_fn
        self.distillation_loss_fn = distillation_loss_fn
        self.alpha = alpha
        self.temperature = temperature

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, allow_empty=False):
        teacher_pred = self.teacher(x, training=False)
        student_loss = self.student_loss_fn(y, y_pred)
        distillation_loss = self.distillation_loss_fn(
            ops.softmax(teacher_pred / self.temperature, axis=1), ops.softmax(y_pred / self.temperature, axis=1)
        ) * (self.temperature**2)
        loss = self.alpha * student_loss + (1 - self.alpha) * distillation_loss
        return loss

    def call(self, x):
        return self.student(x)


def net(width, name):
    made = keras.Sequential(
        [keras.Input((10,)), layers.Dense(width), layers.LeakyReLU(negative_slope=0.2), layers.Dense(4)], name=name
    )
    made.set_weights([rng.normal(0, 0.3, each.shape) for each in made.get_weights()])
    return made


teacher, student = net(12, "teacher"), net(4, "student")
x, y = rng.normal(size=(32, 10)).astype("float32"), rng.integers(0, 4, 32)
teacher.compile(
    optimizer=keras.optimizers.Adam(),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=[keras.metrics.SparseCategoricalAccuracy()],
)
h = teacher.fit(x, y, epochs=2, batch_size=8, shuffle=False, verbose=0)
print(["%.5f" % v for v in h.history["loss"]])
distiller = Distiller(student=student, teacher=teacher)
distiller.compile(
    optimizer=keras.optimizers.Adam(),
    metrics=[keras.metrics.SparseCategoricalAccuracy()],
    student_loss_fn=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    distillation_loss_fn=keras.losses.KLDivergence(),
    alpha=0.1,
    temperature=10,
)
h = distiller.fit(x, y, epochs=3, batch_size=8, shuffle=False, verbose=0)
print({k: ["%.5f" % v for v in vs] for k, vs in h.history.items()})
print(["%.5f" % v for v in distiller.evaluate(x, y, verbose=0)])
short = distiller.fit(
    x,
    y,
    epochs=5,
    batch_size=8,
    steps_per_epoch=3,
    validation_data=(x, y),
    validation_batch_size=8,
    validation_steps=3,
    shuffle=False,
    verbose=0,
)
print({k: ["%.5f" % v for v in vs] for k, vs in short.history.items()})
