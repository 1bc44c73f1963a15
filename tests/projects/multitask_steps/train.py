import argparse
from typing import Dict, Tuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

Batch = Dict[str, Tensor]


class Patients(Dataset):
    """Features, one class, several flags (rare), one length of stay."""

    def __init__(self, n: int, seed: int):
        rng = np.random.RandomState(seed)
        self.x = rng.randn(n, 12).astype(np.float32)
        self.kind = (self.x[:, :3].argmax(axis=1)).astype(np.int64)
        self.flags = (self.x[:, 3:7] > 0.9).astype(np.float32)
        self.days = np.exp(0.5 * self.x[:, 7] + 0.1 * rng.randn(n)).astype(np.float32)

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, i: int) -> Dict[str, object]:
        return {"x": self.x[i], "kind": self.kind[i], "flags": self.flags[i], "days": self.days[i], "id": i}


class MultiTask(nn.Module):
    def __init__(self, width: int = 48):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(12, width), nn.BatchNorm1d(width), nn.LeakyReLU(0.1),
                                   nn.Linear(width, width), nn.LeakyReLU(0.1))
        self.heads = nn.ModuleDict({"kind": nn.Linear(width, 3), "flags": nn.Linear(width, 4), "days": nn.Linear(width, 1)})
        # learned weights of the three losses (Kendall et al.)
        self.log_vars = nn.Parameter(torch.zeros(3))

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        h = self.trunk(x)
        out = {name: head(h) for name, head in self.heads.items()}
        out["days"] = out["days"].squeeze(-1)
        return out


def to_device(batch: Batch, device: torch.device) -> Batch:
    return {k: v.to(device) for k, v in batch.items()}


def compute_loss(model: MultiTask, out: Dict[str, Tensor], batch: Batch, pos_weight: Tensor) -> Tuple[Tensor, Dict[str, float]]:
    losses = [
        F.cross_entropy(out["kind"], batch["kind"]),
        F.binary_cross_entropy_with_logits(out["flags"], batch["flags"], pos_weight=pos_weight),
        F.huber_loss(out["days"], batch["days"].log(), delta=1.0),
    ]
    total = sum(torch.exp(-s) * l + s for s, l in zip(model.log_vars, losses))
    return total, {n: l.item() for n, l in zip(("kind", "flags", "days"), losses)}


def train_step(model, batch, optimizer, pos_weight, device, clip=5.0):
    batch = to_device(batch, device)
    optimizer.zero_grad()
    loss, parts = compute_loss(model, model(batch["x"]), batch, pos_weight)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return loss.detach(), parts, norm


@torch.no_grad()
def eval_step(model, batch, pos_weight, device):
    batch = to_device(batch, device)
    out = model(batch["x"])
    loss, _ = compute_loss(model, out, batch, pos_weight)
    return loss.item(), (out["kind"].argmax(-1) == batch["kind"]).float().mean().item()


def adjust_learning_rate(optimizer, epoch, base_lr):
    """decayed by 2 every 2 epochs"""
    lr = base_lr * (0.5 ** (epoch // 2))
    for param_group in optimizer.param_groups:
        param_group["lr"] = lr
    return lr


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--batch-size", type=int, default=32)
    args = ap.parse_args()

    torch.manual_seed(4)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_data, test_data = Patients(384, 0), Patients(96, 1)
    loader = DataLoader(train_data, batch_size=args.batch_size, shuffle=True, drop_last=True)
    test_loader = DataLoader(test_data, batch_size=96)

    counts = torch.as_tensor(train_data.flags).sum(dim=0)
    pos_weight = ((len(train_data) - counts) / counts).to(device)

    model = MultiTask().to(device)
    optimizer = torch.optim.RAdam(model.parameters(), lr=args.lr)
    history = []
    for epoch in range(args.epochs):
        lr = adjust_learning_rate(optimizer, epoch, args.lr)
        model.train()
        total = torch.zeros(())
        for batch in loader:
            loss, parts, norm = train_step(model, batch, optimizer, pos_weight, device)
            total += loss
            history.append({**parts, "norm": float(norm)})
        model.eval()
        val_loss, acc = zip(*[eval_step(model, b, pos_weight, device) for b in test_loader])
        print(f"epoch {epoch} lr {lr:.1e}: train {total.item() / len(loader):.4f}, test {np.mean(val_loss):.4f}, "
              f"kind accuracy {np.mean(acc):.3f}, weights {model.log_vars.data.exp().cpu().numpy().round(3)}")


if __name__ == "__main__":
    main()
