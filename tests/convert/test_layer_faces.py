"""torch's faces on layers that nothing tells the class of: weight, in_features, children, forward as a value."""

from __future__ import annotations

import pytest
from two_frameworks import Both, same

from mindferry import convert_source

FACES = {
    "sizes of a layer inside another": """
class Net(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.fc = nn.Linear(backbone.fc.in_features, 3)
        self.body = nn.Sequential(*list(self.backbone.children())[:-1])
    def forward(self, x):
        return x

class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(6)
        self.emb = nn.Embedding(5, 4)
        self.fc = nn.Linear(6, 2)

def run():
    net = Net(Inner())
    layers = list(net.backbone.children())
    return [net.fc.in_features, len(net.body), layers[-1].in_features, layers[-1].out_features, layers[1].num_embeddings,
            layers[1].embedding_dim, list(layers[0].weight.size()), list(layers[1].weight.shape)]
""",
    "layers that are put into networks from outside": """
from collections import OrderedDict
from functools import reduce

def lin(k):
    m = nn.Linear(6, 6)
    with torch.no_grad():
        m.weight.copy_(torch.sin(torch.arange(36) * k).view(6, 6))
        m.bias.zero_()
    return m

class Scaled(nn.Module):
    def __init__(self, inner, s):
        super().__init__()
        self.inner, self.s = inner, s
    def forward(self, x):
        return self.inner(x) * self.s

class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(OrderedDict([("fc", lin(0.3)), ("act", nn.Tanh())]))
        self.blocks = nn.ModuleList([nn.Sequential(lin(0.5 + i), nn.ReLU()) for i in range(2)])
        self.register_buffer("shift", torch.ones(6))
    def forward(self, x):
        x = self.stem(x) + self.shift
        for b in self.blocks:
            x = x + b(x)
        return x

def by_modules(m):
    m.stem._modules["fc"] = Scaled(m.stem._modules["fc"], 2.0)

def by_attribute(m):
    m.stem.fc = Scaled(m.stem.fc, 3.0)

def by_path(m):
    for name, mod in list(m.named_modules()):
        if isinstance(mod, nn.Linear):
            *path, last = name.split(".")
            setattr(reduce(getattr, path, m), last, Scaled(mod, 1.5))

def by_submodule(m):
    parent = m.get_submodule("blocks.1")
    setattr(parent, "0", Scaled(getattr(parent, "0"), 0.5))

def by_children(m):
    for name, child in m.named_children():
        if isinstance(child, nn.Linear):
            setattr(m, name, Scaled(child, 0.1))
        else:
            by_children(child)

def run():
    found = []
    for change in (by_modules, by_attribute, by_path, by_submodule, by_children):
        net = Body()
        change(net)
        found += [plain(net(torch.tensor(X))), list(net.state_dict()), len(net._buffers)]
    return found
""",
    "parameters by name": """
def describe(parts):
    held = parts["a"]
    return [plain(held.bn.weight), plain(held.bn.running_mean), plain(held.bn.bias), held.fc.bias is None]

def init(m):
    for each in m.found:
        nn.init.constant_(each.weight, 2.0)
        if each.bias is not None:
            nn.init.zeros_(each.bias)

class Held:
    pass

def run():
    held = Held()
    held.bn, held.fc = nn.BatchNorm1d(3), nn.Linear(3, 2, bias=False)
    held.found = [held.bn, held.fc, nn.LayerNorm(2)]
    init(held)
    return [*describe({"a": held}), plain(held.found[2].weight), plain(held.fc.weight)]
""",
    "a family of layers": """
def init(m):
    if isinstance(m, nn.modules.batchnorm._BatchNorm):
        m.weight.data.fill_(2)
        m.bias.data.zero_()
        m.running_var.fill_(3)
    elif isinstance(m, nn.modules.conv._ConvNd):
        nn.init.constant_(m.weight, 0.5)

def run():
    net = nn.Sequential(nn.Conv2d(1, 2, 3, bias=False), nn.BatchNorm2d(2), nn.Flatten(), nn.BatchNorm1d(2))
    net.apply(init)
    return [plain(net[0].weight), plain(net[1].weight), plain(net[3].bias), plain(net[1].running_var)]
""",
    "a bias that goes": """
class Held:
    pass

def run():
    net, held = nn.Module(), Held()
    net.norm, net.fc = nn.LayerNorm(4), nn.Linear(4, 4)
    net.norm.bias = None
    held.fc = nn.Linear(6, 2)
    held.fc.bias = None
    x = torch.tensor(X)
    return [plain(net.norm(x[:, :4])), plain(held.fc(x) @ torch.zeros(2, 2))]
""",
    "weights tied by name": """
class Held:
    pass

def run():
    held = Held()
    held.emb, held.head = nn.Embedding(5, 6), nn.Linear(6, 5, bias=False)
    held.head.weight = held.emb.weight
    x = torch.tensor(X)
    return [plain(held.head(x) - x @ held.emb.weight.t())]
""",
    "a class decorator": """
def doubled(cls):
    original = cls.forward
    def forward(self, *args):
        return original(self, *args) * 2
    cls.forward = forward
    return cls

@doubled
class Net(nn.Module):
    def forward(self, x):
        return x + 1

def run():
    net = Net()
    before = Net.forward
    return [plain(net(torch.tensor(X))), plain(before(net, torch.tensor(X))), plain({"n": net}["n"].forward(torch.tensor(X)))]
""",
    "a one-dimensional convolution's weight": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 4, 3, groups=4, bias=False)
        nn.init.constant_(self.conv.weight, 0.5)
    def forward(self, x):
        kernel = self.conv.weight.squeeze(1)
        return x[:, :3] * kernel, list(self.conv.weight.shape), (self.conv.weight * 2).sum()

