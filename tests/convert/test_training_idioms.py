"""Lines as training scripts have them: pairs made without gradients, texts put together, Python's types, a step of one's own."""

from __future__ import annotations

from two_frameworks import Both, same

from mindferry import convert_source


def test_pairs_made_without_gradients_are_cut_off_one_by_one(both: Both) -> None:
    theirs, ours = both("""
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.online = nn.Parameter(torch.from_numpy(X.copy()))
        self.target = nn.Parameter(torch.from_numpy(X[::-1].copy()))

    def forward(self, a, b):
        with torch.no_grad():
            ta, tb = self.target * a, self.target * b
            kept = tc = self.target * (a + b)
        return ((self.online * a - tb) ** 2 + (self.online * b - ta) ** 2 + kept * tc * self.online).mean()


def run():
    net = Pair()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    loss = net(torch.from_numpy(X), torch.from_numpy(X * 2 + 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item(), plain(net.online), plain(net.target)
""")
    assert same(ours, theirs)


def test_a_text_in_parentheses_is_formatted(both: Both) -> None:
    theirs, ours = both("""
class Meter:
    def __init__(self, name, fmt=":f"):
        self.name, self.fmt, self.val, self.avg = name, fmt, 0, 0

    def update(self, value):
        self.val = value
        self.avg = value / 2

    def __str__(self):
        return ("{name} {val" + self.fmt + "} ({avg" + self.fmt + "})").format(**self.__dict__)


def run():
    meter = Meter("loss", ":.3f")
    meter.update(torch.from_numpy(X).abs().sum())
    return str(meter)
""")
    assert ours == theirs


def test_types_of_python_stand_for_those_of_tensors(both: Both) -> None:
    theirs, ours = both("""
def run():
    mask = torch.ones((3, 3), dtype=bool)
    mask = mask.fill_diagonal_(0)
    mask[0, 1] = 0
    x = torch.from_numpy(X)
    found = [mask, x.to(int), torch.zeros(2, dtype=float), (x > 0).to(float), torch.tensor([1, 0], dtype=bool), x[:3, :3][mask]]
    return [plain(each) for each in found] + [str(each.dtype).split(".")[-1].lower() for each in found]
""")
    assert same(ours, theirs)


def test_a_step_of_the_trainers_own_that_only_computes_is_part_of_the_loss(both: Both) -> None:
    theirs, ours = both("""
class Trainer:
    def __init__(self):
        self.net = nn.Linear(6, 1)
        with torch.no_grad():
            self.net.weight.copy_(torch.from_numpy(X[:1]))
            self.net.bias.fill_(0.5)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.criterion = nn.MSELoss()

    def step(self, batch):
        pred = self.net(batch["x"]).squeeze(-1)
        return self.criterion(pred, batch["y"]), pred

    def fit(self, batches):
        losses = []
        for batch in batches:
            loss, _ = self.step(batch)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        return losses


def run():
    trainer = Trainer()
    batch = {"x": torch.from_numpy(X), "y": torch.from_numpy(X[:, 0].copy())}
    return trainer.fit([batch] * 3), plain(trainer.net.weight)
""")
    assert same(ours, theirs)


def test_a_state_dict_has_torchs_order(both: Both) -> None:
    theirs, ours = both("""
def run():
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 2)))
    return [key for key in net.state_dict() if not key.endswith("num_batches_tracked")]
""")
    assert ours == theirs


