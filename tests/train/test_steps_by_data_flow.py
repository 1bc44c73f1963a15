"""Steps as data flows through them: each script runs in torch and, converted, in MindSpore, to the same losses and weights."""

from __future__ import annotations

import pytest

from .both_ways import Ran, run_both

SCRIPTS = {
    "loss_read_before_it_is_scaled": """
net = network()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
opt.zero_grad()
for i, (x, y) in enumerate(zip(xs, ys)):
    loss = criterion(net(x), y)
    value = loss.item()
    if value > 1e6:
        raise ValueError(value)
    loss /= 2
    loss.backward()
    if i % 2:
        opt.step()
        opt.zero_grad()
    record(torch.tensor(value))
weights(net)
""",
    "loss_read_before_and_after_it_is_bound_again": """
net = network()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for x, y in zip(xs, ys):
    out = net(x)
    a = criterion(out, y)
    record(a)
    a = a + (out ** 2).mean()
    b = a * 2
    opt.zero_grad()
    b.backward()
    opt.step()
    record(a)
    record(b)
weights(net)
""",
    "state_carried_in_a_branch": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 6, batch_first=True)
        self.fc = nn.Linear(6, 3)
    def forward(self, x, h):
        out, h = self.rnn(x.unsqueeze(1), h)
        return self.fc(out[:, -1]), h
stateful = True
net = start(Net())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
if stateful:
    hidden = torch.zeros(1, 8, 6)
for x, y in zip(xs, ys):
    opt.zero_grad()
    if not stateful:
        out, _ = net(x, torch.zeros(1, 8, 6))
        loss = criterion(out, y)
    else:
        hidden = hidden.detach()
        out, hidden = net(x, hidden)
        loss = criterion(out, y)
    loss.backward()
    opt.step()
    record(loss)