def run():
    return plain(Net()(torch.tensor(X)))
""",
    "a loss of logits that are masked": """
import torch.nn.functional as F

def run():
    x = torch.tensor(X)
    x = x.masked_fill(torch.eye(4, 6).bool(), float("-inf"))
    goal = torch.tensor([1, 2, 3, 0])
    return [plain(F.cross_entropy(x, goal)), plain(F.nll_loss(x.log_softmax(1), goal, reduction="none"))]
""",
    "the device of a mixin": """
class Placed:
    @property
    def device(self):
        return next(self.parameters()).device

class Net(Placed, nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

def run():
    net = Net()
    return [net.device.type, net.device.index is None, {"n": net}["n"].device.type == "cpu"]
""",
    "settings that are read": """
def told(m):
    name = m.__class__.__name__
    if name.startswith("BatchNorm"):
        return [m.affine, m.track_running_stats, m.num_features]
    if name == "Conv2d":
        return [list(m.padding), m.padding_mode, list(m.kernel_size), m.groups]
    return [m.padding, m.ceil_mode] if name == "MaxPool2d" else []

def again(m):
    if isinstance(m, nn.Conv2d):
        return nn.Conv2d(m.in_channels, 2, m.kernel_size, m.stride, m.padding, m.dilation, bias=m.bias is not None)
    if isinstance(m, nn.BatchNorm2d):
        return nn.BatchNorm2d(2, eps=m.eps, affine=m.affine, track_running_stats=m.track_running_stats)
    if isinstance(m, nn.LayerNorm):
        assert m.elementwise_affine
    return m

def run():
    parts = [nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(3, 4, (3, 5), (1, 2), (1, 2), bias=False), nn.BatchNorm2d(4),
             nn.BatchNorm2d(4, affine=False), nn.MaxPool2d(3, 2), nn.MaxPool2d(3, 2, 1), nn.LayerNorm(4)]
    x = torch.ones(2, 3, 8, 8)
    return [told(m) for m in parts] + [list(again(parts[1])(x).shape), list(again(parts[0])(x).shape), told(again(parts[3]))]
""",
    "scales and shifts that torch doesn't have": """
def run():
    net = nn.Sequential(nn.BatchNorm2d(4, affine=False), nn.LayerNorm(3, elementwise_affine=False), nn.GroupNorm(2, 4, affine=False),
                        nn.LayerNorm(3, bias=False), nn.BatchNorm2d(4), nn.BatchNorm1d(3, affine=False))
    for p in net.parameters():
        p.requires_grad = True
    with torch.no_grad():
        for _, p in sorted(net.named_parameters()):
            p.copy_(torch.full_like(p, 3.0))
    held = {"net": net}["net"]
    return [sorted(name for name, _ in net.named_parameters()), sum(p.numel() for p in net.parameters()),
            [held[i].weight is None for i in (0, 1, 4)], held[3].bias is None, plain(net[0].eval()(torch.ones(2, 4, 2, 2)))]
""",
    "an embedding's weight that is computed": """
def run():
    table = nn.utils.spectral_norm(nn.Embedding(5, 3))
    with torch.no_grad():
        table.weight_orig.copy_(torch.arange(15.0).reshape(5, 3))
    again = nn.utils.weight_norm(nn.Embedding(5, 3))
    rows = table(torch.tensor([0, 4]))
    return [sorted(name for name, _ in table.named_parameters()), sorted(name for name, _ in again.named_parameters()),
            plain(rows / rows[1, 2]), list(again(torch.tensor([1])).shape)]
""",
    "settings of layers that a loop meets": """
def run():
    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.BatchNorm3d(4), nn.LayerNorm(4), nn.LeakyReLU(0.2),
                        nn.AdaptiveAvgPool2d((2, 3)), nn.MaxPool2d(2), nn.Embedding(3, 2))
    found = []
    for name, child in net.named_children():
        if isinstance(child, nn.Conv2d):
            found += [child.padding, child.padding_mode, child.transposed]
        if isinstance(child, (nn.BatchNorm2d, nn.BatchNorm3d)):
            found += [child.affine, child.track_running_stats]
        for setting in (lambda: child.eps, lambda: child.negative_slope, lambda: list(child.output_size)):
            try:
                found.append(setting())
            except AttributeError:
                found.append(None)
    norm, loss, pool, table = nn.BatchNorm3d(4), nn.MSELoss(reduction="sum"), nn.MaxPool2d(2), nn.Embedding(3, 2)
    return [*found, norm.num_features, loss.reduction, pool.ceil_mode, table.max_norm, table.sparse]
