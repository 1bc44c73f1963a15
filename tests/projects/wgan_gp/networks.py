import torch.nn as nn


class Generator(nn.Module):
    def __init__(self, latent_dim, hidden, out_dim):
        super().__init__()

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.LayerNorm(out_feat))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(
            *block(latent_dim, hidden, normalize=False),
            *block(hidden, hidden),
            nn.Linear(hidden, out_dim),
        )

    def forward(self, z):
        return self.model(z)


class Critic(nn.Module):
    def __init__(self, in_dim, hidden):
        super().__init__()
        self.model = nn.Sequential(
            nn.Linear(in_dim, hidden),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(hidden, hidden),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.model(x)
