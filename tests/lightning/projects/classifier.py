"""A classifier with a data module, hyperparameters, early stopping, checkpoints, a test and a prediction."""

import os

import pytorch_lightning as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint
from pytorch_lightning.loggers import CSVLogger
from recording import Recorder, fill, labels, numbers
from torch.utils.data import DataLoader, TensorDataset


class BlobsDataModule(pl.LightningDataModule):
    def __init__(self, batch_size: int = 8, num_features: int = 6):
        super().__init__()
        self.save_hyperparameters()
        self.batch_size = batch_size

    def prepare_data(self):
        self.prepared = True

    def setup(self, stage: str | None = None):
        x, y = numbers(52, self.hparams.num_features, seed=1), labels(3, 52, seed=2)
        if stage == "fit" or stage is None:
            self.train_set = TensorDataset(x[:30], y[:30])
            self.val_set = TensorDataset(x[30:43], y[30:43])
        if stage in ("test", "predict"):
            self.test_set = TensorDataset(x[43:], y[43:])

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.batch_size, num_workers=0)

    def val_dataloader(self):
        return DataLoader(self.val_set, batch_size=self.batch_size)

    def test_dataloader(self):
        return DataLoader(self.test_set, batch_size=4)

    def predict_dataloader(self):
        return DataLoader(self.test_set, batch_size=4)


class LitClassifier(pl.LightningModule):
    def __init__(self, num_features: int, num_classes: int = 3, hidden_dim: int = 16, lr: float = 0.05, **kwargs):
        super().__init__()
        self.save_hyperparameters(ignore=["num_classes"])
        self.net = nn.Sequential(
            nn.Linear(num_features, hidden_dim),
            nn.BatchNorm1d(hidden_dim),
            nn.ReLU(),
            nn.Linear(hidden_dim, num_classes),
        )
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, x):
        return self.net(x)

    def _shared_step(self, batch, stage):
        x, y = batch
        logits = self(x)
        loss = self.criterion(logits, y)
        acc = (logits.argmax(dim=-1) == y).float().mean()
        self.log(f"{stage}_loss", loss, prog_bar=True, on_step=stage == "train", on_epoch=True)
        self.log(f"{stage}_acc", acc, on_epoch=True)
        return loss

    def training_step(self, batch, batch_idx):
        return self._shared_step(batch, "train")

    def validation_step(self, batch, batch_idx):
        self._shared_step(batch, "val")

    def test_step(self, batch, batch_idx):
        self._shared_step(batch, "test")

    def predict_step(self, batch, batch_idx, dataloader_idx=0):
        x, _ = batch
        return F.softmax(self(x), dim=1)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=self.hparams.lr, weight_decay=1e-4)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "epoch"}}


def main(folder):
    pl.seed_everything(42, workers=True)
    data = BlobsDataModule(batch_size=8)
    model = fill(LitClassifier(data.hparams.num_features, dropout=0.1))
    recorder = Recorder()
    checkpoint = ModelCheckpoint(
        dirpath=os.path.join(folder, "kept"),
        monitor="val_loss",
        mode="min",
        save_top_k=2,
        filename="{epoch}-{val_loss:.2f}",
    )
    trainer = pl.Trainer(
        max_epochs=8,
        accelerator="cpu",
        devices=1,
        callbacks=[checkpoint, EarlyStopping(monitor="val_loss", min_delta=0.05, patience=2), recorder],
        logger=CSVLogger(folder, name="logs"),
        log_every_n_steps=2,
        enable_progress_bar=False,
        enable_model_summary=False,
        deterministic=True,
    )
    trainer.fit(model, datamodule=data)
    tested = trainer.test(model, datamodule=data, verbose=False)
    best = trainer.test(datamodule=data, ckpt_path="best", verbose=False)
    predictions = torch.cat(trainer.predict(model, datamodule=data))
    again = LitClassifier.load_from_checkpoint(checkpoint.best_model_path)
    again.eval()
    with torch.no_grad():
        loaded = again(numbers(4, 6, seed=9))
    with open(os.path.join(folder, "logs", "version_0", "metrics.csv")) as file:
        rows = len(file.readlines())
    return recorder.record(
        model,
        tested=tested,
        best=best,
        predictions=predictions.tolist(),
        loaded=loaded.tolist(),
        hparams=sorted((name, value) for name, value in again.hparams.items()),
        files=sorted(os.listdir(os.path.join(folder, "kept"))),
        best_score=checkpoint.best_model_score.item(),
        stopped=[trainer.current_epoch, trainer.global_step],
        rows=rows,
    )
