"""Training that stops after two epochs and goes on from its checkpoint."""

import os

import pytorch_lightning as pl
import torch
from recording import Recorder, fill, numbers
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Regressor(pl.LightningModule):
    def __init__(self, width=4, layer=None):
        super().__init__()
        self.save_hyperparameters("width")
        self.net = nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, 1))
        self.seen = 0

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x).squeeze(1), y)
        self.seen += len(x)
        self.log("train_loss", loss, on_epoch=True)
        return loss

    def on_save_checkpoint(self, checkpoint):
        checkpoint["seen"] = self.seen

    def on_load_checkpoint(self, checkpoint):
        self.seen = checkpoint["seen"]

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=0.05)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)]


def make_trainer(folder, epochs, callbacks):
    return pl.Trainer(
        max_epochs=epochs,
        callbacks=callbacks,
        default_root_dir=folder,
        enable_progress_bar=False,
        enable_model_summary=False,
        accelerator="cpu",
    )


def main(folder):
    loader = DataLoader(TensorDataset(numbers(12, 3), numbers(12, seed=1)), batch_size=4)
    saved = pl.callbacks.ModelCheckpoint(dirpath=folder, save_last=True, every_n_epochs=1)
    make_trainer(folder, 2, [saved]).fit(fill(Regressor()), loader)
    model, recorder = Regressor(), Recorder()
    trainer = make_trainer(folder, 4, [recorder])
    trainer.fit(model, loader, ckpt_path=os.path.join(folder, "last.ckpt"))
    loaded = Regressor.load_from_checkpoint(os.path.join(folder, "last.ckpt"), layer="other")
    return recorder.record(model, seen=[model.seen, loaded.seen], width=loaded.hparams.width)
