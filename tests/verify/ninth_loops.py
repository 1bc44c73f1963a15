"""Attacks on the verdict of `migrate -- COMMAND`, ninth set: what counts in a loop is a remainder, a name, a border or a draw.

The project adds up gradients over three batches, the last of them fewer, leaves norms out of the decay by their names, draws what it does to
its samples, keeps an average that starts late, and scores by classes. See command_attacks.py.
"""

from __future__ import annotations

from .command_attacks import CommandAttack

NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.a, self.norm, self.b = nn.Linear(4, width), nn.LayerNorm(width), nn.Linear(width, 3)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        return self.b(self.drop(torch.relu(self.norm(self.a(x)))))
"""
TRAIN = """import copy
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

from net import Net

PIECES, WARM, EPOCHS = 3, 4, 3


class Waves(Dataset):
    def __init__(self, count, is_training):
        self.x = torch.sin(torch.arange(count * 4.0)).view(count, 4)
        self.y = torch.arange(count) % 3
        self.is_training = is_training

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        x = self.x[index]
        if self.is_training:
            if torch.rand(1).item() < 0.5:
                x = x.flip(0)
            x = x + 0.1 * torch.randn(4)
        return x, self.y[index]


def groups_of(net, decay):
    decayed, others = [], []
    for name, parameter in net.named_parameters():
        if name.endswith("bias") or "norm" in name:
            others.append(parameter)
        else:
            decayed.append(parameter)
    return [{"params": decayed, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]


def rate(step):
    if step < WARM:
        return (step + 1) / WARM
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (step - WARM) / 6)))


@torch.no_grad()
def scores(net, loader):
    net.eval()
    hit, said, there = torch.zeros(3), torch.zeros(3), torch.zeros(3)
    for x, y in loader:
        guess = net(x).argmax(1)
        for c in range(3):
            hit[c] += ((guess == c) & (y == c)).sum()
            said[c] += (guess == c).sum()
            there[c] += (y == c).sum()
    net.train()
    precision, recall = hit / said.clamp(min=1), hit / there.clamp(min=1)
    return (2 * precision * recall / (precision + recall).clamp(min=1e-8)).mean().item()


def main():
    torch.manual_seed(3)
    loader = DataLoader(Waves(40, True), batch_size=5, shuffle=True)
    test_loader = DataLoader(Waves(17, False), batch_size=4)
    net = Net()
    average = copy.deepcopy(net)
    opt = torch.optim.AdamW(groups_of(net, 0.1), lr=0.02, betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.LambdaLR(opt, rate)
    weight = torch.tensor([1.0, 2.0, 0.5])
    step = 0
    for epoch in range(EPOCHS):
        for number, (x, y) in enumerate(loader):
            loss = F.cross_entropy(net(x), y, weight=weight, ignore_index=2) / PIECES
            loss.backward()
            if (number + 1) % PIECES == 0 or number + 1 == len(loader):
                nn.utils.clip_grad_value_(net.parameters(), 0.5)
                opt.step()
                opt.zero_grad()
                schedule.step()
                step += 1
                decay = min(0.9, (1 + step) / (10 + step))
                with torch.no_grad():
                    for ours, theirs in zip(average.parameters(), net.parameters()):
                        ours.lerp_(theirs, 1 - decay)
        print(f"epoch {epoch} score {scores(net, test_loader):.3f} average {scores(average, test_loader):.3f}")
    torch.save({"average": average.state_dict(), "steps": step}, "average.pt")


if __name__ == "__main__":
    main()
"""
PROJECT = {"net.py": NET, "train.py": TRAIN}


def ninth(name: str, before: str, after: str, file: str = "train.py") -> CommandAttack:
    return CommandAttack(name, converted=((file, before, after),), more=PROJECT)


RIGHT_NINTH = CommandAttack("right, with pieces and draws", more=PROJECT, is_right=True)
NINTH_LOOPS = (
    ninth("a remainder of pieces that waits", " or number + 1 == len(loader)", ""),
    ninth("a norm that decays", ' or "norm" in name', ""),
    ninth("a flip less often", "< 0.5", "< 0.4"),
    ninth("noise that is smaller", "0.1 * np.random", "0.08 * np.random"),
    ninth("an average that starts at once", "min(0.9, (1 + step) / (10 + step))", "0.9"),
    ninth("a rate that does not end", "min(1.0, (step - WARM) / 6)", "(step - WARM) / 6"),
    ninth("a score over all classes at once", "hit / ", "hit.sum() / "),
    ninth("a class that is not ignored", "ignore_index=2", "ignore_index=-100"),
    ninth("classes of equal weight", "[1.0, 2.0, 0.5]", "[1.0, 1.0, 1.0]"),
    ninth("a test set of one sample less", "Waves(17, False)", "Waves(16, False)"),
    ninth("draws for the test as well", "Waves(17, False)", "Waves(17, True)"),
)
