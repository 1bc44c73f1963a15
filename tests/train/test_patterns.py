"""Loops of many shapes, each converted and trained beside its reference: the same losses, or a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindferry.config import Train
from mindferry.convert import convert_project
from mindferry.train import train_side_by_side

HEAD = """
import torch
from torch import nn, autograd
torch.manual_seed(3)
xs = [torch.randn(8, 4) for _ in range(4)]
ys = [torch.randint(0, 3, (8,)) for _ in range(4)]

def network(last=3):
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, last))

criterion = nn.CrossEntropyLoss()
"""

# Each loop makes its own steps, in this order.
LOOPS = """
# the loss is looked at before its backward()
model = network()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in zip(xs, ys):
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    if torch.isfinite(loss).all() and float(loss) > 1.0:
        loss.backward()
    else:
        (loss * 0.5).sum()
    optimizer.step()

# a phase with and one without gradients share the forward; the second must leave no gradients behind
for x, y, phase in zip(xs, ys, ["train", "val", "train", "train"]):
    out = model(x)
    loss = criterion(out, y)
    if phase == "train":
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(phase, out.shape)

# two optimizers; the second loss was computed before the first step
first, second = network(4), network()
opt_a = torch.optim.SGD(first.parameters(), lr=0.1)
opt_b = torch.optim.Adam(second.parameters(), lr=0.01)
for x, y in zip(xs, ys):
    loss_a = first(x).pow(2).mean()
    loss_b = criterion(second(x), y)
    opt_a.zero_grad(); opt_b.zero_grad()
    loss_a.backward()
    opt_a.step()
    loss_b.backward()
    opt_b.step()

# x changes between two uses of the network
for x, y in zip(xs, ys):
    a = model(x)
    x = x * 2
    b = model(x)
    optimizer.zero_grad()
    loss = criterion(a + b, y)
    loss.backward()
    optimizer.step()

# a generator's output is used twice, its second use under a condition
generator, judge = network(4), network(1)
opt_g = torch.optim.SGD(generator.parameters(), lr=0.05)
opt_d = torch.optim.SGD(judge.parameters(), lr=0.05)
for i, x in enumerate(xs):
    fake = generator(x)
    opt_d.zero_grad()
    d_loss = judge(fake.detach()).mean() - judge(x).mean()
    d_loss.backward()
    opt_d.step()
    if i % 2 == 0:
        opt_g.zero_grad()
        g_loss = -judge(fake).mean()
        g_loss.backward()
        opt_g.step()
    print(fake.mean().item())

# an attack: the gradient by the input
for x, y in zip(xs, ys):
    x.requires_grad = True
    loss = criterion(model(x), y)
    model.zero_grad()
    loss.backward()
    attacked = x.detach() + 0.1 * x.grad.sign()
    optimizer.zero_grad()
    loss = criterion(model(attacked), y)
    loss.backward()
    optimizer.step()

# gradient by several inputs at once, weighted, inside a loss
def penalty(net, a, b):
    a, b = a.clone(), b.clone()
    a.requires_grad_(True)
    b.requires_grad_(True)
    out = net(a * b)
    weight = torch.linspace(0.5, 1.5, out.numel()).view(out.shape)
    by_a, by_b = autograd.grad(out, [a, b], grad_outputs=weight, create_graph=True)
    (mixed,) = autograd.grad(by_a.sum(), b, create_graph=True)
    return by_a.pow(2).mean() + by_b.abs().mean() + mixed.pow(2).mean()

for x, other in zip(xs, xs[::-1]):
    optimizer.zero_grad()
    loss = penalty(model, x.detach(), other.detach())
    loss.backward()
    optimizer.step()

# one inner step by the parameters' gradients, then through it (MAML)
meta = network()
opt_meta = torch.optim.SGD(meta.parameters(), lr=0.1)
for x, y in zip(xs, ys):
    inner = (meta(x.detach()) - 1).pow(2).mean()
    grads = autograd.grad(inner, meta.parameters(), create_graph=True)
    loss = sum(g.pow(2).sum() for g in grads) + criterion(meta(x.detach()), y)
    opt_meta.zero_grad()
    loss.backward()
    opt_meta.step()

# a picture is optimized, the network is not
picture = torch.zeros(8, 4, requires_grad=True)
opt_picture = torch.optim.Adam([picture], lr=0.1)
for y in ys:
    opt_picture.zero_grad()
    loss = criterion(model(picture), y)
    loss.backward()
    opt_picture.step()
"""

MORE = """
model = network()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# losses gathered in a list
for x, y in zip(xs, ys):
    losses = []
    for part, label in zip(x.chunk(2), y.chunk(2)):
        losses.append(criterion(model(part), label))
    loss = sum(losses)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# losses in a dict, summed
for x, y in zip(xs, ys):
    terms = {"a": criterion(model(x), y)}
    terms["b"] = 0.01 * sum(p.pow(2).sum() for p in model.parameters())
    optimizer.zero_grad()
    total = sum(terms.values())
    total.backward()
    optimizer.step()
    print({k: v.item() for k, v in terms.items()})

# a running total of the loss in the same block, zero_grad at the end
total = 0.0
optimizer.zero_grad()
for i, (x, y) in enumerate(zip(xs, ys)):
    out = model(x)
    loss = criterion(out, y) / 2
    total += loss.item()
    loss.backward()
    if (i + 1) % 2 == 0:
        optimizer.step()
        optimizer.zero_grad()

# a class with a step of its own
class Runner:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=0.01)

    def loss(self, batch):
        x, y = batch
        return nn.functional.cross_entropy(self.net(x), y)

    def fit(self, batches, epochs=1):
        for _ in range(epochs):
            for batch in batches:
                loss = self.loss(batch)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()

runner = Runner(network())
runner.fit(list(zip(xs, ys)))

# a loss that starts at zero, weights tied by hand, sum over steps
rnn = nn.GRUCell(4, 6)
head = nn.Linear(6, 3)
opt = torch.optim.Adam(list(rnn.parameters()) + list(head.parameters()), lr=0.01)
for x, y in zip(xs, ys):
    h = torch.zeros(8, 6)
    loss = 0
    for t in range(3):
        h = rnn(x, h)
        loss = loss + criterion(head(h), y)
    opt.zero_grad()
    loss.backward()
    opt.step()

# regularization by a parameter read directly
for x, y in zip(xs, ys):
    decay = model[0].weight.abs().mean()
    loss = criterion(model(x), y) + 0.1 * decay
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

# a parameter of a network that is not called here
other = network()
both = torch.optim.SGD([*model.parameters(), *other.parameters()], lr=0.1)
for x, y in zip(xs, ys):
    pull = (other[0].weight - model[0].weight).pow(2).mean()
    loss = criterion(model(x), y) + pull
    both.zero_grad()
    loss.backward()
    both.step()
"""


@pytest.mark.parametrize("loops, steps", [(LOOPS, 41), (MORE, 26)])
def test_loops_of_many_shapes_follow_their_reference(loops: str, steps: int, tmp_path: Path) -> None:
    source, output = tmp_path / "source", tmp_path / "output"
    source.mkdir()
    (source / "train.py").write_text(HEAD + loops)
    result = convert_project(source, output)
    assert [str(each) for each in result.findings if each.severity == "error"] == []
    curves = train_side_by_side(output, Train("train.py", (), 200, 1e-5))
    assert curves.first_difference == ""
    assert len(curves.reference) == steps
    assert max(curves.distances) < 1e-4