weights(net)
""",
    "state_that_exists_only_sometimes": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(4, 6, batch_first=True)
        self.fc = nn.Linear(6, 3)
    def forward(self, x, h=None):
        out, h = self.rnn(x.unsqueeze(1), h)
        return self.fc(out[:, -1]), h
net = start(Net())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def train(stateful):
    if stateful:
        hidden = torch.zeros(1, 8, 6)
    for i, (x, y) in enumerate(zip(xs, ys)):
        opt.zero_grad()
        if stateful:
            if i > 0:
                hidden = hidden.detach()
            out, hidden = net(x, hidden)
        else:
            out, _ = net(x)
        loss = criterion(out, y)
        loss.backward()
        opt.step()
        record(loss)
train(True); train(False)
weights(net)
""",
    "loss_computed_where_backward_stands": """
model = network()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs = xs[0]
outputs = model(inputs)
labels = ys[0]
loss_fn = nn.CrossEntropyLoss()
optimizer.zero_grad()
loss_fn(outputs, labels).backward()
optimizer.step()
weights(model)
""",
    "loss_of_a_single_layer": """
torch.manual_seed(0)
x = xs[0]
w = nn.Linear(4, 3)
start(w)
pred = w(x)
loss_fn = nn.MSELoss()
target = torch.ones(8, 3)
loss_fn(pred, target).backward()
record(w.weight.grad, w.bias.grad)
opt = torch.optim.SGD(w.parameters(), lr=0.1)
opt.step()
weights(w)
""",
    "alternatives_with_their_own_forward": """
use_amp = False
model = network()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.cuda.amp.GradScaler(enabled=use_amp)
for x, y in zip(xs, ys):
    optimizer.zero_grad()
    if use_amp:
        with torch.autocast('cpu', enabled=False):
            loss = criterion(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    else:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    record(loss)
weights(model)
""",
    "alternatives_the_second": """
use_amp = False
model = network()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scaler = torch.cuda.amp.GradScaler(enabled=use_amp)
for x, y in zip(xs, ys):
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    if use_amp:
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
    else:
        loss.backward()
        optimizer.step()
    record(loss)
weights(model)
""",
    "alternatives_the_first": """
use_amp = True
model = network()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scaler = torch.cuda.amp.GradScaler(enabled=use_amp)
for x, y in zip(xs, ys):
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    if use_amp:
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
    else:
        loss.backward()
        optimizer.step()
    record(loss)
weights(model)
""",
    "three_alternatives": """
model = network()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def train(kind):
    for i, (x, y) in enumerate(zip(xs, ys)):
        optimizer.zero_grad()
        out = model(x)
        loss = criterion(out, y)
        if kind == 'a':
            loss.backward()
        elif kind == 'b':
            (loss * 2).backward()
        else:
            (out.abs().mean() + loss).backward()
        optimizer.step()
        record(loss)
for k in 'abc':
    train(k)
weights(model)
""",
    "warm_up_that_continues": """
model = network()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i, (x, y) in enumerate(zip(xs, ys)):
    opt.zero_grad()
    out = model(x)
    loss = criterion(out, y)
    if i < 2:
        loss.backward()
        opt.step()
        continue
    extra = out.pow(2).mean()
    total = loss + 0.5 * extra
    total.backward()
    opt.step()
    record(total)
weights(model)
""",
    "first_batch_under_no_grad": """
model = network()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
def calc(a, b):
    return -a + b * 0.1, a * 2
for i, (x, y) in enumerate(zip(xs, ys)):
    if i == 0:
        with torch.no_grad():
            logp = model(x).mean()
            continue
    else:
        logp = -criterion(model(x + 0.1), y)
    det = logp.pow(2).mean()
    loss, logp = calc(logp, det)
    model.zero_grad()
    loss.backward()
    opt.param_groups[0]['lr'] = 0.05
    opt.step()
    record(loss, logp)
weights(model)
""",
    "warm_up_with_a_loss_of_its_own": """
model = network()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i, (x, y) in enumerate(zip(xs, ys)):
    loss = 0.01 * sum(p.pow(2).sum() for p in model.parameters())
    opt.zero_grad()
    if i < 2:
        loss = loss + model(x).pow(2).mean()
        loss.backward()
        opt.step()
        record(loss)
        continue
    loss = loss + criterion(model(x), y)
    loss.backward()
    opt.step()
    record(loss)
weights(model)
""",
    "chain_with_ways_out": """
model = network()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i, (x, y) in enumerate(zip(xs, ys)):
    h = model[0](x)
    if i == 0:
        record(h.mean())
        continue
    elif i == 3:
        break
    elif i == 1:
        out = model[2](h)
    else:
        out = model[2](model[1](h))
        record(out.shape[0])
    loss = criterion(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    record(loss)
weights(model)
""",
    "gradients_gathered_after_a_way_out": """
model = network()
opt = torch.optim.Adam(model.parameters(), lr=0.1)
for i, (x, y) in enumerate(zip(xs, ys)):
    if i == 0:
        with torch.no_grad():
            loss = criterion(model(x), y)
        record(loss)
        continue
    else:
        out = model(x)
        loss = criterion(out, y) / 2
        print(out.shape)
    loss.backward()
    if i % 2 == 0:
        opt.step()
        opt.zero_grad()
    record(loss)
weights(model)
""",
    "batch_skipped_before_the_backward": """
model = network()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for i, (x, y) in enumerate(zip(xs, ys)):
    loss = criterion(model(x), y) / 2
    if i == 1 or not torch.isfinite(loss):
        record(loss)
        continue
    loss.backward()
    if i % 2 == 0:
        opt.step()
        opt.zero_grad()
    record(loss)
weights(model)
""",
    "return_before_the_backward": """
model = network()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
def closure(i, x, y):
    out = model(x)
    loss = criterion(out, y)
    if i % 2:
        return loss.item()
    loss.backward()
    return -1.0
for i, (x, y) in enumerate(zip(xs, ys)):
    record(closure(i, x, y))
opt.step()
weights(model)
""",
    "error_caught_before_the_backward": """
model = network()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
n = 0
for i, (x, y) in enumerate(zip(xs, ys)):
    loss = criterion(model(x), y)
    try:
        if i == 2:
            raise ValueError
        loss.backward()
    except ValueError:
        n += 1
        continue
    if i % 2:
        opt.step()
        opt.zero_grad()
record(n)
weights(model)
""",
    "expression_over_two_lines": """
model = network()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in zip(xs, ys):
    out = model(x)
    a = criterion(out, y)
    b = out.pow(2).mean()
    c = out.abs().mean()
    opt.zero_grad()
    (a * 0.5 + b -
     c).backward()
    opt.step()
weights(model)
""",
    "expression_with_a_comment": """
model = network()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in zip(xs, ys):
    opt.zero_grad()
    (criterion(model(x), y)   # the loss
        + 0.1 * sum(p.pow(2).sum()
                    for p in model.parameters())
    ).backward()
    opt.step()
weights(model)
""",
    "two_long_expressions": """
model = network()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
out = model(xs[0])
a = out.mean()
b = out.pow(2).mean()
(a
 + b).backward(retain_graph=True)
(a -
 b * 2).backward()
opt.step()
weights(model)
""",
    "weighted_by_g": """
lin = start(nn.Linear(4, 3))
y = lin(xs[0])
g = torch.from_numpy(array(77, 8, 3))
y.backward(g)
record(lin.weight.grad, lin.bias.grad)
""",
    "weighted_by_itself": """
x = torch.from_numpy(array(3, 5)).requires_grad_()
x.backward(x)
record(x.grad)
""",
    "weighted_by_keyword": """
x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x ** 2
y.backward(gradient=torch.tensor([1., 0.1, 0.01]))
record(x.grad)
""",
    "weighted_in_a_loop": """
model = network()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x in xs:
    opt.zero_grad()
    out = model(x)
    out.backward(torch.ones_like(out) * 0.1)
    opt.step()
weights(model)
""",
    "several_outputs_weighted": """
model = network()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in zip(xs, ys):
    opt.zero_grad()
    out = model(x)
    loss = criterion(out, y)
    torch.autograd.backward([loss, out], [torch.tensor(1.0), torch.ones_like(out) * 0.05])
    opt.step()
weights(model)
""",
    "several_outputs": """
model = network()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in zip(xs, ys):
    opt.zero_grad()
    out = model(x)
    loss = criterion(out, y)
    loss2 = out.mean()
    torch.autograd.backward([loss, loss2])
    opt.step()
out = model(xs[0])
opt.zero_grad()
autograd.backward(out, grad_tensors=torch.ones(8, 3))
opt.step()
opt.zero_grad()
autograd.backward(criterion(model(xs[0]), ys[0]))
opt.step()
weights(model)
""",
    "unused_momentum": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 8)
        self.b = nn.Linear(8, 3)
        self.extra = nn.Linear(8, 3)
        self.unused = nn.Linear(2, 2)
        self.frozen = nn.Linear(8, 8)
        for p in self.frozen.parameters():
            p.requires_grad = False
    def forward(self, x, more=False):
        h = self.frozen(self.a(x)).tanh()
        return self.b(h) + self.extra(h) if more else self.b(h)
