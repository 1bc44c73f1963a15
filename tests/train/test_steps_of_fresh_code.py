"""Steps in forms first met in public repositories: a step under a switch of gradients, a loss whose own loop is left early."""

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
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    return run_both(tmp_path_factory.mktemp("fresh"), SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_step_trains_the_same(name: str, ran: dict[str, Ran]) -> None:
    ran[name].check()
    assert "backward()" not in ran[name].code
