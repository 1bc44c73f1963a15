"""A GAN with manual optimization: two optimizers, toggled, and schedulers stepped by hand."""

import pytorch_lightning as pl
import torch
import torch.nn as nn
import torch.nn.functional as F
from recording import Recorder, fill, numbers
from torch.utils.data import DataLoader, TensorDataset


class Generator(nn.Module):
    def __init__(self, latent_dim, size):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(latent_dim, 12), nn.LeakyReLU(0.2), nn.Linear(12, size), nn.Tanh())

    def forward(self, z):
        return self.model(z)


class Discriminator(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(size, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1), nn.Sigmoid())

    def forward(self, x):
        return self.model(x)


class GAN(pl.LightningModule):
    def __init__(self, size=8, latent_dim=4, lr=0.01, b1=0.5, b2=0.999):
        super().__init__()
        self.save_hyperparameters()
        self.automatic_optimization = False
        self.generator = Generator(latent_dim, size)
        self.discriminator = Discriminator(size)

    def forward(self, z):
        return self.generator(z)

    def adversarial_loss(self, y_hat, y):
        return F.binary_cross_entropy(y_hat, y)

    def training_step(self, batch, batch_idx):
        real, z = batch
        optimizer_g, optimizer_d = self.optimizers()

        # train the generator
        self.toggle_optimizer(optimizer_g)
        valid = torch.ones(real.size(0), 1)
        valid = valid.type_as(real)
        g_loss = self.adversarial_loss(self.discriminator(self(z)), valid)
        self.log("g_loss", g_loss, prog_bar=True)
        optimizer_g.zero_grad()
        self.manual_backward(g_loss)
        optimizer_g.step()
        self.untoggle_optimizer(optimizer_g)

        # train the discriminator
        self.toggle_optimizer(optimizer_d)
        real_loss = self.adversarial_loss(self.discriminator(real), valid)
        fake = torch.zeros(real.size(0), 1, device=self.device)
        fake_loss = self.adversarial_loss(self.discriminator(self(z).detach()), fake)
        d_loss = (real_loss + fake_loss) / 2
        self.log("d_loss", d_loss, prog_bar=True)
        optimizer_d.zero_grad()
        self.manual_backward(d_loss)
        self.clip_gradients(optimizer_d, gradient_clip_val=0.2, gradient_clip_algorithm="norm")
        optimizer_d.step()
        self.untoggle_optimizer(optimizer_d)
        return {"g": g_loss.detach(), "d": d_loss.detach()}

    def on_train_epoch_end(self):
        for scheduler in self.lr_schedulers():
            scheduler.step()

    def configure_optimizers(self):
        lr, b1, b2 = self.hparams.lr, self.hparams.b1, self.hparams.b2
        opt_g = torch.optim.Adam(self.generator.parameters(), lr=lr, betas=(b1, b2))
        opt_d = torch.optim.Adam(self.discriminator.parameters(), lr=lr, betas=(b1, b2))
        schedulers = [torch.optim.lr_scheduler.StepLR(each, 1, gamma=0.7) for each in (opt_g, opt_d)]
        return [opt_g, opt_d], schedulers


def main(folder):
    model = fill(GAN())
    loader = DataLoader(TensorDataset(numbers(24, 8), numbers(24, 4, seed=1)), batch_size=6)
    recorder = Recorder()
    trainer = pl.Trainer(
        max_epochs=3,
        callbacks=[recorder],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        accelerator="cpu",
    )
    trainer.fit(model, loader)
    return recorder.record(model)
