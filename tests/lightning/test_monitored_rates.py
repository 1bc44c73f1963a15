"""Rates that LearningRateMonitor leaves for other callbacks."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from mindferry import convert_source

CODE = """
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback, LearningRateMonitor
from torch.utils.data import DataLoader, TensorDataset

seen = []


class Show(Callback):
    def on_train_epoch_end(self, trainer, pl_module):
        seen.append({k: round(v.item(), 3) for k, v in trainer.callback_metrics.items()})


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch[0]).sum()

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.25)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


def run():
    loader = DataLoader(TensorDataset(torch.ones(4, 2)), batch_size=2)
    options = {"logger": True, "enable_checkpointing": False, "enable_progress_bar": False, "log_every_n_steps": 1}
    pl.Trainer(max_epochs=1, callbacks=[LearningRateMonitor(), Show()], **options).fit(Net(), loader)
    return seen
"""


def test_a_monitored_rate_is_a_tensor_as_every_logged_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = convert_source(CODE)
    (tmp_path / "rates.py").write_text(made.code)
    spec = importlib.util.spec_from_file_location("rates", tmp_path / "rates.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.run() == [{"lr-SGD": 0.25}]
