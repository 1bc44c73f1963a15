"""Two runs in one: train for a while, save everything, build everything anew, resume, and go on."""
import argparse
import os
import random

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

from ema import EMA


class Net(nn.Module):
    def __init__(self, n_in=10, n_hidden=32, n_out=2):
        super().__init__()
        self.gru = nn.GRU(n_in, n_hidden, batch_first=True, bidirectional=True)
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(2 * n_hidden, n_hidden), nn.SiLU(), nn.Linear(n_hidden, n_out))

    def forward(self, x):
        _, h = self.gru(x)
        return self.head(torch.cat([h[-2], h[-1]], dim=1))


def get_data(seed=5):
    gen = np.random.default_rng(seed)
    x = gen.standard_normal((320, 7, 10)).astype(np.float32)
    y = (x[:, 0, :3].sum(-1) > x[:, -1, :3].sum(-1)).astype(np.int64)
    return torch.from_numpy(x), torch.from_numpy(y)


def build(args):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    ema = EMA(model, 0.95)
    ema.register()
    return model, optimizer, scheduler, ema


def save(path, epoch, model, optimizer, scheduler, ema):
    torch.save({
        'epoch': epoch + 1,
        'state_dict': model.state_dict(),
        'optimizer': optimizer.state_dict(),
        'scheduler': scheduler.state_dict(),
        'ema': ema.shadow,
        'rng': {'torch': torch.get_rng_state(), 'numpy': np.random.get_state(), 'python': random.getstate()},
    }, path)


def resume(path, model, optimizer, scheduler, ema):
    if not os.path.isfile(path):
        print("=> no checkpoint found at '{}'".format(path))
        return 0
    print("=> loading checkpoint '{}'".format(path))
    checkpoint = torch.load(path, map_location='cpu', weights_only=False)
    model.load_state_dict(checkpoint['state_dict'])
    optimizer.load_state_dict(checkpoint['optimizer'])
    scheduler.load_state_dict(checkpoint['scheduler'])
    ema.shadow = checkpoint['ema']
    torch.set_rng_state(checkpoint['rng']['torch'])
    np.random.set_state(checkpoint['rng']['numpy'])
    random.setstate(checkpoint['rng']['python'])
    return checkpoint['epoch']


def run(args, start_epoch, end_epoch, model, optimizer, scheduler, ema, loader, val):
    criterion = nn.CrossEntropyLoss()
    for epoch in range(start_epoch, end_epoch):
        model.train()
        losses = []
        for x, y in loader:
            x = x + 0.05 * torch.randn(x.shape)  # jitter
            if random.random() < 0.5:
                x = x * float(np.random.uniform(0.9, 1.1))
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ema.update()
            losses.append(loss.item())
        scheduler.step()

        model.eval()
        ema.apply_shadow()
        with torch.no_grad():
            x, y = val
            val_loss = criterion(model(x), y).item()
            acc = (model(x).argmax(dim=-1) == y).float().mean().item()
        ema.restore()
        print(f'epoch {epoch}: loss {np.mean(losses):.4f}, ema val loss {val_loss:.4f}, ema acc {acc:.3f}, lr {optimizer.param_groups[0]["lr"]:.4f}')
        save(args.checkpoint, epoch, model, optimizer, scheduler, ema)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=6)
    parser.add_argument('--stop_after', type=int, default=3)
    parser.add_argument('--lr', type=float, default=0.1)
    parser.add_argument('--checkpoint', default='checkpoint.pth.tar')
    args = parser.parse_args()

    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)

    x, y = get_data()
    val = x[:64], y[:64]
    loader = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=32, shuffle=True)

    model, optimizer, scheduler, ema = build(args)
    run(args, 0, args.stop_after, model, optimizer, scheduler, ema, loader, val)

    # "the job was killed"
    model, optimizer, scheduler, ema = build(args)
    start_epoch = resume(args.checkpoint, model, optimizer, scheduler, ema)
    run(args, start_epoch, args.epochs, model, optimizer, scheduler, ema, loader, val)
