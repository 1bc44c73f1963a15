from collections import OrderedDict

import torch.nn as nn


class MLP(nn.Module):
    def __init__(self, in_dim=8, hidden=(64, 32), out_dim=1, p=0.1):
        super().__init__()
        layers = OrderedDict()
        dim = in_dim
        for i, h in enumerate(hidden):
            layers[f"fc{i}"] = nn.Linear(dim, h)
            layers[f"norm{i}"] = nn.LayerNorm(h)
            layers[f"act{i}"] = nn.GELU()
            layers[f"drop{i}"] = nn.Dropout(p)
            dim = h
        self.body = nn.Sequential(layers)
        self.head = nn.Linear(dim, out_dim)
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(m):
        if isinstance(m, nn.Linear):
            nn.init.xavier_uniform_(m.weight)
            if m.bias is not None:
                nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.head(self.body(x))
