"""What the lifted computation of a loss takes and leaves: lists that it appends to, and averaged weights beside it."""

from __future__ import annotations

from two_frameworks import Both, same


def test_a_list_may_grow_while_the_loss_is_computed(both: Both) -> None:
    theirs, ours = both("""
def run():
    net = nn.Linear(6, 1)
    nn.init.constant_(net.weight, 0.1)
    nn.init.zeros_(net.bias)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    fractions, losses = [], []
    for start in range(0, 4, 2):
        places = np.arange(4)[start : start + 2]
        out = net(torch.from_numpy(X)[places])
        with torch.no_grad():
            fractions += [(out > 0).float().mean().item()]
        loss = (out ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
    return losses, fractions
""")
    assert same(ours, theirs)


def test_the_rate_of_averaged_weights_is_a_scheduler(both: Both) -> None:
    theirs, ours = both("""
from torch.optim.swa_utils import AveragedModel, SWALR


def run():
    net = nn.Linear(6, 1)
    nn.init.constant_(net.weight, 0.1)
    nn.init.zeros_(net.bias)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    average, scheduler = AveragedModel(net), SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
    x, losses = torch.from_numpy(X), []
    for step in range(4):
        optimizer.zero_grad()
        loss = (net(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        if step >= 1:
            average.update_parameters(net)
            scheduler.step()
        losses.append(loss.item())
    return losses, optimizer.param_groups[0]["lr"], plain(average(x).sum())
""")
    assert same(ours, theirs)
