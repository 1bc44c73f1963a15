"""A small BERT: groups with and without weight decay, warm-up by step over the number of steps that there will be, clipping."""

import math

import torch
from pytorch_lightning import LightningModule, Trainer
from recording import Recorder, fill, labels
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader


def get_linear_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps):
    def lr_lambda(current_step):
        if current_step < num_warmup_steps:
            return float(current_step) / float(max(1, num_warmup_steps))
        return max(0.0, float(num_training_steps - current_step) / float(max(1, num_training_steps - num_warmup_steps)))

    return LambdaLR(optimizer, lr_lambda)


class TinyBert(LightningModule):
    def __init__(self, vocab=20, d_model=8, heads=2, learning_rate=2e-2, warmup_steps=3, weight_decay=0.1):
        super().__init__()
        self.save_hyperparameters()
        self.embed = nn.Embedding(vocab, d_model)
        self.position = nn.Parameter(torch.zeros(1, 6, d_model))
        self.query, self.value = (nn.Linear(d_model, d_model) for _ in range(2))
        self.key = nn.Linear(d_model, d_model, bias=False)  # a bias here has no gradient but rounding
        self.norm = nn.LayerNorm(d_model)
        self.ff = nn.Sequential(nn.Linear(d_model, 16), nn.GELU(), nn.Linear(16, d_model))
        self.LayerNorm = nn.LayerNorm(d_model)
        self.classifier = nn.Linear(d_model, 2)

    def forward(self, input_ids, attention_mask, labels=None):
        x = self.embed(input_ids) + self.position
        batch, length, size = x.shape
        heads = self.hparams.heads

        def split(t):
            return t.view(batch, length, heads, size // heads).transpose(1, 2)

        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(size // heads)
        scores = scores.masked_fill(attention_mask[:, None, None, :] == 0, -1e9)
        mixed = (scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(batch, length, size)
        x = self.norm(x + mixed)
        x = self.LayerNorm(x + self.ff(x))
        logits = self.classifier(x[:, 0])
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return loss, logits

    def training_step(self, batch, batch_idx):
        loss, _ = self(**batch)
        self.log("train_loss", loss, batch_size=batch["input_ids"].shape[0])
        return loss

    def validation_step(self, batch, batch_idx, dataloader_idx=0):
        val_loss, logits = self(**batch)
        preds = torch.argmax(logits, dim=1)
        self.log("val_loss", val_loss, on_epoch=True)
        return {"loss": val_loss, "preds": preds, "labels": batch["labels"]}

    def configure_optimizers(self):
        no_decay = ["bias", "LayerNorm.weight"]
        groups = [
            {
                "params": [p for n, p in self.named_parameters() if not any(nd in n for nd in no_decay)],
                "weight_decay": self.hparams.weight_decay,
            },
            {
                "params": [p for n, p in self.named_parameters() if any(nd in n for nd in no_decay)],
                "weight_decay": 0.0,
            },
        ]
        optimizer = torch.optim.AdamW(groups, lr=self.hparams.learning_rate, eps=1e-8)
        scheduler = get_linear_schedule_with_warmup(
            optimizer,
            num_warmup_steps=self.hparams.warmup_steps,
            num_training_steps=self.trainer.estimated_stepping_batches,
        )
        scheduler = {"scheduler": scheduler, "interval": "step", "frequency": 1}
        return [optimizer], [scheduler]


class Sentences(torch.utils.data.Dataset):
    def __init__(self, count, seed):
        self.ids, self.labels = labels(20, count, 6, seed=seed), labels(2, count, seed=seed + 1)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        mask = torch.ones(6, dtype=torch.long)
        mask[4 + index % 3 :] = 0
        return {"input_ids": self.ids[index], "attention_mask": mask, "labels": self.labels[index]}


def main(folder):
    model = fill(TinyBert())
    recorder = Recorder()
    trainer = Trainer(
        max_epochs=3,
        gradient_clip_val=0.5,
        accumulate_grad_batches=2,
        callbacks=[recorder],
        default_root_dir=folder,
        enable_progress_bar=False,
        enable_model_summary=False,
        accelerator="cpu",
    )
    loaders = [DataLoader(Sentences(6, 5), batch_size=4), DataLoader(Sentences(3, 8), batch_size=2)]
    trainer.fit(model, DataLoader(Sentences(18, 1), batch_size=4), loaders)
    validated = trainer.validate(model, dataloaders=loaders, verbose=False)
    return recorder.record(model, validated=validated)