def test_a_gradient_penalty_reaches_the_layers_behind_a_reshape(both: Both) -> None:
    theirs, ours = both("""
class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Conv2d(1, 2, 2), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(10, 4), nn.Tanh(), nn.Linear(4, 1))

    def forward(self, x):
        return self.model(x)


def penalty(critic, real, fake):
    share = torch.from_numpy(np.random.default_rng(4).random((2, 1, 1, 1)).astype("float32"))
    mixed = (share * real + (1 - share) * fake).requires_grad_(True)
    scores = critic(mixed)
    ones = torch.ones(scores.size())
    found = torch.autograd.grad(outputs=scores, inputs=mixed, grad_outputs=ones, create_graph=True, retain_graph=True)[0]
    return ((found.view(found.size(0), -1).norm(2, dim=1) - 1) ** 2).mean()


def run():
    critic, losses = Critic(), []
    for place, p in enumerate(critic.parameters()):
        p.data = torch.sin(torch.arange(p.numel()).float() + place).reshape(p.shape) * 0.5
    optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
    real, fake = torch.from_numpy(X.reshape(2, 1, 2, 6)), torch.from_numpy(X[::-1].copy().reshape(2, 1, 2, 6))
    for _ in range(3):
        optimizer.zero_grad()
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(critic, real, fake)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [plain(p) for p in critic.parameters()]
""")
    assert same(ours, theirs)


def test_a_collate_function_that_numpy_cannot_express_gets_tensors(both: Both) -> None:
    theirs, ours = both("""
import torch.nn.functional as F
from functools import partial
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 5

    def __getitem__(self, i):
        return {"ids": torch.arange(i + 1), "x": torch.tensor(X[0, : i + 1]), "y": i % 2}


def padded(batch, value):
    longest = max(row["ids"].size(0) for row in batch)
    ids = torch.stack([F.pad(row["ids"], (0, longest - row["ids"].size(0)), value=value) for row in batch])
    return ids, torch.tensor([row["x"].norm() for row in batch]), torch.as_tensor([row["y"] for row in batch])


def filled(batch):
    ids = torch.full((len(batch), 6), -1, dtype=torch.long)
    for place, row in enumerate(batch):
        ids[place, : len(row["ids"])] = row["ids"]
    return ids, torch.full((2,), 0.5)


def run():
    found = [each for each in DataLoader(Rows(), batch_size=2, collate_fn=partial(padded, value=7), num_workers=2)]
    found += [each for each in DataLoader(Rows(), batch_size=3, collate_fn=filled)]
    return [[plain(part) for part in each] for each in found]
""")
    assert same(ours, theirs)


def test_what_a_dataset_gives_elsewhere_is_tensors(both: Both) -> None:
    theirs, ours = both("""
from torch.utils.data import DataLoader, Dataset, TensorDataset


class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        if i >= 4:
            raise IndexError
        return torch.tensor(X[i]), i


class Plain(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return X[i], i


def run():
    rows, plainly = Rows(), Plain()
    x, y = rows[2]
    first = TensorDataset(torch.from_numpy(X), torch.arange(4))[1][0].unsqueeze(0)
    found = [x.unsqueeze(0), rows[1][0].view(2, 3).t(), first] + [each.unsqueeze(1) for each, _ in rows]
    found += [each.unsqueeze(-1) * place for place, (each, _) in enumerate(rows)]
    pairs = TensorDataset(torch.from_numpy(X), torch.arange(4))
    found += [torch.stack(column) for column in zip(*[pairs[i] for i in range(3)])]
    return [plain(each) for each in found], y, type(plainly[0][0]).__name__
""")
    assert same(ours, theirs)


def test_numbers_in_data_code_have_torchs_precision(both: Both) -> None:
    theirs, ours = both("""
from torch.utils.data import DataLoader, Dataset


class Points(Dataset):
    def __init__(self):
        self.targets = torch.from_numpy(np.arange(4) % 3)
        self.x = torch.from_numpy(X) + self.targets[:, None] * 0.5
        self.images = torch.from_numpy((np.abs(X) * 60).astype("uint8"))

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return self.x[i], self.images[i] / 255, self.targets[i] * 2


def run():
    points = Points()
    batch = next(iter(DataLoader(points, batch_size=3)))
    found = [*batch, points.x.unsqueeze(0) * 2, points.targets.clone()]
    return [plain(each) for each in found], [str(each.dtype).split(".")[-1].lower() for each in found]
""")
    assert same(ours, theirs)


