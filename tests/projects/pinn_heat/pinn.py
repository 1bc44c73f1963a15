import numpy as np
import torch
import torch.nn as nn
from torch.autograd import grad

torch.manual_seed(1234)
np.random.seed(1234)


class PINN(nn.Module):
    def __init__(self, layers):
        super(PINN, self).__init__()
        self.layers = nn.ModuleList()
        for i in range(len(layers) - 1):
            linear = nn.Linear(layers[i], layers[i + 1])
            nn.init.xavier_normal_(linear.weight)
            nn.init.constant_(linear.bias, 0.0)
            self.layers.append(linear)
        self.activation = nn.Tanh()
        self.diffusivity = nn.Parameter(torch.tensor([0.05]))  # to be found

    def forward(self, x, t):
        z = torch.cat([x, t], dim=1)
        for i, layer in enumerate(self.layers[:-1]):
            z = self.activation(layer(z))
        return self.layers[-1](z)


def residual(model, x, t):
    """u_t - k u_xx, which should be zero"""
    x = x.clone().requires_grad_(True)
    t = t.clone().requires_grad_(True)
    u = model(x, t)
    u_t = grad(u, t, grad_outputs=torch.ones_like(u), create_graph=True)[0]
    u_x = grad(u, x, grad_outputs=torch.ones_like(u), create_graph=True)[0]
    u_xx = grad(u_x, x, grad_outputs=torch.ones_like(u_x), create_graph=True)[0]
    return u_t - model.diffusivity * u_xx


def exact(x, t, k=0.1):
    return np.exp(-k * np.pi ** 2 * t) * np.sin(np.pi * x)


class Solver():
    def __init__(self, n_f=200, n_u=100):
        # collocation points
        self.x_f = torch.tensor(np.random.uniform(0, 1, (n_f, 1)), dtype=torch.float32)
        self.t_f = torch.tensor(np.random.uniform(0, 1, (n_f, 1)), dtype=torch.float32)
        # measurements
        x_u, t_u = np.random.uniform(0, 1, (n_u, 1)), np.random.uniform(0, 1, (n_u, 1))
        self.x_u = torch.tensor(x_u, dtype=torch.float32)
        self.t_u = torch.tensor(t_u, dtype=torch.float32)
        self.u = torch.tensor(exact(x_u, t_u), dtype=torch.float32)

        self.model = PINN([2, 20, 20, 1])
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=5e-3)
        self.iter = 0

    def loss_func(self):
        loss_u = torch.mean((self.model(self.x_u, self.t_u) - self.u) ** 2)
        loss_f = torch.mean(residual(self.model, self.x_f, self.t_f) ** 2)
        return loss_u + loss_f

    def train(self, epochs):
        self.model.train()
        for epoch in range(epochs):
            loss = self.loss_func()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

            self.iter += 1
            if self.iter % 20 == 0:
                print('It: %d, Loss: %.3e, k: %.4f' % (self.iter, loss.item(), self.model.diffusivity.item()))


if __name__ == '__main__':
    solver = Solver()
    solver.train(100)
