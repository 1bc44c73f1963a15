"""Keras' callbacks."""

import csv
import os

import numpy as np

from .tensors import as_tensor


class Callback:
    def __init__(self):
        self.validation_data, self.model, self.params = None, None, {}

    def set_params(self, params):
        self.params = params

    def set_model(self, model):
        self.model = model

    def on_epoch_begin(self, epoch, logs=None):
        pass

    def on_epoch_end(self, epoch, logs=None):
        pass

    def on_batch_begin(self, batch, logs=None):
        pass

    def on_batch_end(self, batch, logs=None):
        pass

    def on_train_batch_begin(self, batch, logs=None):
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch, logs=None):
        self.on_batch_end(batch, logs)

    def on_test_batch_begin(self, batch, logs=None):
        pass

    def on_test_batch_end(self, batch, logs=None):
        pass

    def on_predict_batch_begin(self, batch, logs=None):
        pass

    def on_predict_batch_end(self, batch, logs=None):
        pass

    def on_train_begin(self, logs=None):
        pass

    def on_train_end(self, logs=None):
        pass

    def on_test_begin(self, logs=None):
        pass

    def on_test_end(self, logs=None):
        pass

    def on_predict_begin(self, logs=None):
        pass

    def on_predict_end(self, logs=None):
        pass


class History(Callback):
    def __init__(self):
        super().__init__()
        self.history, self.epoch = {}, []

    def on_train_begin(self, logs=None):
        self.epoch = []

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class EpochPrinter(Callback):
    def on_epoch_end(self, epoch, logs=None):
        shown = " - ".join(f"{name}: {value:.4f}" for name, value in (logs or {}).items() if isinstance(value, float))
        print(f"Epoch {epoch + 1}/{self.params['epochs']} - {shown}")


class Callbacks:
    """All of them, with the history among them."""

    def __init__(self, callbacks, model, params, verbose):
        given = (
            list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks] if callbacks is not None else []
        )
        if "epochs" in params:
            model.__dict__["history"] = next((each for each in given if isinstance(each, History)), None) or History()
            given += [model.history] if model.history not in given else []
            if verbose not in (0, "0", False):
                given.append(EpochPrinter())
        self.callbacks = given
        for each in given:
            each.set_model(model)
            each.set_params(params)

    def call(self, name, *args):
        given = args if args and isinstance(args[-1], dict) else (*args, {})
        for each in self.callbacks:
            getattr(each, name)(*given)


class LambdaCallback(Callback):
    def __init__(
        self,
        on_epoch_begin=None,
        on_epoch_end=None,
        on_train_begin=None,
        on_train_end=None,
        on_train_batch_begin=None,
        on_train_batch_end=None,
        on_batch_begin=None,
        on_batch_end=None,
        **_,
    ):
        super().__init__()
        given = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
            "on_train_batch_begin": on_train_batch_begin or on_batch_begin,
            "on_train_batch_end": on_train_batch_end or on_batch_end,
        }
        for name, function in given.items():
            if function is not None:
                setattr(self, name, function if "batch" in name or "epoch" in name else with_logs(function))


def with_logs(function):
    return lambda logs=None: function(logs)


class Watcher(Callback):
    """Watches one of the logs for the better."""

    def watch(self, monitor, mode, min_delta=0.0):
        if mode not in ("min", "max"):
            is_rising = monitor.endswith(("acc", "accuracy", "auc", "precision", "recall")) or "fmeasure" in monitor
            mode = "max" if is_rising else "min"
        self.monitor, self.mode, self.min_delta = monitor, mode, abs(min_delta)
        self.best = float("inf") if mode == "min" else -float("inf")

    def is_better(self, value, best):
        return value < best - self.min_delta if self.mode == "min" else value > best + self.min_delta


