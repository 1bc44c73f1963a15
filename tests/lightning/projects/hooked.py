"""Every hook of a module and of a callback, in the order in which it is called; gradients are accumulated and clipped."""

import os

import pytorch_lightning as pl
import torch
from recording import Recorder, fill, numbers
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

HOOKS = (
    "setup teardown on_fit_start on_fit_end on_train_start on_train_end on_train_epoch_start on_train_epoch_end "
    "on_train_batch_start on_train_batch_end on_validation_start on_validation_end on_validation_epoch_start "
    "on_validation_epoch_end on_validation_batch_start on_validation_batch_end on_test_start on_test_end "
    "on_test_epoch_start on_test_epoch_end on_test_batch_start on_test_batch_end on_predict_start on_predict_end "
    "on_predict_epoch_start on_predict_epoch_end on_predict_batch_start on_predict_batch_end on_before_zero_grad "
    "on_before_backward on_after_backward on_before_optimizer_step on_save_checkpoint on_load_checkpoint"
).split()
events = []


class Watcher(pl.callbacks.Callback):
    pass


class Sanity(pl.Callback):
    def on_sanity_check_start(self, trainer, pl_module):
        events.append("sanity check starts")

    def on_sanity_check_end(self, trainer, pl_module):
        events.append("sanity check ends")

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        if trainer.current_epoch == 2 and batch_idx == 1:
            trainer.should_stop = True


class Hooked(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.frozen = nn.Linear(3, 2)
        for parameter in self.frozen.parameters():
            parameter.requires_grad = False

    def prepare_data(self):
        events.append("prepare data")

    def forward(self, x):
        return self.layer(x) + self.frozen(x)

    def training_step(self, batch, batch_idx):
        events.append(f"training step {batch_idx} {self.training}")
        if batch_idx == 3 and self.current_epoch == 1:
            return None
        loss = self(batch[0]).pow(2).mean()
        self.log("loss", loss, on_step=True, on_epoch=True)
        self.log("step", float(self.global_step))
        return loss

    def on_before_optimizer_step(self, optimizer):
        norms = [p.grad.norm(2).item() for p in self.layer.parameters() if p.grad is not None]
        events.append(f"norm {sum(norms):.3f}")

    def validation_step(self, batch, batch_idx):
        events.append(f"validation step {batch_idx} {self.training}")
        self.log("val", self(batch[0]).mean())

    def test_step(self, batch, batch_idx):
        events.append(f"test step {batch_idx} {self.training}")
        self.log("test", self(batch[0]).mean(), reduce_fx="max")

    def optimizer_zero_grad(self, epoch, batch_idx, optimizer):
        events.append(f"zero grad {epoch} {batch_idx}")
        optimizer.zero_grad()

    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure):
        if self.trainer.global_step < 3:
            scale = min(1.0, float(self.trainer.global_step + 1) / 3.0)
            for group in optimizer.param_groups:
                group["lr"] = scale * 0.2
        optimizer.step(closure=optimizer_closure)
        events.append(f"optimizer step {epoch} {batch_idx}")

    def lr_scheduler_step(self, scheduler, metric):
        events.append("scheduler step")
        scheduler.step()

    def configure_gradient_clipping(self, optimizer, gradient_clip_val, gradient_clip_algorithm):
        events.append(f"clip {gradient_clip_val} {gradient_clip_algorithm}")
        self.clip_gradients(
            optimizer, gradient_clip_val=gradient_clip_val, gradient_clip_algorithm=gradient_clip_algorithm
        )

    def configure_optimizers(self):
        events.append("configure optimizers")
        optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, self.parameters()), lr=0.2)
        return [optimizer], [torch.optim.lr_scheduler.MultiStepLR(optimizer, [1], gamma=0.5)]

    def configure_callbacks(self):
        return [Sanity()]


def note(owner, name, original):
    def hook(self, *args, **kwargs):
        events.append(f"{owner} {name}")
        return original(self, *args, **kwargs)

    return hook


def main(folder):
    for name in HOOKS:
        setattr(Watcher, name, note("callback", name, getattr(Watcher, name)))
        setattr(Hooked, name, note("module", name, getattr(Hooked, name)))
    model, recorder = fill(Hooked()), Recorder()
    data = DataLoader(TensorDataset(numbers(14, 3)), batch_size=3)
    trainer = pl.Trainer(
        max_epochs=4,
        accumulate_grad_batches=2,
        gradient_clip_val=0.3,
        limit_val_batches=0.8,
        limit_test_batches=2,
        check_val_every_n_epoch=2,
        callbacks=[Watcher(), recorder],
        logger=False,
        default_root_dir=folder,
        enable_progress_bar=False,
        enable_model_summary=False,
        accelerator="cpu",
    )
    trainer.fit(model, data, data)
    events.append("after fit")
    tested = trainer.test(model, data, verbose=False)
    trainer.predict(model, DataLoader(numbers(4, 3), batch_size=2))
    files = sorted(os.listdir(os.path.join(folder, "checkpoints")))
    return recorder.record(model, events=events, tested=tested, files=files)