m = start(M())
opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9, weight_decay=0.1)
for i, (x, y) in enumerate(zip(xs, ys)):
    out = m(x, i % 3 == 1)
    loss = criterion(out, y)
    opt.zero_grad()
    loss.backward()
    pass
    if True:
        opt.step()
        pass
    record(loss)
weights(m)
""",
    "unused_adamw_clipped": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 8)
        self.b = nn.Linear(8, 3)
        self.extra = nn.Linear(8, 3)
        self.unused = nn.Linear(2, 2)
        self.frozen = nn.Linear(8, 8)
        for p in self.frozen.parameters():
            p.requires_grad = False
    def forward(self, x, more=False):
        h = self.frozen(self.a(x)).tanh()
        return self.b(h) + self.extra(h) if more else self.b(h)
m = start(M())
opt = torch.optim.AdamW(m.parameters(), lr=0.05)
for i, (x, y) in enumerate(zip(xs, ys)):
    out = m(x, i % 3 == 1)
    loss = criterion(out, y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(m.parameters(), 0.5)
    if True:
        opt.step()
        pass
    record(loss)
weights(m)
""",
    "unused_adamw_accumulated": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 8)
        self.b = nn.Linear(8, 3)
        self.extra = nn.Linear(8, 3)
        self.unused = nn.Linear(2, 2)
        self.frozen = nn.Linear(8, 8)
        for p in self.frozen.parameters():
            p.requires_grad = False
    def forward(self, x, more=False):
        h = self.frozen(self.a(x)).tanh()
        return self.b(h) + self.extra(h) if more else self.b(h)
m = start(M())
opt = torch.optim.AdamW(m.parameters(), lr=0.05)
for i, (x, y) in enumerate(zip(xs, ys)):
    out = m(x, i % 3 == 1)
    loss = criterion(out, y)
    pass
    loss.backward()
    pass
    if i % 2 == 1:
        opt.step()
        opt.zero_grad()
    record(loss)
weights(m)
""",
    "unused_adam": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 8)
        self.b = nn.Linear(8, 3)
        self.extra = nn.Linear(8, 3)
        self.unused = nn.Linear(2, 2)
        self.frozen = nn.Linear(8, 8)
        for p in self.frozen.parameters():
            p.requires_grad = False
    def forward(self, x, more=False):
        h = self.frozen(self.a(x)).tanh()
        return self.b(h) + self.extra(h) if more else self.b(h)
m = start(M())
opt = torch.optim.Adam(m.parameters(), lr=0.05, weight_decay=0.1)
for i, (x, y) in enumerate(zip(xs, ys)):
    out = m(x, i % 3 == 1)
    loss = criterion(out, y)
    opt.zero_grad()
    loss.backward()
    pass
    if True:
        opt.step()
        pass
    record(loss)
weights(m)
""",
    "unused_adagrad": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 8)
        self.b = nn.Linear(8, 3)
        self.extra = nn.Linear(8, 3)
        self.unused = nn.Linear(2, 2)
        self.frozen = nn.Linear(8, 8)
        for p in self.frozen.parameters():
            p.requires_grad = False
    def forward(self, x, more=False):
        h = self.frozen(self.a(x)).tanh()
        return self.b(h) + self.extra(h) if more else self.b(h)
