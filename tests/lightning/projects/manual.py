"""Manual optimization in its other forms: gradients of several batches, a closure, a toggled model."""

import torch
from recording import fill, numbers
from torch import nn
from torch.utils.data import DataLoader

import lightning as L


class Manual(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.model = nn.Linear(4, 1)
        self.losses = []

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        loss = self.model(batch).pow(2).mean() / 2
        self.manual_backward(loss)
        # accumulate gradients of N batches
        if (batch_idx + 1) % 2 == 0:
            opt.step()
            opt.zero_grad()
        self.log("loss", loss, prog_bar=True)
        self.losses.append(loss.item())

    def on_train_epoch_end(self):
        sch = self.lr_schedulers()
        sch.step()

    def configure_optimizers(self):
        opt = torch.optim.SGD(self.model.parameters(), lr=0.1)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.StepLR(opt, 1)}


class Closure(Manual):
    def training_step(self, batch, batch_idx):
        opt = self.optimizers()

        def closure():
            loss = self.model(batch).pow(2).mean()
            opt.zero_grad()
            self.manual_backward(loss)
            self.losses.append(loss.item())
            return loss

        opt.step(closure=closure)

    def configure_optimizers(self):
        return torch.optim.SGD(self.model.parameters(), lr=0.1)

    def on_train_epoch_end(self):
        pass


class Toggled(Manual):
    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        with opt.toggle_model():
            loss = self.model(batch).pow(2).mean()
            opt.zero_grad()
            self.manual_backward(loss)
            opt.step()
        self.losses.append(loss.item())


def main(folder):
    found = {"losses": []}
    for kind in (Manual, Closure, Toggled):
        model = fill(kind())
        trainer = L.Trainer(
            max_epochs=2,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            accelerator="cpu",
        )
        trainer.fit(model, DataLoader(numbers(8, 4), batch_size=2))
        found["losses"] += model.losses
        found[kind.__name__] = [
            trainer.global_step,
            trainer.optimizers[0].param_groups[0]["lr"],
            float(model.model.weight.sum()),
        ]
    return found
