"""The adding problem: sum the two marked numbers of a sequence."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.RandomState(0)


def make_batch(n, length):
    values = rng.rand(n, length)
    marks = np.zeros((n, length))
    for row in marks:
        row[rng.choice(length, 2, replace=False)] = 1
    x = np.stack([values, marks], axis=-1)
    y = (values * marks).sum(axis=1, keepdims=True)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


class Adder(nn.Module):
    def __init__(self, hidden=24):
        super(Adder, self).__init__()
        self.rnn = nn.RNN(2, hidden, nonlinearity='relu', batch_first=True)
        self.out = nn.Linear(hidden, 1)
        # identity initialisation (Le, Jaitly and Hinton, 2015)
        nn.init.eye_(self.rnn.weight_hh_l0)
        nn.init.zeros_(self.rnn.bias_hh_l0)

    def forward(self, x):
        output, _ = self.rnn(x)
        return self.out(output[:, -1])


model = Adder()
loss_fn = nn.MSELoss()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.005)

model.train()
for it in range(1, 81):
    x, y = make_batch(32, 12)
    loss = loss_fn(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 0.02)
    optimizer.step()
    if it % 20 == 0:
        print('%4d  loss %.4f' % (it, loss.item()))
