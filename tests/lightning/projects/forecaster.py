"""An LSTM regressor whose learning rate falls when validation gets no better; arguments from a namespace."""

from argparse import Namespace

import lightning.pytorch as pl
import torch
from recording import Recorder, fill, numbers
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, length, window, seed):
        self.series, self.window = numbers(length, 2, seed=seed), window

    def __len__(self):
        return len(self.series) - self.window

    def __getitem__(self, index):
        return {"x": self.series[index : index + self.window], "y": self.series[index + self.window, :1]}


class Forecaster(pl.LightningModule):
    def __init__(self, hparams):
        super().__init__()
        self.save_hyperparameters(hparams)
        self.lstm = nn.LSTM(2, self.hparams.hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(self.hparams.hidden, 1)
        self.loss_fn = nn.SmoothL1Loss()

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.head(out[:, -1])

    def training_step(self, batch, batch_idx):
        loss = self.loss_fn(self(batch["x"]), batch["y"])
        self.log("loss/train", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        loss = self.loss_fn(self(batch["x"]), batch["y"])
        self.log("loss/val", loss, prog_bar=True)
        return loss

    def train_dataloader(self):
        return DataLoader(Windows(26, 5, seed=1), batch_size=self.hparams["batch_size"])

    def val_dataloader(self):
        return DataLoader(Windows(15, 5, seed=2), batch_size=4)

    def configure_optimizers(self):
        optimizer = torch.optim.RMSprop(self.parameters(), lr=self.hparams.lr)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, mode="min", factor=0.3, patience=0, threshold=0.1
        )
        return {"optimizer": optimizer, "lr_scheduler": scheduler, "monitor": "loss/val"}


def main(folder):
    model = fill(Forecaster(Namespace(hidden=7, lr=0.01, batch_size=6)))
    recorder = Recorder()
    trainer = pl.Trainer(
        max_epochs=5,
        callbacks=[recorder],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        gradient_clip_val=0.05,
        gradient_clip_algorithm="value",
        accelerator="cpu",
    )
    trainer.fit(model)
    return recorder.record(model, hparams=sorted(model.hparams.items()))