m = start(M())
opt = torch.optim.Adagrad(m.parameters(), lr=0.1, lr_decay=0.1)
for i, (x, y) in enumerate(zip(xs, ys)):
    out = m(x, i % 3 == 1)
    loss = criterion(out, y)
    opt.zero_grad()
    loss.backward()
    pass
    if True:
        opt.step()
        pass
    record(loss)
weights(m)
""",
    "unused_dampening": """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 8)
        self.b = nn.Linear(8, 3)
        self.extra = nn.Linear(8, 3)
        self.unused = nn.Linear(2, 2)
        self.frozen = nn.Linear(8, 8)
        for p in self.frozen.parameters():
            p.requires_grad = False
    def forward(self, x, more=False):
        h = self.frozen(self.a(x)).tanh()
        return self.b(h) + self.extra(h) if more else self.b(h)
m = start(M())
opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9, dampening=0.5)
for i, (x, y) in enumerate(zip(xs, ys)):
    out = m(x, i % 3 == 1)
    loss = criterion(out, y)
    opt.zero_grad()
    loss.backward()
    pass
    if True:
        opt.step()
        pass
    record(loss)
weights(m)
""",
    "network_from_an_unknown_function": """
import importlib
build = getattr(importlib.import_module('common'), 'network')
model = build(3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
outputs = model(xs[0])
labels = ys[0]
loss = nn.CrossEntropyLoss()(outputs, labels)
loss.backward()
optimizer.step()
weights(model)
""",
    "gradients_kept_between_two_losses": """
model = network()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in zip(xs, ys):
    out = model(x)
    l1, l2 = criterion(out, y), out.pow(2).mean()
    opt.zero_grad()
    l1.backward(retain_graph=True)
    g1 = [p.grad.clone() for p in model.parameters()]
    opt.zero_grad()
    l2.backward()
    for p, g in zip(model.parameters(), g1):
        p.grad += 0.5 * g
    opt.step()
    record(l1, l2)
weights(model)
""",
    "output_that_exists_only_sometimes": """
model, other = network(), network(1)
opt = torch.optim.SGD([*model.parameters(), *other.parameters()], lr=0.1)
for i, (x, y) in enumerate(zip(xs, ys)):
    loss = criterion(model(x), y)
    if i % 2:
        extra = other(x).pow(2).mean()
        loss = loss + extra
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 2:
        record(extra)
    record(loss)
weights(model); weights(other)
""",
    "value_of_the_iteration_before": """
model = network()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
prev = None
for i, (x, y) in enumerate(zip(xs, ys)):
    out = model(x)
    loss = criterion(out, y)
    if prev is not None:
        loss = loss + F.mse_loss(out, prev)
    prev = out.detach()
    opt.zero_grad()
    loss.backward()
    opt.step()
    record(loss)
weights(model)
""",
    "losses_of_two_networks_as_expressions": """
G, D = network(4), network(1)
og = torch.optim.SGD(G.parameters(), lr=0.1)
od = torch.optim.SGD(D.parameters(), lr=0.1)
for x, z in zip(xs, xs[::-1]):
    fake = G(z)
    od.zero_grad()
    (D(fake.detach()).mean() - D(x).mean()).backward()
    od.step()
    og.zero_grad()
    (-D(fake).mean()).backward()
    og.step()
weights(G); weights(D)
""",
    "network_that_returns_its_loss": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = network()
    def forward(self, x, labels=None):
        logits = self.net(x)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits, labels)
        return loss, logits
class Out:
    pass
model = Net()
opt = torch.optim.AdamW(model.parameters(), lr=0.01)
for batch in [{'x': x, 'labels': y} for x, y in zip(xs, ys)]:
    outputs = model(**batch)
    loss = outputs[0]
    loss.backward()
    opt.step()
    opt.zero_grad()
    record(loss)
model.zero_grad()
for x, y in zip(xs, ys):
    loss, _ = model(x, y)
    if isinstance(loss, tuple): loss = loss[0]
    loss.mean().backward()
    opt.step()
    model.zero_grad()
weights(model)
""",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    return run_both(tmp_path_factory.mktemp("steps"), SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_step_trains_the_same(name: str, ran: dict[str, Ran]) -> None:
    ran[name].check()


def test_alternatives_run_only_one_forward(ran: dict[str, Ran]) -> None:
    code = ran["alternatives_the_first"].code
    assert "elif" not in code and code.count("backward(forward_fn") == 2 and "forward_fn(x, y, scaler)\n" not in code
