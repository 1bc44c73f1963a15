"""numpy's and Python's numbers beside MindSpore's: their streams stay the script's own, and tensors take arithmetic over."""

from __future__ import annotations

from two_frameworks import Both, same

from mindferry import convert_source


def test_a_seed_for_torch_and_new_layers_leave_numpys_and_pythons_numbers_alone(both: Both) -> None:
    theirs, ours = both("""
import random
from torch.utils.data import DataLoader, TensorDataset


def run():
    random.seed(5)
    np.random.seed(6)
    found = [random.random(), np.random.rand()]
    torch.manual_seed(7)
    net = nn.Sequential(nn.Linear(6, 3), nn.LSTM(3, 2))
    nn.init.normal_(net[0].weight)
    loader = DataLoader(TensorDataset(torch.from_numpy(X)), batch_size=2, shuffle=True)
    count = sum(len(rows) for epoch in range(2) for rows, in loader)
    torch.randperm(4), torch.rand(2), torch.multinomial(torch.ones(3), 2)
    found += [random.random(), np.random.rand(), np.random.permutation(9).tolist(), random.sample(range(9), 4)]
    return found + [count]
""")
    assert same(ours, theirs)


def test_the_same_seed_gives_the_same_layers_and_order_again(both: Both) -> None:
    _, ours = both("""
from torch.utils.data import DataLoader


def made(seed):
    torch.manual_seed(seed)
    np.random.rand()
    net = nn.Linear(6, 3)
    order = [int(x) for epoch in range(2) for x in DataLoader(list(range(30)), batch_size=None, shuffle=True)]
    return plain(net.weight), plain(torch.randperm(20)), order


def run():
    first, second, other = made(3), made(3), made(4)
    return first == second, first != other
""")
    assert ours == (True, True)


def test_a_script_that_draws_no_numbers_of_its_own_is_seeded_natively() -> None:
    code = convert_source("import random\nimport torch\nrandom.seed(1)\ntorch.manual_seed(1)\n").code
    assert "ms.set_seed(1)" in code and "manual_seed" not in code


def test_a_gradient_passes_numbers_of_numpys_on_the_left(both: Both) -> None:
    theirs, ours = both("""
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = np.sqrt(width)
        self.weight = nn.Parameter(torch.from_numpy(X.copy()))

    def forward(self, x, share):
        return (share * (x * self.weight).mean() + (1 - share) * (np.float32(0.5) - self.weight).pow(2).mean()
                + self.scale * self.weight.sum() / np.sqrt(3) + (np.sqrt(2.0) * self.weight).abs().sum())


def run():
    net, found = Net(6), []
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for share in np.random.default_rng(1).beta(1.0, 1.0, 3):
        optimizer.zero_grad()
        loss = net(torch.from_numpy(X), share)
        loss = share * loss + np.int64(2) * net.weight.sum()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found, plain(net.weight)


if __name__ == "__main__":
    run()
""")
    assert same(ours, theirs)


def test_a_gradient_passes_them_in_a_module_that_nobody_prepared(both: Both) -> None:
    theirs, ours = both("""
class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale, self.weight = np.sqrt(width), nn.Parameter(torch.from_numpy(X.copy()))

    def forward(self, x):
        return (np.float32(0.5) - self.weight).pow(2).mean() + self.scale * (self.weight * x).sum() / np.sqrt(3)


def run():
    net = Net(6)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = net(torch.from_numpy(X))
    loss.backward()
    optimizer.step()
    return loss.item(), plain(net.weight)
""")
    assert same(ours, theirs)


def test_numbers_of_numpys_are_compared_by_value(both: Both) -> None:
    theirs, ours = both("""
def counted(labels, kinds):
    return [(labels == kind).sum().item() for kind in kinds] + [(labels != kind).sum().item() for kind in kinds]


def run():
    labels = torch.tensor([0, 2, 1, 2, 0, 2])
    first = labels[0] == np.int64(0)
    return counted(labels, np.unique(np.array([0, 1, 2]))), plain(np.float32(1.5) > labels), bool(first)


if __name__ == "__main__":
    run()
""")
    assert same(ours, theirs)


def test_numbers_of_numpys_begin_and_end_slices(both: Both) -> None:
    theirs, ours = both("""
def box(size, share):
    height, width = size[0], size[1]
    cut = int(width * np.sqrt(1.0 - share))
    middle = np.random.default_rng(2).integers(width)
    return np.clip(middle - cut // 2, 0, width), np.clip(middle + cut // 2, 0, width)


def run():
    images = torch.from_numpy(X.copy())
    left, right = box(images.size(), 0.5)
    order = torch.as_tensor(np.random.default_rng(2).permutation(4))
    mixed = images.clone()
    mixed[:, left:right] = images[order, left:right]
    return plain(mixed), plain(images[: np.argmax(X[:, 0]) + 1]), plain(mixed[:, left])
""")
    assert same(ours, theirs)
