"""Denoise waves, and tell what kind of wave it was: two losses, two backward passes through one graph."""
import numpy as np
import torch
import torch.nn.functional as F
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset

from autoencoder import Autoencoder, add_noise

EPOCHS = 5
SIGMA = 0.3
BETA = 0.1


class Waves(Dataset):
    kinds = ('sine', 'square', 'saw')

    def __init__(self, kind, n=110, length=32):
        self.label = self.kinds.index(kind)
        rng = np.random.RandomState(self.label)
        phase = rng.uniform(0, 2 * np.pi, (n, 1))
        freq = rng.uniform(1, 3, (n, 1))
        t = freq * np.linspace(0, 2 * np.pi, length)[None] + phase
        self.waves = {'sine': np.sin(t), 'square': np.sign(np.sin(t)), 'saw': (t / np.pi) % 2 - 1}[kind]

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, i):
        return torch.FloatTensor(self.waves[i]).unsqueeze(0), self.label


def main():
    torch.manual_seed(11)
    full = ConcatDataset([Waves(kind) for kind in Waves.kinds])
    train_idx = [i for i in range(len(full)) if i % 11 != 0]
    test_idx = [i for i in range(len(full)) if i % 11 == 0]
    train_loader = DataLoader(Subset(full, train_idx), batch_size=25, shuffle=True)
    test_loader = DataLoader(Subset(full, test_idx), batch_size=30)

    model = Autoencoder()
    optimizer = torch.optim.NAdam(model.parameters(), lr=5e-3)
    scheduler = CosineAnnealingWarmRestarts(optimizer, T_0=2, T_mult=2, eta_min=1e-4)
    iters = len(train_loader)

    for epoch in range(EPOCHS):
        model.train()
        running = {'rec': 0.0, 'cls': 0.0, 'l1': 0.0}
        for i, (clean, kind) in enumerate(train_loader):
            noisy = add_noise(clean, SIGMA)
            out, logits, code = model(noisy)

            optimizer.zero_grad()
            rec_loss = F.smooth_l1_loss(out, clean) + 1e-3 * code.abs().mean()
            rec_loss.backward(retain_graph=True)
            cls_loss = BETA * F.cross_entropy(logits, kind)
            cls_loss.backward()
            torch.nn.utils.clip_grad_value_(model.parameters(), clip_value=0.1)
            optimizer.step()
            scheduler.step(epoch + i / iters)

            running['rec'] += rec_loss.item()
            running['cls'] += cls_loss.item()

        model.eval()
        errors, right = [], 0
        with torch.no_grad():
            for clean, kind in test_loader:
                out, logits, _ = model(add_noise(clean, SIGMA))
                errors.append(F.mse_loss(out, clean).item())
                right += int((logits.argmax(1) == kind).sum())
        print(f"epoch {epoch}: " + ", ".join(f"{k} {v / iters:.4f}" for k, v in running.items() if v)
              + f" | test mse {np.mean(errors):.4f}, {right}/{len(test_idx)} right, lr {scheduler.get_last_lr()[0]:.1e}")


if __name__ == '__main__':
    main()
