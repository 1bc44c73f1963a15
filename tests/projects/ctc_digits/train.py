# Read digit strings off synthetic "spectrograms" with a CRNN and CTC.
import argparse, random

import numpy as np
import torch, torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, RandomSampler

BLANK = 0


class DigitStrings(Dataset):
  def __init__(self, n=256, seed=0):
    rng = np.random.RandomState(seed)
    self.glyphs = np.random.RandomState(42).randn(6, 8)  # blank + five digits
    self.items = []
    for _ in range(n):
      label = rng.randint(1, 6, rng.randint(2, 5))
      frames = []
      for d in label:
        frames += [self.glyphs[d]] * rng.randint(2, 4) + [self.glyphs[0]]
      feats = np.stack(frames) + 0.3 * rng.randn(len(frames), 8)
      self.items.append((feats.astype(np.float32), label))

  def __len__(self): return len(self.items)

  def __getitem__(self, i):
    feats, label = self.items[i]
    return torch.from_numpy(feats), torch.from_numpy(label).long()


class PadCollate:
  """pads features to the longest of the batch; targets are concatenated, as nn.CTCLoss wants them"""
  def __call__(self, batch):
    xs, ys = zip(*batch)
    x_lens = torch.LongTensor([len(x) for x in xs])
    y_lens = torch.LongTensor([len(y) for y in ys])
    return pad_sequence(xs, batch_first=True), torch.cat(ys), x_lens, y_lens


class CRNN(nn.Module):
  def __init__(self, n_feats=8, hidden=24, n_classes=6):
    super().__init__()
    self.conv = nn.Sequential(nn.Conv1d(n_feats, hidden, 3, padding=1), nn.BatchNorm1d(hidden), nn.ReLU())
    self.rnn = nn.GRU(hidden, hidden, batch_first=True, bidirectional=True)
    self.fc = nn.Linear(hidden * 2, n_classes)

  def forward(self, x):
    x = self.conv(x.permute(0, 2, 1)).permute(0, 2, 1)
    x, _ = self.rnn(x)
    return self.fc(x)


def decode(logits, lengths):
  out = []
  for row, n in zip(logits.argmax(-1), lengths):
    prev, s = BLANK, []
    for c in row[:n].tolist():
      if c != BLANK and c != prev:
        s.append(c)
      prev = c
    out.append(s)
  return out


def run_epoch(model, loader, loss_fn, opt=None):
  model.train(opt is not None)
  losses, hits, n = [], 0, 0
  for x, y, x_lens, y_lens in loader:
    with torch.set_grad_enabled(opt is not None):
      logits = model(x)
      loss = loss_fn(logits.log_softmax(2).transpose(0, 1), y, x_lens, y_lens)
    if opt is not None:
      opt.zero_grad()
      loss.backward()
      nn.utils.clip_grad_norm_(model.parameters(), 5)
      opt.step()
    losses.append(float(loss))
    for hyp, ref in zip(decode(logits, x_lens), torch.split(y, y_lens.tolist())):
      hits += hyp == ref.tolist(); n += 1
  return sum(losses) / len(losses), hits / n


if __name__ == '__main__':
  p = argparse.ArgumentParser(); p.add_argument('--epochs', type=int, default=6); p.add_argument('--seed', type=int, default=1)
  a = p.parse_args()
  random.seed(a.seed); torch.manual_seed(a.seed)
  train_set, test_set = DigitStrings(), DigitStrings(64, seed=9)
  train_loader = DataLoader(train_set, batch_size=32, sampler=RandomSampler(train_set), collate_fn=PadCollate())
  test_loader = DataLoader(test_set, batch_size=32, collate_fn=PadCollate())
  net = CRNN()
  ctc = nn.CTCLoss(blank=BLANK, zero_infinity=True)
  adam = torch.optim.Adam(net.parameters(), lr=0.01)
  for ep in range(a.epochs):
    tl, ta = run_epoch(net, train_loader, ctc, adam)
    vl, va = run_epoch(net, test_loader, ctc)
    print(f'{ep}: train {tl:.3f} ({ta:.2f})  test {vl:.3f} ({va:.2f})')
