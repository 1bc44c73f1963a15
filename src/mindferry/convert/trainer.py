"""`--trainer`: a trainer.py to start from, around the network that the project makes."""

from __future__ import annotations

from ..artifacts import FileConversion
from ..errors import MindferryError

NAME = "trainer.py"
TEMPLATE = '''"""Trains a network: several losses and metrics, loss scaling, a compiled step, several processes, checkpoints to go on from.

    python trainer.py                                           one process
    msrun --worker_num=2 --local_worker_num=2 trainer.py        two; each wants its share of the data

Written by `mindferry convert --trainer`; yours to edit. `Trainer` is general; `main` at the end is where your data goes.
"""

import os
import time

import mindspore as ms
import numpy as np
from mindspore import amp, communication, nn, ops


class Loss(nn.Cell):
    """A function of (outputs, targets) as a cell, so that it can be compiled."""

    def __init__(self, function):
        super().__init__(auto_prefix=False)
        self.function = function

    def construct(self, outputs, targets):
        return self.function(outputs, targets)


class Objective(nn.Cell):
    """(the weighted sum of the losses, each of them)."""

    def __init__(self, network, losses, weights):
        super().__init__(auto_prefix=False)
        self.network, self.weights = network, tuple(weights)
        self.losses = nn.CellList([each if isinstance(each, nn.Cell) else Loss(each) for each in losses], auto_prefix=False)

    def construct(self, inputs, targets):
        outputs = self.network(inputs)
        parts = ()
        for loss in self.losses:
            parts = parts + (loss(outputs, targets),)
        total = 0
        for weight, part in zip(self.weights, parts):
            total = total + weight * part
        return (total,) + parts


class Trainer:
    """Minimizes the weighted sum of `losses`, functions of (outputs, targets), over batches of (inputs, targets).

    `metrics`: objects such as nn.Accuracy(), with clear, update and eval. The best parameters are those of the smallest loss,
    or of the largest `monitor`, the name of a metric. `jit` compiles the gradient function.
    """

    def __init__(
        self, network, optimizer, losses, weights=None, loss_scale=None, clip_norm=None, checkpoint="best.ckpt",
        metrics=None, monitor="loss", jit=False, last="last",
    ):
        self.network, self.optimizer, self.losses = network, optimizer, dict(losses)
        self.metrics, self.monitor, self.last = dict(metrics or {}), monitor, last
        self.scores, self.first_epoch = {}, 0
        self.weights = {name: 1.0 for name in self.losses} | dict(weights or {})
        self.scaler = amp.DynamicLossScaler(loss_scale, scale_factor=2, scale_window=1000) if loss_scale else None
        self.clip_norm, self.checkpoint = clip_norm, checkpoint
        self.is_distributed = "RANK_ID" in os.environ and ms.communication.GlobalComm.INITED
        self.size = communication.get_group_size() if self.is_distributed else 1
        self.is_first = not self.is_distributed or communication.get_rank() == 0
        self.best, self.skipped = None, 0
        self.objective = Objective(network, self.losses.values(), [self.weights[name] for name in self.losses])
        gradients = ms.value_and_grad(self.forward, None, optimizer.parameters, has_aux=True)
        self.gradients = ms.jit(gradients) if jit else gradients

    def forward(self, inputs, targets):
        """(the loss that is minimized, scaled; the loss; each part of it)."""
        found = self.objective(inputs, targets)
        scaled = found[0] if self.scaler is None else self.scaler.scale(found[0])
        return (scaled,) + found

    def step(self, inputs, targets):
        """One update. Returns the loss and its parts; gradients that overflowed are thrown away, and the scale is lowered."""
        (_, total, *parts), grads = self.gradients(inputs, targets)
        if self.is_distributed:
            grads = tuple(ops.AllReduce()(grad) / self.size for grad in grads)
        if self.scaler:
            grads = self.scaler.unscale(grads)
            is_finite = amp.all_finite(grads)
            self.scaler.adjust(is_finite)
            if not is_finite:
                self.skipped += 1
                return total, parts
        if self.clip_norm:
            grads = ops.clip_by_global_norm(grads, self.clip_norm)
        self.optimizer(grads)
        return total, parts

    def train_epoch(self, batches, epoch, report_every=100):
        self.network.set_train()
        start, totals = time.perf_counter(), []
        for number, (inputs, targets) in enumerate(batches, 1):
            total, parts = self.step(inputs, targets)
            totals.append(float(total))
            if self.is_first and number % report_every == 0:
                details = ", ".join(f"{name} {float(part):.4f}" for name, part in zip(self.losses, parts))
                speed = number / (time.perf_counter() - start)
                print(f"epoch {epoch} step {number}: loss {totals[-1]:.4f} ({details}), {speed:.1f} steps/s", flush=True)
        return totals

    def evaluate(self, batches):
        """The mean loss over the samples, over all processes; `scores` holds it and this process's metrics."""
        self.network.set_train(False)
        total, count = 0.0, 0
        for metric in self.metrics.values():
            metric.clear()
        for inputs, targets in batches:
            outputs = self.network(inputs)
            for metric in self.metrics.values():
                metric.update(outputs, targets)
            loss = sum(self.weights[name] * part(outputs, targets) for name, part in self.losses.items())
            total, count = total + float(loss) * len(inputs), count + len(inputs)
        if self.is_distributed:
            total, count = ops.AllReduce()(ms.Tensor([total, count], ms.float32)).asnumpy()
        loss = float(total) / max(float(count), 1.0)
        self.scores = {"loss": loss} | {name: float(metric.eval()) for name, metric in self.metrics.items()}
        return loss

    def save(self, epoch):
        """Parameters and the optimizer's state, to go on from with `resume`."""
        ms.save_checkpoint(self.network, f"{self.last}.ckpt")
        ms.save_checkpoint(self.optimizer, f"{self.last}_optimizer.ckpt", append_dict={"epoch": epoch})

    def resume(self):
        """Go on after the last epoch that was saved. Returns its number."""
        ms.load_param_into_net(self.network, ms.load_checkpoint(f"{self.last}.ckpt"))
        state = ms.load_checkpoint(f"{self.last}_optimizer.ckpt")
        epoch = int(state.pop("epoch").asnumpy())
        ms.load_param_into_net(self.optimizer, state)
        self.first_epoch = epoch + 1
        return epoch

    def fit(self, train_batches, test_batches, epochs):
        """Train; after each epoch save, evaluate, and keep the parameters that were best."""
        for epoch in range(self.first_epoch, epochs):
            losses = self.train_epoch(train_batches(epoch), epoch)
            self.evaluate(test_batches())
            score = self.scores[self.monitor]
            is_best = self.best is None or (score < self.best if self.monitor == "loss" else score > self.best)
            self.best = score if is_best else self.best
            if self.is_first:
                self.save(epoch)
                if is_best:
                    ms.save_checkpoint(self.network, self.checkpoint)
                test = ", ".join(f"{name} {value:.4f}" for name, value in self.scores.items())
                mark = f", saved to {self.checkpoint}" if is_best else ""
                skipped = f", {self.skipped} steps skipped for overflow" if self.skipped else ""
                print(f"epoch {epoch}: train {np.mean(losses):.4f}, test {test}{mark}{skipped}", flush=True)
        return self.best


def main():
    from model import make_model

    if "RANK_ID" in os.environ:
        communication.init()
    ms.set_seed(0)
    network = make_model()
    optimizer = nn.Momentum(network.trainable_params(), learning_rate=0.01, momentum=0.9)
    trainer = Trainer(
        network, optimizer, {"classification": nn.CrossEntropyLoss()}, metrics={"accuracy": nn.Accuracy()}, jit=True
    )
    raise SystemExit("put your data here: trainer.fit(train_batches, test_batches, epochs=10)")


if __name__ == "__main__":
    main()
'''


def trainer_text(model: str) -> bytes:
    """The trainer; `model` ("module:factory(arguments)") is what its example builds, where it is known."""
    name, bracket, arguments = model.partition("(")
    module, _, factory = name.rpartition(":")
    made = (
        f"from {module} import {factory} as make_model"
        if module
        else "from model import make_model  # your network's factory"
    )
    text = TEMPLATE.replace("from model import make_model", made)
    return text.replace("network = make_model()", f"network = make_model{bracket + arguments or '()'}").encode("utf-8")


def check_own_trainer(files: list[FileConversion]) -> None:
    """A file of the project's own is not written over."""
    if any(file.path == NAME for file in files):
        raise MindferryError(f"the project has a {NAME} of its own; leave out --trainer")