""",
    "layers that are replaced inside a sequence": """
class Doubled(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


class Pool(nn.AdaptiveAvgPool2d):
    def forward(self, x):
        return super().forward(x) * sum(self.output_size)


def replace(module):
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            new = Doubled(child.in_features, child.out_features)
            new.weight.data = child.weight.data.clone()
            new.bias.data = child.bias.data.clone()
            module._modules[name] = new


def backwards(net):
    held = net._modules
    same = [each is held[name] for (name, each), _ in zip(reversed(held.items()), reversed(held.values()))]
    return [list(reversed(held)), same]


def run():
    act = nn.Tanh()
    net = nn.Sequential(nn.Linear(6, 6), act, nn.Linear(6, 6), act)
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.linspace(-1, 1, p.numel()).reshape(p.shape))
    before = net(torch.tensor(X))
    replace(net)
    net.add_module("last", nn.Softmax(dim=-1))
    parts = [before, net(torch.tensor(X)), net[:4](torch.tensor(X)), Pool((2, 3))(torch.tensor(X)[None])]
    del net._modules["last"]
    return [plain(each) for each in [*parts, net(torch.tensor(X))]] + [list(net._modules), len(net), backwards(net)]
""",
    "a forward that is chosen when the network is built": """
class Both(nn.Module):
    def __init__(self, is_swapped):
        super().__init__()
        if is_swapped:
            self.forward, self.other = self.other, self.forward

    def forward(self, x):
        return x + 1

    def other(self, x):
        return x * 3


class Chosen(Both):
    def __init__(self):
        super().__init__(False)
        self.forward = self.other


class Named(Both):
    def __init__(self):
        super().__init__(False)
        setattr(self, "forward", self.other)


def run():
    x = torch.tensor(X)
    return [plain(net(x)) for net in (Both(False), Both(True), Chosen(), Named())] + [plain(Both(True).other(x))]
""",
    "what a network keeps inside": """
def run():
    net = {"n": nn.Sequential(nn.Linear(2, 3), nn.ReLU())}["n"]
    return [list(net._modules), sum(p.numel() for p in net.parameters()), [name for name, _ in net.named_modules() if name],
            sorted(name for name, _ in net.named_parameters()), net.eval().training]
""",
}


@pytest.mark.parametrize("body", FACES.values(), ids=FACES.keys())
def test_a_layer_shows_torch_s_face(body: str, both: Both) -> None:
    theirs, ours = both(body)
    assert same(ours, theirs), (ours, theirs)


def test_settings_of_a_script_are_no_layers() -> None:
    source = "import torch\n\ndef f(args, cfg):\n    return args.bias, cfg.model.config.weight, args.groups, torch.zeros(1)\n"
    text = convert_source(source).main
    assert "args.bias, cfg.model.config.weight, args.groups" in text


def test_the_annotations_of_star_arguments_are_converted() -> None:
    text = "from torch import Tensor, nn\n\n\nclass Base(nn.Module):\n    def forward(self, *xs: Tensor, **more: Tensor) -> Tensor:\n        raise NotImplementedError\n"
    conversion = convert_source(text)
    assert "*xs: ms.Tensor, **more: ms.Tensor) -> ms.Tensor:" in conversion.main and not conversion.findings


def test_padding_that_only_a_default_makes_a_number_may_be_a_pair(both: Both) -> None:
    theirs, ours = both("""
class Block(nn.Module):
    def __init__(self, kernel_size, padding=0):
        super().__init__()
        self.conv = nn.Conv2d(1, 1, kernel_size=kernel_size, padding=padding, bias=False)
        nn.init.ones_(self.conv.weight)

    def forward(self, x):
        return self.conv(x)


def run():
    x = torch.tensor(X)[None, None]
    return [plain(Block((1, 3), padding=(0, 1))(x)), plain(Block(3, padding=1)(x)), plain(Block(1)(x))]
""")
    assert same(ours, theirs)
