"""Attacks on the verdict of `migrate -- COMMAND`, tenth set: a tagger of padded texts, and a student that a teacher trains. See command_attacks.py."""

from __future__ import annotations

from .command_attacks import CommandAttack

TAGGER = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, words=24, width=8, tags=4):
        super().__init__()
        self.embed = nn.Embedding(words, width, padding_idx=0)
        self.read = nn.GRU(width, width, batch_first=True)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, tags)

    def forward(self, ids):
        seen, _ = self.read(self.embed(ids))
        return self.head(self.norm(seen))
"""
TEXTS = """import torch
from torch.utils.data import Dataset

PAD, NO_TAG = 0, -1


class Texts(Dataset):
    def __init__(self, count, start=0, drop=0.0):
        self.texts = []
        for number in range(start, start + count):
            length = 3 + number * 5 % 7
            ids = [1 + (number * 7 + place * 3) % 23 for place in range(length)]
            self.texts.append((ids, [(word + place) % 4 for place, word in enumerate(ids)]))
        self.drop = drop

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        ids, tags = self.texts[index]
        ids, tags = torch.tensor(ids), torch.tensor(tags)
        if self.drop > 0:
            lost = torch.rand(len(ids)) < self.drop
            ids = ids.masked_fill(lost, 1)
        return ids, tags


def padded(samples):
    longest = max(len(ids) for ids, _ in samples)
    ids = torch.full((len(samples), longest), PAD, dtype=torch.long)
    tags = torch.full((len(samples), longest), NO_TAG, dtype=torch.long)
    for row, (words, marks) in enumerate(samples):
        ids[row, : len(words)] = words
        tags[row, : len(marks)] = marks
    return ids, tags
"""
TRAIN = """import math

import torch
from torch import nn
from torch.utils.data import DataLoader

from net import Net
from texts import NO_TAG, Texts, padded


@torch.no_grad()
def evaluate(net, loader, loss_fn):
    net.eval()
    total, words, hits = 0.0, 0, 0
    for ids, tags in loader:
        scores = net(ids)
        count = (tags != NO_TAG).sum().item()
        total += loss_fn(scores.flatten(0, 1), tags.flatten()).item() * count
        hits += ((scores.argmax(-1) == tags) & (tags != NO_TAG)).sum().item()
        words += count
    net.train()
    return math.exp(total / words), hits / words


def main():
    torch.manual_seed(1)
    train_loader = DataLoader(Texts(26, drop=0.1), batch_size=4, shuffle=True, collate_fn=padded, drop_last=True)
    test_loader = DataLoader(Texts(11, start=26), batch_size=4, collate_fn=padded)
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=0.02, betas=(0.9, 0.98), eps=1e-7)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=1, threshold=0.05)
    loss_fn = nn.CrossEntropyLoss(ignore_index=NO_TAG, label_smoothing=0.05)
    best = 0.0
    for epoch in range(5):
        if epoch == 2:
            for parameter in net.embed.parameters():
                parameter.requires_grad = False
        for ids, tags in train_loader:
            loss = loss_fn(net(ids).flatten(0, 1), tags.flatten())
            if not math.isfinite(loss.item()):
                continue
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 50.0)
            opt.step()
        perplexity, accuracy = evaluate(net, test_loader, loss_fn)
        plateau.step(perplexity)
        if accuracy >= best:
            best = accuracy
            torch.save({"net": net.state_dict(), "epoch": epoch}, "best.pt")
        print(f"epoch {epoch} perplexity {perplexity:.2f} accuracy {accuracy:.2f}")
    kept = torch.load("best.pt")
    net.load_state_dict(kept["net"])
    print(f"best {evaluate(net, test_loader, loss_fn)[1]:.2f}")


if __name__ == "__main__":
    main()
"""
STUDENT = """import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, width=8, drop=0.0):
        super().__init__()
        self.back = nn.Sequential(nn.Linear(5, width), nn.BatchNorm1d(width), nn.ReLU())
        self.drop = nn.Dropout(drop)
        self.head = nn.Linear(width, 3)

    def forward(self, x):
        return self.head(self.drop(self.back(x)))


def distilled(student, teacher, y, heat=2.0, share=0.7):
    soft = F.kl_div(F.log_softmax(student / heat, -1), F.softmax(teacher / heat, -1), reduction="batchmean")
    return share * heat * heat * soft + (1 - share) * F.cross_entropy(student, y)
"""
DISTIL = """import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel
from torch.utils.data import DataLoader, Subset, TensorDataset, WeightedRandomSampler

from net import Net, distilled

EPOCHS, AVERAGED_FROM = 5, 3


def samples(count=50):
    x = torch.cos(torch.arange(count * 5.0)).view(count, 5) * 3 + 1
    y = (torch.arange(count) % 7).clamp(max=2)
    return x, y


