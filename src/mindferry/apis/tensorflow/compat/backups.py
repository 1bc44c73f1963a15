"""keras.callbacks.BackupAndRestore: a training that was cut off goes on where it was."""

import os

import numpy as np

from .callbacks import Callback
from .network_files import optimizer_values, set_optimizer_values, weights_in


class BackupAndRestore(Callback):
    """The weights, what the optimizer remembers, and the epoch: after each epoch, or after so many batches."""

    def __init__(self, backup_dir, save_freq="epoch", double_checkpoint=False, delete_checkpoint=True):
        super().__init__()
        self.backup_dir, self.save_freq, self.delete_checkpoint = str(backup_dir), save_freq, delete_checkpoint
        self.path, self.seen, self.epoch = os.path.join(self.backup_dir, "latest.npz"), 0, 0

    def on_train_begin(self, logs=None):
        if not os.path.exists(self.path):
            return
        with np.load(self.path) as file:
            kept = {name: file[name] for name in file.files}
        self.model.set_weights(weights_in(kept))
        found = {name.removeprefix("optimizer/"): each for name, each in kept.items() if name.startswith("optimizer/")}
        set_optimizer_values(self.model, found)
        self.model.__dict__["resumed_epoch"] = int(kept["epoch"])

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        self.seen += 1
        if self.save_freq != "epoch" and self.seen % self.save_freq == 0:
            self.back_up(self.epoch)

    def on_epoch_end(self, epoch, logs=None):
        if self.save_freq == "epoch":
            self.back_up(epoch + 1)

    def back_up(self, epoch):
        os.makedirs(self.backup_dir, exist_ok=True)
        arrays = {f"weight/{place}": each for place, each in enumerate(self.model.get_weights())}
        arrays |= {f"optimizer/{name}": each for name, each in optimizer_values(self.model).items()}
        np.savez(self.path, epoch=epoch, **arrays)

    def on_train_end(self, logs=None):
        if self.delete_checkpoint and os.path.exists(self.path):
            os.remove(self.path)
