"""BERTTrainer on a small corpus of its own making."""

import os
import random

import torch
from torch.utils.data import DataLoader

from bert_pytorch.dataset import BERTDataset, WordVocab
from bert_pytorch.model import BERT
from bert_pytorch.trainer import BERTTrainer

random.seed(0)
torch.manual_seed(0)
words = [f"w{i}" for i in range(40)]
os.makedirs("data", exist_ok=True)
with open("data/corpus.txt", "w") as f:
    for i in range(64):
        first = [words[(i + j) % 40] for j in range(6)]
        second = [words[(i + j + 6) % 40] for j in range(6)]
        f.write(" ".join(first) + "\t" + " ".join(second) + "\n")

with open("data/corpus.txt") as f:
    vocab = WordVocab(f, max_size=None, min_freq=1)
loader = DataLoader(BERTDataset("data/corpus.txt", vocab, seq_len=16), batch_size=16)
bert = BERT(len(vocab), hidden=32, n_layers=2, attn_heads=4)
trainer = BERTTrainer(bert, len(vocab), train_dataloader=loader, test_dataloader=loader, with_cuda=False, warmup_steps=20, log_freq=4)
for epoch in range(13):
    trainer.train(epoch)
