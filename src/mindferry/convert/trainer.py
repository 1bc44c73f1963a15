"""`--trainer`: for a project that has a model but no training loop, a trainer.py to start from."""

from __future__ import annotations

from ..apis import framework
from ..artifacts import FileConversion
from ..errors import MindferryError
from ..read.uses import Use

NAME = "trainer.py"
TEMPLATE = '''"""Trains a network: several losses, loss scaling, gradients over several processes, evaluation, the best checkpoint.

    python trainer.py                                           one process
    msrun --worker_num=2 --local_worker_num=2 trainer.py        two; each wants its share of the data

Written by `mindferry convert --trainer`; yours to edit. `Trainer` is general; `main` at the end is where your data goes.
"""

import os
import time

import mindspore as ms
import numpy as np
from mindspore import amp, communication, nn, ops


class Trainer:
    """Minimizes the weighted sum of `losses`, functions of (outputs, targets), over batches of (inputs, targets)."""

    def __init__(self, network, optimizer, losses, weights=None, loss_scale=None, clip_norm=None, checkpoint="best.ckpt"):
        self.network, self.optimizer, self.losses = network, optimizer, dict(losses)
        self.weights = {name: 1.0 for name in self.losses} | dict(weights or {})
        self.scaler = amp.DynamicLossScaler(loss_scale, scale_factor=2, scale_window=1000) if loss_scale else None
        self.clip_norm, self.checkpoint = clip_norm, checkpoint
        self.is_distributed = "RANK_ID" in os.environ and ms.communication.GlobalComm.INITED
        self.size = communication.get_group_size() if self.is_distributed else 1
        self.is_first = not self.is_distributed or communication.get_rank() == 0
        self.best, self.skipped = None, 0
        self.gradients = ms.value_and_grad(self.forward, None, optimizer.parameters, has_aux=True)

    def forward(self, inputs, targets):
        """(the loss that is minimized, scaled; the loss; each part of it)."""
        outputs = self.network(inputs)
        parts = [loss(outputs, targets) for loss in self.losses.values()]
        total = sum(weight * part for weight, part in zip(self.weights.values(), parts))
        return self.scaler.scale(total) if self.scaler else total, total, *parts

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

    def train_epoch(self, batches, epoch, report_every=50):
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
        """The mean loss over the samples, over all processes."""
        self.network.set_train(False)
        total, count = 0.0, 0
        for inputs, targets in batches:
            outputs = self.network(inputs)
            loss = sum(self.weights[name] * part(outputs, targets) for name, part in self.losses.items())
            total, count = total + float(loss) * len(inputs), count + len(inputs)
        if self.is_distributed:
            total, count = ops.AllReduce()(ms.Tensor([total, count], ms.float32)).asnumpy()
        return float(total) / max(float(count), 1.0)

    def fit(self, train_batches, test_batches, epochs):
        """Train; after each epoch evaluate, and keep the parameters that were best."""
        for epoch in range(epochs):
            losses = self.train_epoch(train_batches(epoch), epoch)
            score = self.evaluate(test_batches())
            is_best = self.best is None or score < self.best
            if is_best:
                self.best = score
                if self.is_first:
                    ms.save_checkpoint(self.network, self.checkpoint)
            if self.is_first:
                mark = f", saved to {self.checkpoint}" if is_best else ""
                skipped = f", {self.skipped} steps skipped for overflow" if self.skipped else ""
                print(f"epoch {epoch}: train {np.mean(losses):.4f}, test {score:.4f}{mark}{skipped}", flush=True)
        return self.best


def main():
    from model import make_model

    if "RANK_ID" in os.environ:
        communication.init()
    ms.set_seed(0)
    network = make_model()
    optimizer = nn.Momentum(network.trainable_params(), learning_rate=0.01, momentum=0.9)
    trainer = Trainer(network, optimizer, {"classification": nn.CrossEntropyLoss()})
    raise SystemExit("put your data here: trainer.fit(train_batches, test_batches, epochs=10)")


if __name__ == "__main__":
    main()
'''


def trainer_text(model: str) -> bytes:
    """The trainer; `model` ("module:factory") is what its example builds, where it is known."""
    module, _, factory = model.partition("(")[0].rpartition(":")
    made = (
        f"from {module} import {factory} as make_model"
        if module
        else "from model import make_model  # your network's factory"
    )
    return TEMPLATE.replace("from model import make_model", made).encode("utf-8")


def check_untrained(files: list[FileConversion]) -> None:
    """A project that trains itself keeps its own loop."""
    for file in files:
        if file.path == NAME:
            raise MindferryError(f"the project has a {NAME} of its own; leave out --trainer")
        for rewrite in file.rewrites:
            if framework().uses.has(Use.BACKWARD, rewrite.rule):
                raise MindferryError(
                    f"{file.path}:{rewrite.line} is a training loop, which is converted; --trainer is for projects without one"
                )
