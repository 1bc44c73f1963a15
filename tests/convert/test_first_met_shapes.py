"""Shapes of code that failed when strangers' programs were first converted: each runs and computes what torch computes."""

from __future__ import annotations

from two_frameworks import Both, plain, same

from mindferry.convert import convert_source


def test_a_packed_sequence_goes_through_recurrent_layers(both: Both) -> None:
    theirs, ours = both("""
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

def run():
    rnn, gate = nn.GRU(6, 3, batch_first=True), nn.Linear(3, 1)
    for k, p in enumerate([*rnn.parameters(), *gate.parameters()]):
        p.data.copy_(torch.sin(torch.arange(p.numel()).float() + k).view(p.shape))
    packed = pack_padded_sequence(torch.from_numpy(X).view(2, 2, 6), [2, 1], batch_first=True)
    out, _ = rnn(packed)
    weights = torch.sigmoid(gate(out.data)).squeeze(1)
    scored, _ = pad_packed_sequence(PackedSequence(weights, out.batch_sizes), batch_first=True)
    states, lengths = pad_packed_sequence(out, batch_first=True)
    return [scored, states, lengths.tolist(), out.data]
""")
    assert same(plain(ours), plain(theirs))


STEPS = """
class Keeping(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o)
        nn.init.constant_(self.lin.weight, 0.3); nn.init.zeros_(self.lin.bias)
    def forward(self, x):
        y = self.lin(x)
        self.loss = y.pow(2).mean()
        return torch.tanh(y)

def listed(x):
    net = nn.Sequential(Keeping(6, 4), Keeping(4, 2))
    kept, opt, seen = list(net.children()), torch.optim.SGD(net.parameters(), lr=0.1), []
    for _ in range(3):
        opt.zero_grad()
        net(x)
        total = 0
        for each in kept:
            total += each.loss
        total.backward()
        opt.step()
        seen.append(total.item())
    return seen

def asked(x):
    net, seen = Keeping(6, 4), []
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        net(x)
        loss = net.loss * 2
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen.append(loss.item())
    return seen

def make_optimizer(img):
    return torch.optim.Adam([img], lr=0.1)

def painted(x):
    img, seen = x.clone(), []
    img.requires_grad_(True)
    opt = make_optimizer(img)
    for _ in range(3):
        opt.zero_grad()
        loss = (img - 0.5).pow(2).mean()
        loss.backward()
        opt.step()
        seen.append(loss.item())
    return seen, img.detach()

def outer():
    w = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    y = (w.unsqueeze(-1) @ (w * 2).unsqueeze(-2)) ** 2
    y.sum().backward()
    return w.grad

def stacked():
    w = torch.tensor([[1.0, 2.0], [0.5, 3.0]], requires_grad=True)
    x = torch.arange(16.0).view(2, 2, 2, 2)
    ((w.unsqueeze(0) @ x) * (x @ w[None])).sum().backward()
    return w.grad

def run():
    x = torch.from_numpy(X)
    return [listed(x), asked(x), *painted(x), outer(), stacked()]
"""


def test_networks_that_keep_their_losses_images_that_are_trained_and_outer_products(both: Both) -> None:
    theirs, ours = both(STEPS)
    assert same(plain(ours), plain(theirs))


CLEAN = """import torch
from torch import nn
from torch.optim.optimizer import Optimizer
from models import Net

class Own(Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))
    def __setstate__(self, state):
        super(Own, self).__setstate__(state)
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group['params']:
                p.data.add_(p.grad.data, alpha=-group['lr'])

class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))
    def forward(self, x):
        return x * self.scale

action = torch.zeros(4, 2)
noise = torch.ones_like(action).data.normal_(0, 0.2).clamp(-0.5, 0.5)
labels = torch.as_tensor([0, 1]).long().contiguous()
scaled, model = Scaled(), Net()
if torch.cuda.is_available(): model = model.cuda()
opt = Own(scaled.parameters())
loss = scaled(action + noise)[labels].sum()
loss.backward()
print(scaled.scale.grad)
opt.step()
"""


def test_ordinary_scripts_are_not_refused() -> None:
    found = convert_source(CLEAN).findings
    assert [each for each in found if each.severity == "error"] == []


def test_random_numbers_are_complex_if_asked_to_be(both: Both) -> None:
    _, ours = both("""
def run():
    z, u = torch.randn(2000, dtype=torch.complex64), torch.rand(3, 4, dtype=torch.cfloat)
    return [str(z.dtype).lower()[-9:], tuple(u.shape), z.real.var().item(), z.imag.var().item(), u.real.min().item() >= 0]
""")
    assert ours[0] == "complex64" and ours[1] == (3, 4) and ours[4]
    assert all(abs(each - 0.5) < 0.1 for each in ours[2:4])
