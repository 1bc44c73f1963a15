"""A multilayer perceptron on random digits: 784-256-128-10, Adam."""

import time

import torch
import torch.nn as nn


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, 10)
        )

    def forward(self, x):
        return self.layers(x.flatten(1))


def main(steps=40):
    torch.manual_seed(0)
    model = Perceptron()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    images = torch.randn(64, 1, 28, 28)
    labels = torch.randint(0, 10, (64,))
    for step in range(steps):
        start = time.process_time()
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
        value = loss.item()
        print(f"step {step} {1000 * (time.process_time() - start):.3f} ms loss {value:.4f}")


if __name__ == "__main__":
    main()
