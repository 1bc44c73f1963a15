import copy
import csv
import os

import numpy as np
import torch
import torch.nn.functional as F

from model import MatrixFactorization

np.random.seed(17)
torch.manual_seed(17)

N_USERS, N_ITEMS = 60, 40
RATINGS = 'ratings.csv'


def make_ratings(path):
    rng = np.random.RandomState(5)
    p, q = rng.randn(N_USERS, 3), rng.randn(N_ITEMS, 3)
    with open(path, 'w') as f:
        w = csv.writer(f)
        w.writerow(['userId', 'movieId', 'rating'])
        for u in range(N_USERS):
            for i in rng.choice(N_ITEMS, 20, replace=False):
                r = 3 + p[u] @ q[i] * 0.6 + 0.2 * rng.randn()
                w.writerow([u, i, round(float(np.clip(r, 0.5, 5)) * 2) / 2])


def load():
    if not os.path.exists(RATINGS):
        make_ratings(RATINGS)
    rows = np.genfromtxt(RATINGS, delimiter=',', skip_header=1)
    mask = np.random.rand(len(rows)) < 0.8
    return rows[mask], rows[~mask]


def batches(rows, size, shuffle=True):
    order = np.random.permutation(len(rows)) if shuffle else np.arange(len(rows))
    for start in range(0, len(rows), size):
        part = rows[order[start:start + size]]
        yield (torch.LongTensor(part[:, 0]), torch.LongTensor(part[:, 1]), torch.FloatTensor(part[:, 2]))


def validation_loss(model, rows):
    model.eval()
    users, items, ratings = next(batches(rows, len(rows), shuffle=False))
    with torch.no_grad():
        y_hat = model(users, items)
        return F.mse_loss(y_hat, ratings).item()


def train_mf(model, train, valid, epochs=8, lr=0.02, wd=1e-5, patience=3):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=wd)
    best, best_state, bad = float('inf'), None, 0
    for epoch in range(epochs):
        model.train()
        total = 0
        for users, items, ratings in batches(train, 128):
            y_hat = model(users, items)
            loss = F.mse_loss(y_hat, ratings)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(ratings)
        val = validation_loss(model, valid)
        print('epoch %2d  train %.3f  valid %.3f' % (epoch, total / len(train), val))
        if val < best:
            best, best_state, bad = val, copy.deepcopy(model.state_dict()), 0
        else:
            bad += 1
            if bad >= patience:
                print('early stop')
                break
    model.load_state_dict(best_state)
    return best


if __name__ == '__main__':
    train, valid = load()
    model = MatrixFactorization(N_USERS, N_ITEMS)
    print('best', train_mf(model, train, valid))