def test_gradients_are_scaled_through_their_data(both: Both) -> None:
    theirs, ours = both("""
def run():
    net = nn.Linear(6, 2)
    nn.init.constant_(net.weight, 0.1)
    nn.init.zeros_(net.bias)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    for _ in range(2):
        loss = net(torch.from_numpy(X)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        for p in net.parameters():
            p.grad.data *= 1.0 / 4
            p.grad.data = p.grad.data + 0.01
            p.grad.data.clamp_(-0.2, 0.2)
        optimizer.step()
    return plain(net.weight), plain(net.bias)
""")
    assert same(ours, theirs)


def test_a_teacher_that_is_left_out_gives_no_parameters(both: Both) -> None:
    theirs, ours = both("""
class Net(nn.Module):
    def __init__(self, seed):
        super().__init__()
        self.table, self.fc = nn.Embedding(5, 6), nn.Linear(6, 2)
        self.apply(self.fill)

    def fill(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            with torch.no_grad():
                m.weight.copy_(torch.cos(torch.arange(m.weight.numel()).float()).reshape(m.weight.shape))
            if isinstance(m, nn.Linear) and m.bias is not None:
                nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.fc(self.table(x))


def run_epoch(model, batches, opt=None, teacher=None, critic=None):
    found = []
    for x, y in batches:
        out = model(x)
        loss = nn.functional.cross_entropy(out, y)
        if teacher is not None:
            with torch.no_grad():
                soft = teacher(x)
            loss = loss + (out - soft).pow(2).mean()
        if critic is not None:
            loss = loss + critic(out).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        found.append(loss.item())
    return found


def run():
    batches = [(torch.arange(5), torch.tensor([0, 1, 1, 0, 1]))] * 2
    net, teacher = Net(0), Net(1)
    opt = torch.optim.SGD(net.parameters(), lr=0.2)
    return run_epoch(net, batches, opt) + run_epoch(net, batches, opt, teacher), plain(net.fc.weight)
""")
    assert same(ours, theirs)


def test_what_is_differentiated_may_write_to_its_inputs(both: Both) -> None:
    """MindSpore refuses to change an input of the function that value_and_grad takes."""
    theirs, ours = both("""
class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 1)

    def forward(self, x):
        x[:, 0] = 0
        x[x > 1] = 1
        return self.fc(x)


def mix(net, x, y):
    x[0] *= 0.5
    y.mul_(2.0)
    return ((net(x) - y) ** 2).mean()


def run():
    net, found = Masked(), []
    with torch.no_grad():
        net.fc.weight.copy_(torch.from_numpy(X[:1]))
        net.fc.bias.fill_(0.5)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    criterion = nn.MSELoss()
    for k in (1.0, 2.0):
        x, y = torch.from_numpy(X * k), torch.from_numpy(X[:, :1] * k)
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
        found += [loss.item(), plain(x)]
    for k in (1.0, 2.0):
        x, y = torch.from_numpy(X * k), torch.from_numpy(X[:, :1] * k)
        loss = mix(net, x, y)
        loss.backward()
        found += [loss.item()]
    optimizer.step()
    return found + [plain(net.fc.weight), plain(net.fc.bias)]
""")
    assert same(ours, theirs)


def test_a_target_that_is_chosen_by_a_setting_carries_no_graph(both: Both) -> None:
    theirs, ours = both("""
class Noise:
    def __init__(self, kind):
        self.kind = kind

    def velocity(self, x, noise):
        return noise * 0.5 - x


def train(kind):
    net, frozen, noise, found = nn.Linear(6, 6), nn.Linear(6, 6), Noise(kind), []
    with torch.no_grad():
        for layer in (net, frozen):
            layer.weight.copy_(torch.from_numpy(X[:1]).expand(6, 6) * 0.1)
            layer.bias.fill_(0.5)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for k in (1.0, 2.0):
        x = frozen(torch.from_numpy(X * k))
        if noise.kind == "epsilon":
            target = torch.ones_like(x)
        elif noise.kind == "velocity":
            target = noise.velocity(x, torch.ones_like(x))
        if kind == "epsilon":
            scale = x.mean()
        elif kind == "velocity":
            scale = x.sum()
        else:
            raise ValueError(kind)
        loss = ((net(x) - target) ** 2 * scale).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        found.append(loss.item())
    return found


def run():
    return train("epsilon") + train("velocity")
""")
    assert same(ours, theirs)


