"""A classifier that logs torchmetrics, as objects and as values, and counts for itself at the end of an epoch."""

import pytorch_lightning as pl
import torch
import torchmetrics
from recording import Recorder, fill, labels, numbers
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics import F1Score, MeanMetric, MetricCollection
from torchmetrics.classification import MulticlassAccuracy


class Measured(pl.LightningModule):
    def __init__(self, classes=4):
        super().__init__()
        self.net = nn.Linear(5, classes)
        self.train_acc = torchmetrics.Accuracy(task="multiclass", num_classes=classes)
        self.val_acc = MulticlassAccuracy(num_classes=classes)
        self.val_f1 = F1Score(task="multiclass", num_classes=classes, average="weighted")
        self.val_loss = MeanMetric()
        self.best = torchmetrics.MaxMetric()
        self.test_metrics = MetricCollection(
            {
                "precision": torchmetrics.Precision("multiclass", num_classes=classes, average="macro"),
                "error": self.error(),
            },
            prefix="test/",
        )

    def error(self):
        return torchmetrics.Recall(task="multiclass", num_classes=4, ignore_index=1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        loss = nn.functional.cross_entropy(logits, y)
        self.train_acc(logits, y)
        self.log("train_acc", self.train_acc, on_step=True, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        self.val_acc.update(logits, y)
        self.val_f1.update(logits.softmax(dim=1).argmax(dim=1), y)
        self.val_loss.update(nn.functional.cross_entropy(logits, y), x.shape[0])
        self.log("val_acc", self.val_acc)

    def on_validation_epoch_end(self):
        self.best(self.val_loss.compute())
        self.log("val_f1", self.val_f1.compute(), prog_bar=True)
        self.log("worst_loss", self.best.compute())
        self.val_f1.reset()
        self.val_loss.reset()

    def test_step(self, batch, batch_idx):
        x, y = batch
        self.test_metrics.update(self.net(x), y)
        self.log_dict(self.test_metrics, on_step=False, on_epoch=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.5)


def main(folder):
    model, recorder = fill(Measured()), Recorder()
    loader = DataLoader(TensorDataset(numbers(21, 5), labels(4, 21, seed=1)), batch_size=6)
    trainer = pl.Trainer(
        max_epochs=3,
        callbacks=[recorder],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        accelerator="cpu",
    )
    trainer.fit(model, loader, loader)
    tested = trainer.test(model, loader, verbose=False)
    scores, wanted = numbers(12, 3, seed=5), labels(2, 12, 3, seed=6)
    other = [
        torchmetrics.functional.accuracy(scores[:, 0], wanted[:, 0], task="binary").item(),
        torchmetrics.functional.f1_score(scores, wanted, task="multilabel", num_labels=3, average="macro").item(),
        torchmetrics.functional.accuracy(scores, wanted, task="multilabel", num_labels=3).item(),
        torchmetrics.MeanSquaredError(squared=False)(scores, wanted).item(),
        torchmetrics.MeanAbsoluteError()(scores, wanted).item(),
    ]
    return recorder.record(model, tested=tested, other=other)
