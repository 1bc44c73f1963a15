"""Wrappers that take a parameter out of a layer and compute it anew before each call: a spectral norm, a dropped weight of the project's own."""

from __future__ import annotations

from two_frameworks import Both, same

WRAPPERS = """
class Popped(nn.Module):
    def __init__(self, module, name="weight"):
        super().__init__()
        self.module, self.name = module, name
        w = getattr(module, name)
        module._parameters.pop(name)
        module.register_parameter(name + "_raw", nn.Parameter(w.data))

    def forward(self, x):
        raw = getattr(self.module, self.name + "_raw")
        setattr(self.module, self.name, raw / raw.norm())
        return self.module(x)


class Deleted(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module
        w = module.weight
        del module._parameters["weight"]
        self.g = nn.Parameter(w.data.norm())
        self.v = nn.Parameter(w.data.clone())

    def forward(self, x):
        self.module.weight = self.g * self.v / self.v.norm()
        return self.module(x)


class ByName(nn.Module):
    def __init__(self, module, name):
        super().__init__()
        self.module, self.name = module, name
        w = getattr(module, name)
        delattr(module, name)
        setattr(self, "raw", nn.Parameter(w.data))

    def forward(self, x):
        setattr(self.module, self.name, self.raw * 2)
        return self.module(x)


class Dropped(nn.Module):
    def __init__(self, module, names):
        super().__init__()
        self.module, self.names = module, names
        for name in names:
            w = getattr(self.module, name)
            del self.module._parameters[name]
            self.module.register_parameter(name + "_raw", nn.Parameter(w.data))

    def forward(self, *args):
        for name in self.names:
            setattr(self.module, name, torch.sigmoid(getattr(self.module, name + "_raw")))
        return self.module(*args)


class Spectral(nn.Module):
    def __init__(self, module, name="weight"):
        super().__init__()
        self.module, self.name = module, name
        w = getattr(self.module, self.name)
        height = w.data.shape[0]
        u = nn.Parameter(w.data.new(height).normal_(0, 1), requires_grad=False)
        w_bar = nn.Parameter(w.data)
        del self.module._parameters[self.name]
        self.module.register_parameter(self.name + "_u", u)
        self.module.register_parameter(self.name + "_bar", w_bar)

    def forward(self, x):
        u, w = getattr(self.module, self.name + "_u"), getattr(self.module, self.name + "_bar")
        flat = w.view(w.data.shape[0], -1)
        u.data = torch.mv(flat.data, torch.mv(torch.t(flat.data), u.data))
        u.data = u.data / u.data.norm()
        sigma = (u * torch.mv(flat, torch.mv(torch.t(flat), u))).sum()
        setattr(self.module, self.name, w / sigma.expand_as(w))
        return self.module(x)


def swapped(module):
    for name in list(module._parameters):
        if module._parameters[name] is not None:
            module._parameters[name] = nn.Parameter(module._parameters[name].data * 0.5)
    return module


CASES = [
    (lambda: Popped(nn.Linear(4, 3)), (2, 4)),
    (lambda: Popped(nn.Conv1d(4, 3, 2)), (2, 4, 5)),
    (lambda: Popped(nn.BatchNorm2d(4)), (2, 4, 3, 3)),
    (lambda: Popped(nn.PReLU(4)), (2, 4)),
    (lambda: Popped(nn.Embedding(4, 3)), None),
    (lambda: Deleted(nn.Conv2d(4, 3, 2)), (2, 4, 3, 3)),
    (lambda: ByName(nn.LayerNorm(4), "weight"), (2, 4)),
    (lambda: Dropped(nn.GRUCell(4, 4), ["weight_hh"]), (2, 4)),
    (lambda: Dropped(nn.LSTM(4, 3, bidirectional=True), ["weight_hh_l0"]), (2, 2, 4)),
    (lambda: Spectral(nn.ConvTranspose2d(4, 3, 2)), (2, 4, 3, 3)),
    (lambda: swapped(nn.BatchNorm1d(4)), (2, 4)),
]


def run():
    rows = []
    for make, shape in CASES:
        net, rng = make(), np.random.RandomState(3)
        for name, p in sorted(net.named_parameters()):
            if p.dim():
                p.data = torch.from_numpy(rng.rand(*p.shape).astype("float32"))
            else:
                p.data.fill_(1.5)
        x = torch.from_numpy(rng.rand(*shape).astype("float32")) if shape else torch.tensor([1, 3, 3])
        opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.01)
        for _ in range(2):
            out = net(x)
            out = out[0] if isinstance(out, tuple) else out
            loss = (out**2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        rows.append([name for name, p in sorted(net.named_parameters())])
        rows.append([loss.item(), *[p.sum().item() for name, p in sorted(net.named_parameters())]])
    return rows
"""


def test_a_weight_that_is_computed_anew_is_used_and_what_it_is_computed_from_learns(both: Both) -> None:
    theirs, ours = both(WRAPPERS)
    assert ours[0::2] == theirs[0::2]
    assert same(ours[1::2], theirs[1::2])
