"""Attacks on the verdict of `migrate -- COMMAND`, what a loop does later or leaves behind: epochs, pieces of steps, files, checkpoints, modes.

The project trains for several epochs with steps in pieces, lowers its rate late, freezes a layer, stops early, and writes what it has
seen to files. See command_attacks.py.
"""

from __future__ import annotations

from .command_attacks import CommandAttack

NET = """import torch
from torch import nn


def start(module):
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, std=0.3)
        nn.init.zeros_(module.bias)


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.a, self.norm, self.b = nn.Linear(4, width), nn.BatchNorm1d(width), nn.Linear(width, 3)

    def forward(self, x):
        return self.b(torch.relu(self.norm(self.a(x))))
"""
TRAIN = """import csv
import json

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from net import Net, start


def evaluate(net, loader):
    net.eval()
    table = np.zeros((3, 3), dtype=int)
    with torch.no_grad():
        for x, y in loader:
            for truth, guess in zip(y.tolist(), net(x).argmax(1).tolist()):
                table[truth, guess] += 1
    net.train()
    return table


def main():
    torch.manual_seed(0)
    x = torch.sin(torch.arange(184.0)).view(46, 4)
    loader = DataLoader(TensorDataset(x, torch.arange(46) % 3), batch_size=8, shuffle=True)
    test_loader = DataLoader(TensorDataset(x.flip(0)[:20], torch.arange(20) % 3), batch_size=6)
    net = Net(8)
    net.apply(start)
    opt = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.5)
    schedule = torch.optim.lr_scheduler.MultiStepLR(opt, milestones=[4], gamma=0.1)
    loss_fn = nn.CrossEntropyLoss()
    history, best, waited = [], 0.0, 0
    for epoch in range(6):
        total = 0.0
        if epoch == 3:
            for parameter in net.a.parameters():
                parameter.requires_grad = False
        for number, (x, y) in enumerate(loader):
            loss = loss_fn(net(x), y)
            total += loss.item() * len(y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        schedule.step()
        table = evaluate(net, test_loader)
        accuracy = np.trace(table) / table.sum()
        history.append({"epoch": epoch, "loss": total / 46, "accuracy": float(accuracy)})
        waited = 0 if accuracy > best else waited + 1
        best = max(best, accuracy)
        torch.save({"net": net.state_dict(), "optimizer": opt.state_dict(), "epoch": epoch + 1}, "last.pt")
        if waited > 4:
            break
    np.save("table.npy", table)
    with open("history.json", "w") as file:
        json.dump(history, file)
    with open("log.csv", "w", newline="") as file:
        writer = csv.writer(file)
        for row in history:
            writer.writerow([row["epoch"], f"{row['loss']:.3f}"])
    print("done")


if __name__ == "__main__":
    main()
"""
PROJECT = {"net.py": NET, "train.py": TRAIN}


def later(name: str, before: str, after: str, file: str = "train.py") -> CommandAttack:
    return CommandAttack(name, converted=((file, before, after),), more=PROJECT)


RIGHT_LATER = CommandAttack("right, for several epochs", more=PROJECT, is_right=True)
LATER_ATTACKS = (
    later("a rate that falls a late epoch later", "milestones=[4]", "milestones=[5]"),
    later("a last epoch that is left out", "range(6)", "range(5)"),
    later("a patience that is shorter", "waited > 4", "waited > 2"),
    later("a mode that validation leaves behind", "    net.set_train()\n    return table", "    return table"),
    later("weights that start closer to zero", "0.3", "0.03", "net.py"),
    later("a table of the other way round", "table[truth, guess]", "table[guess, truth]"),
    later("a history of another mean", "total / 46", "total / 48"),
    later("a checkpoint of another epoch", '"epoch": epoch + 1', '"epoch": epoch'),
    later("a checkpoint without the optimizer's state", '"optimizer": opt.state_dict()', '"optimizer": {}'),
    later("a log of fewer digits", ":.3f", ":.2f"),
)
