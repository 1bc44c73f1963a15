"""What every project here shares: weights that come from numpy, and a callback that writes down what happens."""

import numpy as np
import pytorch_lightning as pl
import torch


def fill(model):
    """The same first weights in both frameworks."""
    for index, (_, parameter) in enumerate(sorted(model.named_parameters(), key=lambda item: item[0])):
        numbers = np.random.default_rng(index).normal(0, 0.3, tuple(parameter.shape)).astype("float32")
        parameter.data.copy_(torch.from_numpy(numbers))
    return model


def numbers(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape).astype("float32"))


def labels(count, *shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).integers(0, count, shape))


class Recorder(pl.Callback):
    """Losses, learning rates, and the values that callbacks see."""

    def __init__(self):
        self.losses, self.rates, self.metrics, self.steps = [], [], [], []

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        for name in sorted(outputs):
            self.losses.append(float(outputs[name]))
        self.rates.append([group["lr"] for optimizer in trainer.optimizers for group in optimizer.param_groups])
        self.steps.append([trainer.current_epoch, batch_idx, trainer.global_step])

    def on_validation_end(self, trainer, pl_module):
        if not trainer.sanity_checking:
            self.metrics.append({name: float(value) for name, value in trainer.callback_metrics.items()})

    def on_train_end(self, trainer, pl_module):
        self.metrics.append({name: float(value) for name, value in trainer.callback_metrics.items()})

    def record(self, model, **others):
        weights = {name: float((parameter * parameter).sum()) for name, parameter in model.named_parameters()}
        return {
            "losses": self.losses,
            "rates": self.rates,
            "steps": self.steps,
            "metrics": self.metrics,
            "weights": [weights[name] for name in sorted(weights)],
            **others,
        }