class EarlyStopping(Watcher):
    def __init__(
        self,
        monitor="val_loss",
        min_delta=0,
        patience=0,
        verbose=0,
        mode="auto",
        baseline=None,
        restore_best_weights=False,
        start_from_epoch=0,
    ):
        super().__init__()
        self.watch(monitor, mode, min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch

    def on_train_begin(self, logs=None):
        self.wait, self.stopped_epoch, self.best_weights, self.best_epoch = 0, 0, None, 0
        self.best = float("inf") if self.mode == "min" else -float("inf")

    def on_epoch_end(self, epoch, logs=None):
        value = (logs or {}).get(self.monitor)
        if value is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights, self.best_epoch = self.model.get_weights(), epoch
        self.wait += 1
        if self.is_better(value, self.best):
            self.best, self.best_epoch = value, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self.is_better(value, self.baseline):
                self.wait = 0
            return
        if self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.__dict__["stop_training"] = True

    def on_train_end(self, logs=None):
        if self.stopped_epoch > 0 and self.verbose:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            self.model.set_weights(self.best_weights)


class ReduceLROnPlateau(Watcher):
    def __init__(
        self,
        monitor="val_loss",
        factor=0.1,
        patience=10,
        verbose=0,
        mode="auto",
        min_delta=1e-4,
        cooldown=0,
        min_lr=0.0,
        **_,
    ):
        super().__init__()
        self.watch(monitor, mode, min_delta)
        self.factor, self.patience, self.verbose, self.cooldown, self.min_lr = (
            factor,
            patience,
            verbose,
            cooldown,
            min_lr,
        )

    def on_train_begin(self, logs=None):
        self.wait, self.waiting = 0, 0
        self.best = float("inf") if self.mode == "min" else -float("inf")

    def on_epoch_end(self, epoch, logs=None):
        rate = float(as_tensor(self.model.optimizer.learning_rate).asnumpy())
        if logs is not None:
            logs["learning_rate"] = rate
        value = (logs or {}).get(self.monitor)
        if value is None:
            return
        if self.waiting > 0:
            self.waiting, self.wait = self.waiting - 1, 0
        if self.is_better(value, self.best):
            self.best, self.wait = value, 0
        elif self.waiting <= 0:
            self.wait += 1
            if self.wait >= self.patience and rate > np.float32(self.min_lr):
                self.model.optimizer.learning_rate = max(rate * self.factor, self.min_lr)
                if self.verbose:
                    print(f"Epoch {epoch + 1}: learning rate {max(rate * self.factor, self.min_lr)}")
                self.waiting, self.wait = self.cooldown, 0


class LearningRateScheduler(Callback):
    def __init__(self, schedule, verbose=0):
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch, logs=None):
        rate = float(as_tensor(self.model.optimizer.learning_rate).asnumpy())
        try:
            made = self.schedule(epoch, rate)
        except TypeError:
            made = self.schedule(epoch)
        self.model.optimizer.learning_rate = float(as_tensor(made).asnumpy())

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            logs["learning_rate"] = float(as_tensor(self.model.optimizer.learning_rate).asnumpy())


class ModelCheckpoint(Watcher):
    """Saves the weights, or the network with them."""

    def __init__(
        self,
        filepath,
        monitor="val_loss",
        verbose=0,
        save_best_only=False,
        save_weights_only=False,
        mode="auto",
        save_freq="epoch",
        initial_value_threshold=None,
    ):
        super().__init__()
        self.watch(monitor, mode)
        self.filepath, self.verbose, self.save_best_only, self.save_freq = (
            str(filepath),
            verbose,
            save_best_only,
            save_freq,
        )
        self.save_weights_only = save_weights_only
        self.best = self.best if initial_value_threshold is None else initial_value_threshold
        self.seen, self.epoch_number = 0, 0

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch_number = epoch

    def on_train_batch_end(self, batch, logs=None):
        self.seen += 1
        if self.save_freq != "epoch" and self.seen % self.save_freq == 0:
            self.save(self.epoch_number, logs, batch)

    def on_epoch_end(self, epoch, logs=None):
        if self.save_freq == "epoch":
            self.save(epoch, logs)

    def save(self, epoch, logs, batch=0):
        if self.save_best_only:
            value = (logs or {}).get(self.monitor)
            if value is None or not self.is_better(value, self.best):
                return
            self.best = value
        path = self.filepath.format(epoch=epoch + 1, batch=batch + 1, **(logs or {}))
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        if self.save_weights_only:
            self.model.save_weights(path)
        else:
            self.model.save(path)


class CSVLogger(Callback):
    def __init__(self, filename, separator=",", append=False):
        super().__init__()
        self.filename, self.separator, self.append, self.names = filename, separator, append, None

    def on_train_begin(self, logs=None):
        is_there = self.append and os.path.exists(self.filename) and os.path.getsize(self.filename) > 0
        self.is_headed, self.file = is_there, open(self.filename, "a" if self.append else "w", newline="")

    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}
        if self.names is None:
            self.names = sorted(logs)
            self.writer = csv.writer(self.file, delimiter=self.separator)
            if not self.is_headed:
                self.writer.writerow(["epoch", *self.names])
        self.writer.writerow([epoch, *(logs.get(name) for name in self.names)])
        self.file.flush()

    def on_train_end(self, logs=None):
        self.file.close()


class TerminateOnNaN(Callback):
    def on_train_batch_end(self, batch, logs=None):
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(loss):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.__dict__["stop_training"] = True


class TensorBoard(Callback):
    """Writes nothing: use mindspore's SummaryRecord, or History."""

    def __init__(self, *args, **kwargs):
        super().__init__()
