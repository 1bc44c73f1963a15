"""More attacks on the verdict of `migrate -- COMMAND`: a training loop that is right, and what stands around it that is not.

The project validates, clips, lowers its rate, keeps an average of its weights and saves both. See command_attacks.py.
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
