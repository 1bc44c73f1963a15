import torch
from torch import nn


class MatrixFactorization(nn.Module):
    def __init__(self, n_users, n_items, k=8):
        super().__init__()
        self.user_emb = nn.Embedding(n_users, k)
        self.item_emb = nn.Embedding(n_items, k)
        self.user_bias = nn.Embedding(n_users, 1)
        self.item_bias = nn.Embedding(n_items, 1)
        self.mean = nn.Parameter(torch.FloatTensor([3.0]), requires_grad=False)
        self.user_emb.weight.data.uniform_(0, 0.05)
        self.item_emb.weight.data.uniform_(0, 0.05)
        self.user_bias.weight.data.uniform_(-0.01, 0.01)
        self.item_bias.weight.data.uniform_(-0.01, 0.01)

    def forward(self, u, i):
        U, I = self.user_emb(u), self.item_emb(i)
        b_u = self.user_bias(u).squeeze()
        b_i = self.item_bias(i).squeeze()
        return (U * I).sum(1) + b_u + b_i + self.mean
