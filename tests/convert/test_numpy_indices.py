"""Indices that torch takes and MindSpore doesn't: numpy's arrays and numbers, single places with gradients, leading ones."""

from __future__ import annotations

from two_frameworks import Both, same


def test_arrays_and_numbers_of_numpy_index_a_tensor(both: Both) -> None:
    theirs, ours = both("""
def sample(x, places):
    return x[places]


class Store:
    def __init__(self):
        self.rows = torch.arange(8).view(4, 2)

    def take(self, places):
        return self.rows[places]


def run():
    x, order = torch.from_numpy(X.copy()), np.random.default_rng(0).permutation(4)
    mask = X[:, 0] > 0
    found = [x[order], x[order[:2]], x[mask], x[mask, 1], x[:, np.array([0, 2])], sample(x, order[1:]), sample(X, order).tolist()]
    found += [x[i] for i in order] + [Store().take(np.array([1, 3]))]
    places, first = np.where(X > 0), (order[:2], np.array([0, 1]))
    found += [x[places], x[np.nonzero(X > 0)], x[first]]
    y = torch.zeros(4, 6)
    y[np.where(X[:, :6] > 1)] = 3.0
    y[order[:2]] = 1.0
    y[mask] += x[mask]
    y[order[0], 1] = 7.0
    return [plain(each) for each in [*found, y]]
""")
    assert same(ours, theirs)


def test_an_annotation_that_the_calls_do_not_keep_to_is_no_proof(both: Both) -> None:
    """`timestep: int` that is one of numpy's numbers, `sigmas: np.ndarray` that is a tensor: so diffusers' schedules are called."""
    theirs, ours = both("""
class Schedule:
    def __init__(self):
        self.sigmas = torch.linspace(0.5, 3.0, 6)
        self.steps = np.arange(0, 6, 2)[::-1].copy()

    def at(self, timestep: int):
        return self.sigmas[timestep]

    def place(self, sigma: np.ndarray, sigmas: np.ndarray) -> np.ndarray:
        low = np.cumsum(np.asarray(sigmas) <= float(sigma)).argmax()
        found = sigmas[low]
        return found

    def run(self):
        sigmas = self.sigmas.cpu()
        return [self.at(step) for step in self.steps] + [self.at(1)] + [self.place(each, sigmas) for each in sigmas]


def run():
    return [plain(each) for each in Schedule().run()]
""")
    assert same(ours, theirs)


def test_an_argument_that_may_be_numpy_s_is_asked_when_it_indexes_a_tensor(both: Both) -> None:
    theirs, ours = both("""
class Schedule:
    def __init__(self, places):
        self.rates = torch.linspace(1.0, 0.0, 4)
        self.places = places

    def at(self, place):
        return self.rates[place]

    def put(self, place, value):
        self.rates[place] = value


def run():
    found = []
    for places in (np.arange(4)[::-1].copy(), [3, 1], torch.tensor([2, 0])):
        schedule = Schedule(places)
        for place in schedule.places:
            schedule.put(place, 2.0)
            found += [schedule.at(place), schedule.rates.clone()]
    return [plain(each) for each in found]
""")
    assert same(ours, theirs)


def test_numbers_of_numpy_end_a_slice(both: Both) -> None:
    theirs, ours = both("""
def split(x, lengths):
    ends = np.cumsum([0] + lengths)
    return [x[:, start:end] for start, end in zip(ends[:-1], ends[1:])]


def run():
    x = torch.from_numpy(X.copy())
    half = np.array([2, 4])
    return [plain(each) for each in [*split(x, [1, 2, 3]), x[half[0] :], x[:, : half[1] - 1 : half[0]]]]
""")
    assert same(ours, theirs)


def test_what_only_numpy_takes_stays_numpy_s(both: Both) -> None:
    theirs, ours = both("""
def to_tensor(image):
    if image.ndim == 2:
        image = image[:, :, None]
    image = torch.from_numpy(image.transpose(2, 0, 1)).float()
    return image.transpose(0, 1)


def run():
    return plain(to_tensor(X.copy()))
""")
    assert same(ours, theirs)


def test_an_index_of_single_places_has_a_gradient(both: Both) -> None:
    theirs, ours = both("""
class Chain(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.from_numpy(X.copy()))

    def forward(self, tags, last):
        score = torch.zeros(1)
        for i in range(2):
            score = score + self.table[tags[i + 1], tags[i]] ** 2
        for a, b in zip(tags[1:], tags):
            score = score + self.table[a, b] * self.table[-1, b]
        whole = self.table[tags, torch.arange(3)].sum()
        return score + 3 * self.table[2, last] + self.table[last, tags[-1]] + whole


def run():
    net = Chain()
    tags, last = torch.tensor([1, 3, 0]), torch.tensor(2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    optimizer.zero_grad()
    loss = net(tags, last).sum()
    loss.backward()
    optimizer.step()
    return plain(net.table), loss.item()
""")
    assert same(ours, theirs)


def test_the_leading_ones_of_what_is_assigned_are_dropped(both: Both) -> None:
    theirs, ours = both("""
def run():
    x = torch.from_numpy(X.copy())
    first = x[0].reshape(1, -1)
    later = first * 2 + 1
    y = torch.zeros(4, 6)
    for t in reversed(range(3)):
        y[t] = kept = later + t
    y[3, 2:] = x[1, 2:].unsqueeze(0)
    y[:, 0] = x[None, :, 1]
    z = torch.zeros(3, 2)
    z[1] = torch.ones(2)
    return plain(y), plain(kept.sum()), plain(z)
""")
    assert same(ours, theirs)


def test_a_tensor_that_has_two_names_changes_under_both(both: Both) -> None:
    theirs, ours = both("""
def doubled(x):
    h = x * 2
    out = h
    out += 1
    return h + out


def run():
    z = torch.zeros(2, 3)
    b = z
    b += 1
    c = z
    c.mul_(3)
    total = torch.zeros(2)
    seen = total
    for i in range(4):
        total += i
    return plain(z), z is b, plain(seen), plain(doubled(torch.ones(2)))
""")
    assert same(ours, theirs)
