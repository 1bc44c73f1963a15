"""Steps in forms first met in public repositories and in scripts of many hands: switches of gradients, frozen averages, optimizers around others."""

from __future__ import annotations

import pytest

from .both_ways import Ran, run_both

SCRIPTS = {
    "step_under_a_switch_of_gradients": """
class Tracker:
    def __init__(self):
        self.net = network()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)
    def train_step(self, x, y, backward=True):
        self.net.train(backward)
        with torch.set_grad_enabled(backward):
            # inference
            out = self.net(x)
            loss = criterion(out, y)

            if backward:
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
        return loss.item()
tracker = Tracker()
for i, (x, y) in enumerate(zip(xs, ys)):
    record(tracker.train_step(x, y, i != 2))
weights(tracker.net)
""",
    "step_under_autocast_in_a_function": """
net = network()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
def step(x, y):
    scale = 2.0
    with torch.autocast("cpu", enabled=False):
        loss = criterion(net(x), y) * scale
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()
for x, y in zip(xs, ys):
    record(step(x, y))
weights(net)
""",
    "loss_of_a_loop_that_is_left_early": """
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 6)
        self.out = nn.Linear(6, 3)
    def forward(self, x, h):
        h = self.cell(x, h)
        return self.out(h), h
net = start(Decoder())
opt = torch.optim.SGD(net.parameters(), lr=0.2)
def train(x, targets, is_forced):
    opt.zero_grad()
    hidden, given, loss = torch.zeros(8, 6), x, 0
    if is_forced:
        for y in targets:
            out, hidden = net(given, hidden)
            loss += F.cross_entropy(out, y)
    else:
        for y in targets:
            out, hidden = net(given, hidden)
            best = out.topk(1)[1].detach()
            loss += F.cross_entropy(out, y)
            if best[0].item() == 1:
                break
            given = given + best.float()
    loss.backward()
    opt.step()
    return loss.item()
for i, x in enumerate(xs):
    record(train(x, ys[:3], i % 2 == 0))
weights(net)
""",
    "average_frozen_in_one_call": """
from copy import deepcopy
net = network()
average = deepcopy(net).eval().requires_grad_(False)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for x, y in zip(xs, ys):
    opt.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    opt.step()
    with torch.no_grad():
        for a, p in zip(average.parameters(), net.parameters()):
            a.data = a.data * 0.5 + p.data * 0.5
    record(loss.item(), criterion(average(x), y).item())
weights(average)
""",
    "parameters_that_get_reductions": """
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.loc, self.scale, self.gain = nn.Parameter(torch.zeros(1, 4)), nn.Parameter(torch.ones(1, 4)), nn.Parameter(torch.ones(2))
        self.net = network()
        self.is_set = False
    def forward(self, x):
        if not self.is_set:
            largest = x.abs().max()
            self.loc.data.copy_(-x.mean(0)[None])
            self.scale.data.copy_(1 / (x.std(0) + 0.1))
            self.gain.data.copy_(largest)
            self.is_set = True
        return self.net((x + self.loc) * self.scale) * self.gain.sum()
net = Scaled()
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
for x, y in zip(xs, ys):
    opt.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    opt.step()
    record(loss.item(), net.loc.shape, net.scale.shape, net.gain.shape)
weights(net)
""",
    "optimizers_around_others": """
class Lookahead(torch.optim.Optimizer):
    def __init__(self, optimizer, k=2):
        self.optimizer, self.k, self.calls = optimizer, k, 0
        self.param_groups = optimizer.param_groups
        self.kept = {}
    def step(self, closure=None):
        loss = self.optimizer.step(closure)
        self.calls += 1
        if self.calls % self.k == 0:
            for group in self.param_groups:
                for p in group["params"]:
                    kept = self.kept.setdefault(p, {})
                    if "slow" not in kept:
                        kept["slow"] = torch.zeros_like(p.data)
                        kept["slow"].copy_(p.data)
                    slow = kept["slow"]
                    slow += (p.data - slow) * 0.5
                    p.data.copy_(slow)
        return loss
    def zero_grad(self):
        self.optimizer.zero_grad()
class Largest(torch.optim.Optimizer):
    def __init__(self, params, lr):
        self.is_new = True
        super().__init__(params, dict(lr=lr))
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if len(state) == 0:
                    state["v"], state["most"] = torch.zeros_like(p.data), torch.zeros_like(p.data)
                state["v"].mul_(0.9).addcmul_(p.grad, p.grad, value=0.1)
                most = state["most"]
                torch.max(most, state["v"], out=most)
                torch.max(state["most"], state["v"], out=state["most"])
                p.data.addcdiv_(p.grad, most.sqrt().add_(1e-3), value=-group["lr"])
for make in (lambda ps: Lookahead(torch.optim.Adam(ps, lr=0.05)), lambda ps: Largest(ps, 0.05)):
    torch.backends.cudnn.deterministic = True
    torch.use_deterministic_algorithms(mode=True, warn_only=True)
    net = network()
    opt = make(net.parameters())
    for x, y in zip(xs, ys):
        opt.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        opt.step()
        record(loss.item())
    weights(net)
""",
    "containers_of_parameters": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ParameterDict({"w": torch.ones(4, 6) * 0.2, "b": nn.Parameter(torch.zeros(6))})
        self.more = nn.ParameterList([torch.linspace(-1, 1, 18).view(6, 3), nn.Parameter(torch.zeros(3))])
    def forward(self, x):
        return torch.tanh(x @ self.parts["w"] + self.parts["b"]) @ self.more[0] + self.more[1]
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in zip(xs, ys):
    opt.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    opt.step()
    record(loss.item())
weights(net)
""",
    "complex_parameters": """
class Spectral(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.from_numpy((array(1, 3) + 1j * array(2, 3)).astype("complex64")))
        self.out = network()
    def forward(self, x):
        return self.out(torch.fft.irfft(torch.fft.rfft(x) * self.w, n=4))
for make in (lambda ps: torch.optim.Adam(ps, lr=0.05, weight_decay=0.01), lambda ps: torch.optim.SGD(ps, lr=0.1, momentum=0.9)):
    net = Spectral()
    start(net.out)
    opt = make(net.parameters())
    for x, y in zip(xs, ys):
        opt.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        opt.step()
        record(loss.item(), net.w.real, net.w.imag)
""",
    "numbers_of_numpy_alone": """
np.random.seed(3)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
record(np.random.permutation(9))
start(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in zip(xs, ys):
    lam = np.random.beta(1.0, 1.0)
    opt.zero_grad()
    loss = lam * criterion(net(x), y)
    loss.backward()
    opt.step()
    record(lam, loss.item())
""",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    return run_both(tmp_path_factory.mktemp("fresh"), SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_step_trains_the_same(name: str, ran: dict[str, Ran]) -> None:
    ran[name].check()
    assert "backward()" not in ran[name].code
