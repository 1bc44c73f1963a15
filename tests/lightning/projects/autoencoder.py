"""A convolutional autoencoder after Lightning's own tutorial: fixed number of steps, validation twice an epoch, two lists."""

import torch
from lightning.pytorch.callbacks import LearningRateMonitor
from recording import Recorder, fill, numbers
from torch import nn, optim
from torch.utils import data

import lightning as L


class Encoder(nn.Module):
    def __init__(self, width, latent):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, width, 3, stride=2, padding=1), nn.GELU(), nn.Flatten(), nn.Linear(width * 16, latent)
        )

    def forward(self, x):
        return self.layers(x)


class Decoder(nn.Module):
    def __init__(self, width, latent):
        super().__init__()
        self.linear = nn.Linear(latent, width * 16)
        self.layers = nn.Sequential(nn.GELU(), nn.ConvTranspose2d(width, 1, 4, stride=2, padding=1), nn.Tanh())

    def forward(self, z):
        x = self.linear(z)
        return self.layers(x.reshape(x.shape[0], -1, 4, 4))


class LitAutoEncoder(L.LightningModule):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.example_input_array = torch.zeros(2, 1, 8, 8)
        self.validation_outputs = []

    def training_step(self, batch, batch_idx):
        x = batch
        x_hat = self.decoder(self.encoder(x))
        loss = nn.functional.mse_loss(x_hat, x)
        self.log("train_loss", loss)
        return {"loss": loss, "worst": (x_hat - x).abs().max().detach()}

    def validation_step(self, batch):
        x_hat = self.decoder(self.encoder(batch))
        self.validation_outputs.append(nn.functional.mse_loss(x_hat, batch, reduction="none").mean(dim=[1, 2, 3]))

    def on_validation_epoch_end(self):
        every = torch.cat(self.validation_outputs)
        self.log_dict({"val_mean": every.mean(), "val_max": every.max()}, prog_bar=True)
        self.validation_outputs.clear()

    def configure_optimizers(self):
        optimizer = optim.SGD(self.parameters(), lr=0.1, momentum=0.9, nesterov=True)
        scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        return [optimizer], [{"scheduler": scheduler, "interval": "step", "frequency": 2}]


def main(folder):
    L.seed_everything(1)
    model = fill(LitAutoEncoder(Encoder(4, 5), Decoder(4, 5)))
    train_loader = data.DataLoader(numbers(30, 1, 8, 8), batch_size=5)
    val_loader = data.DataLoader(numbers(7, 1, 8, 8, seed=3), batch_size=3)
    recorder, monitor = Recorder(), LearningRateMonitor(logging_interval="step")
    trainer = L.Trainer(
        max_steps=14,
        val_check_interval=0.5,
        limit_train_batches=5,
        limit_val_batches=2,
        callbacks=[recorder, monitor],
        default_root_dir=folder,
        log_every_n_steps=1,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        accelerator="cpu",
    )
    trainer.fit(model, train_loader, val_loader)
    validated = trainer.validate(model, val_loader, verbose=False)
    return recorder.record(model, validated=validated, monitored=monitor.lrs)