def test_a_state_that_goes_on_where_a_setting_says_so_carries_a_graph() -> None:
    conversion = convert_source("""
import torch
from torch import nn

def train(net, cell, data, fresh):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    h = torch.zeros(2, 3)
    for x in data:
        if fresh:
            h = cell(x, h)
        loss = net(h).mean()
        loss.backward()
        optimizer.step()
""")
    assert any("carries the graph of earlier iterations" in each.message for each in conversion.findings)


def test_parameters_that_a_dictionary_is_kept_by_are_changed(both: Both) -> None:
    theirs, ours = both("""
def run():
    net = nn.Linear(6, 2)
    nn.init.constant_(net.weight, 0.1)
    nn.init.zeros_(net.bias)
    before, moved = {}, {p: torch.ones_like(p) for p in net.parameters()}
    with torch.no_grad():
        for number, p in enumerate(net.parameters()):
            before[p] = p * number + 1
        for p, value in before.items():
            p.sub_(value)
            p.mul_(2).add_(value)
        for p in moved.keys():
            p.add_(3)
        for p, value in moved.items():
            p -= 0.5 * value
    return plain(net.weight), plain(net.bias), [len(moved), sorted({"b": 1, "a": 2}.keys())]
""")
    assert same(ours, theirs)


def test_a_counter_called_step_updates_no_parameter(both: Both) -> None:
    theirs, ours = both("""
@dataclass
class State:
    net: nn.Module
    optimizer: Any
    step: int = 0

    def scale(self):
        return 1 + self.step


def run():
    net = nn.Linear(6, 2)
    nn.init.constant_(net.weight, 0.1)
    nn.init.zeros_(net.bias)
    state, losses = State(net, torch.optim.SGD(net.parameters(), lr=0.1)), []
    while state.step < 3:
        state.optimizer.zero_grad()
        out = state.net(torch.from_numpy(X) * (1 + state.step)) * state.scale()
        loss = out.pow(2).mean()
        loss.backward()
        state.optimizer.step()
        losses.append(loss.item())
        state.step += 1
    return losses, plain(net.weight)
""")
    assert same(ours, theirs)


def test_a_loss_that_no_step_follows_is_not_the_earlier_optimizers(both: Both) -> None:
    theirs, ours = both("""
def run():
    net, held = nn.Linear(6, 2), Holder(nn.Linear(6, 1))
    for each in (net, held.value):
        nn.init.constant_(each.weight, 0.1)
        nn.init.zeros_(each.bias)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(2):
        optimizer.zero_grad()
        loss = net(torch.from_numpy(X) + step).pow(2).mean()
        loss.backward()
        optimizer.step()
    other = held.value
    found = other(torch.from_numpy(X)).pow(2).sum()
    found.backward()
    return plain(net.weight), plain(other.weight.grad), found.item()
""")
    assert same(ours, theirs)


def test_what_a_step_made_can_be_deleted_and_a_network_has_several_names(both: Both) -> None:
    theirs, ours = both("""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.from_numpy(X.copy()))

    def forward(self, x):
        return self.w * x


def run():
    x, seen = torch.from_numpy(X * 2), []
    model = Net().to(torch.device("cpu"))
    wrapped = model
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.5)
    optimizer.zero_grad()
    outputs = wrapped(x)
    target = x + 1
    nn.functional.mse_loss(outputs, target).backward()
    optimizer.step()
    for _ in range(2):
        before = wrapped(x)
        with torch.autograd.set_detect_anomaly(False):
            after = before * 2
            loss = (after - target).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        seen.append(loss.item())
        del loss, after
    del before
    return seen, plain(model.w)
""")
    assert same(ours, theirs)