def top(scores, y, k=2):
    return (scores.topk(k, -1).indices == y[:, None]).any(-1).float().mean().item()


def main():
    torch.manual_seed(2)
    x, y = samples()
    held = Subset(TensorDataset(x, y), range(40, 50))
    x, y = x[:40], y[:40]
    mean, spread = x.mean(0), x.std(0)
    weights = 1.0 / torch.bincount(y).float()[y]
    sampler = WeightedRandomSampler(weights, num_samples=30, replacement=True)
    loader = DataLoader(TensorDataset((x - mean) / spread, y), batch_size=8, sampler=sampler)
    test_loader = DataLoader(held, batch_size=4)
    teacher, net = Net(12), Net(8, 0.1)
    teacher.eval()
    groups = [{"params": net.back.parameters(), "lr": 0.01}, {"params": net.head.parameters(), "weight_decay": 0.0}]
    opt = torch.optim.AdamW(groups, lr=0.03, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=[0.02, 0.05], total_steps=20, pct_start=0.3)
    average = AveragedModel(net)
    for epoch in range(EPOCHS):
        net.train()
        seen = 0.0
        for batch, labels in loader:
            with torch.no_grad():
                hint = teacher(batch)
            loss = distilled(net(batch), hint, labels)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.head.parameters(), 10.0)
            opt.step()
            schedule.step()
            seen += loss.item() * len(labels)
        if epoch >= AVERAGED_FROM:
            average.update_parameters(net)
        net.eval()
        with torch.no_grad():
            found = [top(net((batch - mean) / spread), labels) for batch, labels in test_loader]
        print(f"epoch {epoch} loss {seen / 30:.3f} top {sum(found) / len(found):.3f}")
    torch.save(average.module.state_dict(), "average.pt")


if __name__ == "__main__":
    main()
"""
TAGGED = {"net.py": TAGGER, "train.py": TRAIN, "texts.py": TEXTS}
TAUGHT = {"net.py": STUDENT, "train.py": DISTIL}


def tagged(name: str, before: str, after: str, file: str = "train.py") -> CommandAttack:
    return CommandAttack(name, converted=((file, before, after),), more=TAGGED)


def taught(name: str, before: str, after: str, file: str = "train.py") -> CommandAttack:
    return CommandAttack(name, converted=((file, before, after),), more=TAUGHT)


RIGHT_TENTH = (
    CommandAttack("right, a tagger", more=TAGGED, is_right=True),
    CommandAttack("right, a student", more=TAUGHT, is_right=True),
)
TENTH_LOOPS = (
    tagged("clipping that only large gradients meet", "50.0", "5000.0"),
    tagged("a table that is never frozen", "epoch == 2", "epoch == 20"),
    tagged("a table that is frozen an epoch later", "epoch == 2", "epoch == 3"),
    tagged("no smoothing", "label_smoothing=0.05", "label_smoothing=0.0"),
    tagged("texts that lose fewer words", "drop=0.1", "drop=0.05"),
    tagged("lost words become padding", "lost, 1)", "lost, 0)", "texts.py"),
    tagged("a patience of two", "patience=1", "patience=2"),
    tagged("another threshold of the plateau", "threshold=0.05", "threshold=0.0001"),
    tagged("the first of equal ones is kept", "accuracy >= best", "accuracy > best"),
    tagged("the test set starts elsewhere", "start=26", "start=25"),
    tagged("another epsilon", "eps=1e-7", "eps=1e-5"),
    taught("a teacher that trains", "teacher.set_train(False)", "teacher.set_train()"),
    taught("an average from another epoch", "EPOCHS, AVERAGED_FROM = 5, 3", "EPOCHS, AVERAGED_FROM = 5, 2"),
    taught("a mean of batches over samples", "sum(found) / len(found)", "sum(found) / 3.1"),
    taught("a cycle that ends later", "total_steps=20", "total_steps=24"),
    taught("weights that are not balanced", "1.0 / ", "1.0 + 0 * "),
    taught("draws without replacement", "replacement=True", "replacement=False"),
    taught("another share", "share=0.7", "share=0.5", "net.py"),
    taught("decay for the head", '"weight_decay": 0.0', '"weight_decay": 0.05'),
    taught("two of three for one", "k=2", "k=1"),
)


def main() -> None:
    import sys
    import tempfile
    import time
    from pathlib import Path

    from .command_attacks import said_of

    for each in (*RIGHT_TENTH, *TENTH_LOOPS):
        if sys.argv[1:] and not any(part in each.name for part in sys.argv[1:]):
            continue
        began = time.time()
        with tempfile.TemporaryDirectory() as folder:
            try:
                outcome, why = said_of(each, Path(folder))
            except AssertionError as error:
                outcome, why = "no such text", str(error)
        print(f"{each.name}: {outcome}: {why[:400]} ({time.time() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
