"""Members that only one of torch's layer classes has: each gives what torch's gives."""

from __future__ import annotations

from two_frameworks import Both, same

ASKED = """
def asked(m):
    weight, bias = getattr(m, "weight", None), getattr(m, "bias", None)
    shown = [None if each is None else list(each.shape) for each in (weight, bias)]
    learns = [hasattr(m, "weight"), hasattr(m, "bias"), hasattr(m, "reset_parameters")]
    return [*shown, *learns, hasattr(m, "running_mean"), hasattr(m, "in_features"), hasattr(m, "num_embeddings")]

def run():
    layers = [nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.BatchNorm3d(4), nn.ReLU(), nn.Linear(4, 2, bias=False)]
    layers += [nn.LayerNorm(2), nn.GroupNorm(2, 4), nn.Embedding(3, 4), nn.PReLU(), nn.Dropout(0.1), nn.RMSNorm(3)]
    return [asked(m) for m in nn.Sequential(*layers)]
"""
RESET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.conv = nn.Linear(300, 40), nn.Conv2d(40, 40, 3)
        self.rows, self.bag = nn.Embedding(200, 40, padding_idx=0), nn.EmbeddingBag(200, 40)
        self.plain, self.scaled = nn.InstanceNorm2d(50), nn.InstanceNorm2d(50, affine=True)
        self.layer, self.root, self.group = nn.LayerNorm(50), nn.RMSNorm(50), nn.GroupNorm(5, 50)
        self.batch, self.volume = nn.BatchNorm2d(50), nn.BatchNorm3d(50)
        self.slope, self.pair, self.memory = nn.PReLU(30), nn.Bilinear(30, 20, 40), nn.LSTM(30, 40)

def spread(net):
    return [(abs(round(float(p.detach().mean()))), round(float(p.detach().std()), 1)) for p in net.parameters()]

def run():
    net = Net()
    found = []
    for way in ("known", "asked"):
        with torch.no_grad():
            for p in net.parameters():
                p.fill_(7.0)
        if way == "known":
            net.linear.reset_parameters(), net.conv.reset_parameters(), net.rows.reset_parameters()
            net.bag.reset_parameters(), net.plain.reset_parameters(), net.scaled.reset_parameters()
            net.layer.reset_parameters(), net.root.reset_parameters(), net.group.reset_parameters()
            net.batch.reset_parameters(), net.volume.reset_parameters(), net.slope.reset_parameters()
            net.pair.reset_parameters(), net.memory.reset_parameters()
        else:
            for m in net.children():
                if hasattr(m, "reset_parameters"):
                    m.reset_parameters()
        found += spread(net)
    return [*found, float(net.rows.weight[0].detach().abs().sum())]
"""
DRAWN = """
class Even(nn.Linear):
    def reset_parameters(self):
        nn.init.constant_(self.weight, 0.5)
        if self.bias is not None:
            nn.init.constant_(self.bias, 0.25)

class Kernel(nn.Conv2d):
    def reset_parameters(self):
        super().reset_parameters()
        self.weight.data.mul_(0).add_(2)

class Rows(nn.Embedding):
    def reset_parameters(self):
        super().reset_parameters()
        with torch.no_grad():
            self.weight[0].fill_(3.0)

class Norm(nn.BatchNorm2d):
    def reset_parameters(self):
        self.reset_running_stats()
        nn.init.constant_(self.weight, 0.1)

class Memory(nn.GRU):
    def reset_parameters(self):
        for p in self.parameters():
            nn.init.constant_(p, 0.1)

class Scaled(nn.Linear):
    def __init__(self, size, scale=2.0):
        self.scale = scale
        super().__init__(size, size)

    def reset_parameters(self):
        nn.init.constant_(self.weight, self.scale)

class Twice(Scaled):
    def reset_parameters(self):
        super().reset_parameters()
        self.weight.data.mul_(2)

def run():
    made = [Even(2, 3), Kernel(2, 3, 1), Norm(4), Scaled(3), Twice(3, 0.5)]
    found = [float(each.weight.detach().sum()) for each in made]
    return [*found, float(Rows(4, 3).weight[0].detach().sum()), sum(float(p.detach().sum()) for p in Memory(2, 3).parameters())]
"""
CONVOLVED = """
class Standard(nn.Conv2d):
    def forward(self, x):
        return self._conv_forward(x, self.weight - self.weight.mean(dim=1, keepdim=True), self.bias)

class Line(nn.Conv1d):
    def forward(self, x):
        return self._conv_forward(x, self.weight * 2, self.bias)

def run():
    found = []
    for net, x in [
        (Standard(4, 4, 3, stride=2, padding=1, groups=2), X.reshape(1, 4, 3, 2)),
        (Standard(4, 2, 3, padding=1, padding_mode="circular", bias=False), X.reshape(1, 4, 3, 2)),
        (Line(4, 3, 3, padding=2, dilation=2), X.reshape(1, 4, 6)),
    ]:
        with torch.no_grad():
            for p in net.parameters():
                p.copy_(torch.arange(p.numel()).reshape(p.shape).float().sin())
        found.append(plain(net(torch.tensor(x))))
    return found
"""
CONTAINERS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(3, 2)
        self.table.from_pretrained(torch.ones(3, 2))
        self.model = nn.Transformer(4, 2, 1, 1, 8)
        self.mask = self.model.generate_square_subsequent_mask(3)
        self.model._reset_parameters()
        self.body = nn.Sequential(nn.Linear(2, 3))
        self.body.append(nn.ReLU()).append(nn.Linear(3, 2))
        self.body.insert(0, nn.Identity())
        self.parts = nn.ModuleList([nn.ReLU(), nn.Tanh(), nn.Sigmoid()])
        self.last = self.parts.pop(-1)
        self.scales = nn.ParameterDict({"a": nn.Parameter(torch.ones(2)), "b": nn.Parameter(torch.ones(3))})
        self.scales.setdefault("c", nn.Parameter(torch.ones(4)))
        self.key, _ = self.scales.popitem()

def run():
    net = Net()
    kinds = [type(each).__name__ for each in (*net.parts, net.last)]
    return [kinds, len(net.body), list(net.body(torch.ones(1, 2)).shape), net.key, list(net.scales.keys()), plain(net.mask)]
"""


def test_layers_are_asked_by_torchs_names(both: Both) -> None:
    theirs, ours = both(ASKED)
    assert ours == theirs and theirs[1][:5] == [[4], [4], True, True, True]


def test_layers_draw_their_parameters_anew_as_torchs_do(both: Both) -> None:
    theirs, ours = both(RESET)
    assert same(ours, theirs) and (7, 0.0) not in theirs


def test_a_layer_of_ones_own_is_drawn_its_way_when_it_is_built(both: Both) -> None:
    theirs, ours = both(DRAWN)
    assert same(ours, theirs)


def test_a_convolution_takes_another_weight(both: Both) -> None:
    theirs, ours = both(CONVOLVED)
    assert same(ours, theirs)


def test_methods_of_containers_and_of_classes(both: Both) -> None:
    theirs, ours = both(CONTAINERS)
    assert same(ours, theirs)
