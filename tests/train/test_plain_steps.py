"""Steps that take MindSpore's plain form, and those that look alike and must not: all train as in torch."""

from __future__ import annotations

import re

import pytest

from .both_ways import Ran, run_both

PLAIN = {
    "clipped_by_value": """
net = network()
opt = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
limit = 0.02
for x, y in zip(xs, ys):
    opt.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    nn.utils.clip_grad_value_(net.parameters(), limit / 2)
    opt.step()
    record(loss)
weights(net)
""",
    "norm_is_kept": """
net = network()
opt = torch.optim.AdamW(net.parameters(), lr=0.05)
for x, y in zip(xs, ys):
    opt.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm=0.3, norm_type=2.0)
    opt.step()
    record(loss, norm)
weights(net)
""",
    "trainer_that_keeps_the_norm": """
class Trainer:
    def __init__(self, model, optimizer, criterion):
        self.model, self.optimizer, self.criterion = model, optimizer, criterion
    def epoch(self, batches):
        for x, y in batches:
            self.optimizer.zero_grad()
            out = self.model(x)
            loss = self.criterion(out, y)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(self.model.parameters(), 0.3)
            self.optimizer.step()
            record(loss, norm)
net = network()
Trainer(net, torch.optim.SGD(net.parameters(), lr=0.5), criterion).epoch(zip(xs, ys))
weights(net)
""",
    "two_losses_and_two_optimizers": """
maker, judge = network(last=4), network(last=1)
opt_judge = torch.optim.SGD(judge.parameters(), lr=0.1, momentum=0.9)
opt_maker = torch.optim.Adam(maker.parameters(), lr=0.01)
for i, (x, y) in enumerate(zip(xs, ys)):
    opt_judge.zero_grad()
    made = maker(x)
    loss = F.softplus(judge(made)).mean() + F.softplus(-judge(x + 1)).mean()
    loss.backward()
    opt_judge.step()
    opt_maker.zero_grad()
    if i % 2 == 0:
        made = maker(x * 2)
        loss_maker = F.softplus(-judge(made)).mean()
        loss_maker.backward()
        opt_maker.step()
        record(loss_maker)
    record(loss)
weights(maker)
weights(judge)
""",
    "sum_of_two_losses": """
net = network()
opt = torch.optim.SGD(net.parameters(), lr=0.2)
for x, y in zip(xs, ys):
    out = net(x)
    opt.zero_grad()
    first = (out ** 2).mean()
    first.backward(retain_graph=True)
    second = criterion(out, y)
    second.backward()
    opt.step()
    record(first, second)
weights(net)
""",
}
KEPT = {
    "part_is_trained_and_all_is_clipped": """
net = network()
opt = torch.optim.SGD(net[2].parameters(), lr=0.5)
for x, y in zip(xs, ys):
    net.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.1)
    opt.step()
    record(loss)
weights(net)
""",
    "gradients_of_both_losses_meet": """
maker, judge = network(last=4), network(last=1)
opt_judge = torch.optim.SGD(judge.parameters(), lr=0.1)
opt_maker = torch.optim.SGD(maker.parameters(), lr=0.1)
for x, y in zip(xs, ys):
    opt_judge.zero_grad()
    opt_maker.zero_grad()
    loss = F.softplus(judge(maker(x))).mean()
    loss.backward()
    opt_judge.step()
    loss_maker = F.softplus(-judge(maker(x))).mean()
    loss_maker.backward()
    opt_maker.step()
    record(loss, loss_maker)
weights(maker)
weights(judge)
""",
    "largest_gradient_is_the_norm": """
net = network()
opt = torch.optim.SGD(net.parameters(), lr=0.5)
for x, y in zip(xs, ys):
    opt.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.01, float("inf"))
    opt.step()
    record(loss)
weights(net)
""",
}

EARLY = {  # who looks at the gradients before the backward() finds those of the step before, or none
    "clipped_before_the_backward": """
net = network()
opt = torch.optim.RMSprop(net.parameters(), lr=0.01)
for x, y in zip(xs, ys):
    opt.zero_grad()
    out = net(x)
    loss = criterion(out, y)
    if len(xs) > 1:
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.01)
    loss.backward()
    opt.step()
    record(loss, out)
weights(net)
""",
    "what_was_added_up_is_clipped": """
net = network()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i, (x, y) in enumerate(zip(xs, ys)):
    loss = criterion(net(x), y)
    nn.utils.clip_grad_norm_(net.parameters(), 0.02)
    loss.backward()
    if i % 2:
        opt.step()
        opt.zero_grad()
    record(loss)
weights(net)
""",
    "a_function_of_the_projects_clips_too_early": """
def clip_gradient(optimizer, limit):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.grad.data.clamp_(-limit, limit)

net = network()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in zip(xs, ys):
    loss = criterion(net(x), y)
    clip_gradient(opt, 0.01)
    loss.backward()
    opt.step()
    record(loss)
weights(net)
""",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    return run_both(tmp_path_factory.mktemp("plain"), PLAIN | KEPT | EARLY)


@pytest.mark.parametrize("name", [*PLAIN, *KEPT, *EARLY])
def test_a_step_trains_the_same(name: str, ran: dict[str, Ran]) -> None:
    ran[name].check()


@pytest.mark.parametrize("name", PLAIN)
def test_gradients_go_from_the_loss_to_the_optimizer(name: str, ran: dict[str, Ran]) -> None:
    assert "ms.value_and_grad(forward_fn, None, " in ran[name].code
    assert not re.search(r"ms_compat\.(backward|clear_gradients|apply_gradients)", ran[name].code)


@pytest.mark.parametrize("name", KEPT)
def test_gradients_that_others_see_stay_on_the_parameters(name: str, ran: dict[str, Ran]) -> None:
    assert "ms_compat.backward(" in ran[name].code and "ms_compat.apply_gradients(" in ran[name].code
