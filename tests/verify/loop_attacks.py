"""More attacks on the verdict of `migrate -- COMMAND`: a training loop that is right, and what stands around it that is not.

The first project validates, clips, lowers its rate, keeps an average of its weights and saves both. The second has a trainer of its
own, with groups of parameters, a rate that falls by epochs, smoothed labels and a best checkpoint. See command_attacks.py.
"""

from __future__ import annotations

from .command_attacks import CommandAttack

NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.a, self.b = nn.Linear(4, width), nn.Linear(width, 3)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.b(self.drop(torch.relu(self.a(x))))
"""
TRAIN = """import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from net import Net


def evaluate(net, loader, loss_fn):
    net.eval()
    total, right, count = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            out = net(x)
            total += loss_fn(out, y).item() * len(y)
            right += (out.argmax(1) == y).sum().item()
            count += len(y)
    net.train()
    return total / count, right / count


def main():
    torch.manual_seed(0)
    x = torch.sin(torch.arange(192.0)).view(48, 4)
    loader = DataLoader(TensorDataset(x, torch.arange(48) % 3), batch_size=6, shuffle=True)
    test_loader = DataLoader(TensorDataset(x.flip(0)[:20] * 0.9, torch.arange(20) % 3), batch_size=6)
    net = Net(8)
    average = copy.deepcopy(net)
    opt = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.5)
    schedule = torch.optim.lr_scheduler.StepLR(opt, step_size=3, gamma=0.5)
    loss_fn = nn.CrossEntropyLoss()
    for x, y in loader:
        opt.zero_grad()
        loss = loss_fn(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.1)
        opt.step()
        schedule.step()
        with torch.no_grad():
            for ours, theirs in zip(average.parameters(), net.parameters()):
                ours.mul_(0.9).add_(theirs, alpha=0.1)
    loss, accuracy = evaluate(net, test_loader, loss_fn)
    print(f"validation: loss {loss:.4f}, accuracy {accuracy:.3f}")
    torch.save({"net": net.state_dict(), "average": average.state_dict()}, "model.pt")


if __name__ == "__main__":
    main()
"""
PROJECT = {"net.py": NET, "train.py": TRAIN}


def around(name: str, before: str, after: str) -> CommandAttack:
    return CommandAttack(name, converted=(("train.py", before, after),), more=PROJECT)


RIGHT_LOOP = CommandAttack("right, with a validation", more=PROJECT, is_right=True)
LOOP_ATTACKS = (
    around("validation in train mode", "    net.set_train(False)\n", ""),
    around("a mean of batches of which the last is smaller", "* len(y)", "* 6"),
    around("validation on other data", "evaluate(net, test_loader,", "evaluate(net, loader,"),
    around("scores against other labels", "ops.argmax(out, 1) == y", "ops.argmax(out, 1) == y * 0"),
    around("an average that stands still", "ours.set_data((ours * 0.9) + 0.1 * theirs)", "pass"),
    around("a checkpoint of other weights", '"net": ms_compat.state_dict(net)', '"net": ms_compat.state_dict(Net(8))'),
    around(
        "clipping that comes too late", "grads = ops.clip_by_global_norm(grads, 0.1)\n        opt(grads)", "opt(grads)"
    ),
    around("a rate that falls a step later", "step_size=3", "step_size=4"),
)

TRAINER_NET = NET.replace("        self.drop = nn.Dropout(0.5)\n", "").replace(
    "self.drop(torch.relu(self.a(x)))", "torch.relu(self.a(x))"
)
TRAINER = """import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from net import Net


class Trainer:
    def __init__(self, net, loader, epochs):
        self.net, self.loader, self.epochs = net, loader, epochs
        decayed = [p for p in net.parameters() if p.ndim > 1]
        others = [p for p in net.parameters() if p.ndim <= 1]
        groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
        self.opt = torch.optim.AdamW(groups, lr=0.05)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.opt, step_size=1, gamma=0.5)
        self.loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1)
        self.best = 0.0

    def epoch(self):
        right, count, total = 0, 0, 0.0
        for x, y in self.loader:
            self.opt.zero_grad()
            out = self.net(x)
            loss = self.loss_fn(out, y)
            loss.backward()
            self.opt.step()
            total += loss.item() * len(y)
            right += (out.argmax(1) == y).sum().item()
            count += len(y)
        self.schedule.step()
        return total / count, right / count

    def run(self):
        for number in range(self.epochs):
            loss, accuracy = self.epoch()
            print(f"epoch {number}: loss {loss:.4f}, accuracy {accuracy:.3f}")
            if accuracy >= self.best:
                self.best = accuracy
                torch.save(self.net.state_dict(), "best.pt")
            torch.save(self.net.state_dict(), "last.pt")


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.sin(torch.arange(184.0)).view(46, 4)
    loader = DataLoader(TensorDataset(x, torch.arange(46) % 3), batch_size=8, shuffle=True)
    Trainer(Net(8), loader, epochs=2).run()
"""
TRAINED = {"net.py": TRAINER_NET, "train.py": TRAINER}


def trained(name: str, before: str, after: str) -> CommandAttack:
    return CommandAttack(name, converted=(("train.py", before, after),), more=TRAINED)


RIGHT_TRAINER = CommandAttack("right, with a trainer", more=TRAINED, is_right=True)
TRAINER_ATTACKS = (
    trained("decay on biases", '"params": others, "weight_decay": 0.0', '"params": others, "weight_decay": 0.1'),
    trained(
        "a rate that falls by steps",
        "            count += len(y)\n",
        "            count += len(y)\n            self.schedule.step()\n",
    ),
    trained("labels that are not smoothed", "label_smoothing=0.1", "label_smoothing=0.0"),
    trained(
        "a last batch that is dropped",
        "            (loss, out), grads",
        "            if len(y) < 8:\n                continue\n            (loss, out), grads",
    ),
    trained("an accuracy of another count", "right / count", "right / 48"),
    trained("a best checkpoint that is the worst", "accuracy >= self.best", "accuracy < self.best"),
)
