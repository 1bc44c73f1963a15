import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self, channels=(8, 16)):
        super().__init__()
        a, b = channels
        self.encoder = nn.Sequential(
            nn.Conv1d(1, a, 5, stride=2, padding=2),
            nn.ELU(),
            nn.Conv1d(a, b, 5, stride=2, padding=2),
            nn.ELU(),
        )
        self.decoder = nn.Sequential(
            nn.ConvTranspose1d(b, a, 4, stride=2, padding=1),
            nn.ELU(),
            nn.ConvTranspose1d(a, 1, 4, stride=2, padding=1),
        )
        self.classifier = nn.Linear(b, 3)

    def forward(self, x):
        code = self.encoder(x)
        return self.decoder(code), self.classifier(code.mean(dim=2)), code


def add_noise(x, sigma):
    return x + sigma * torch.randn_like(x)
