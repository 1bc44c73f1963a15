"""Classify three spirals. One file, no functions: run it top to bottom."""
import math

import numpy as np
import torch
from torch import nn

np.random.seed(3)
torch.manual_seed(3)

# ---- data -------------------------------------------------------------
N, K = 100, 3  # points per class, classes
X = np.zeros((N * K, 2), dtype="float32")
Y = np.zeros(N * K, dtype="int64")
for k in range(K):
    ix = range(N * k, N * (k + 1))
    r = np.linspace(0.0, 1, N)
    t = np.linspace(k * 4, (k + 1) * 4, N) + np.random.randn(N) * 0.2
    X[ix] = np.c_[r * np.sin(t), r * np.cos(t)]
    Y[ix] = k

device = "cuda" if torch.cuda.is_available() else "cpu"
X = torch.from_numpy(X).to(device)
Y = torch.from_numpy(Y).to(device)

# ---- model ------------------------------------------------------------
model = nn.Sequential(
    nn.Linear(2, 32),
    nn.Tanh(),
    nn.Linear(32, 32),
    nn.Tanh(),
    nn.Linear(32, K),
).to(device)
criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9, nesterov=True, weight_decay=1e-4)

# ---- training ---------------------------------------------------------
batch_size = 50
n_epochs = 10
for epoch in range(n_epochs):
    perm = torch.randperm(X.size(0))
    epoch_loss = 0.0
    for i in range(0, X.size(0), batch_size):
        idx = perm[i:i + batch_size]
        xb, yb = X[idx], Y[idx]

        logits = model(xb)
        loss = criterion(logits, yb)

        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

        epoch_loss += loss.item() * xb.size(0)

    with torch.no_grad():
        acc = (model(X).argmax(1) == Y).float().mean().item()
    print(f"[{epoch + 1:02d}/{n_epochs}] loss {epoch_loss / X.size(0):.4f}  acc {acc:.3f}  ppl {math.exp(epoch_loss / X.size(0)):.2f}")

torch.save(model.state_dict(), "spirals.pt")
