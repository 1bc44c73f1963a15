"""Operators whose result, gradient or effect on the caller once differed without a word."""

from __future__ import annotations

import pytest
from two_frameworks import Both, same

from mindferry import convert_source

SAME = {
    "a product over what a mask did not select is zero": """
def run():
    x = torch.from_numpy(X)
    junk = torch.full((5, 5), 7.0).sum()
    rows = x[x[:, 0] > 1e9]
    return plain([rows.t() @ rows, torch.matmul(rows.t(), rows), rows.repeat(2, 1).sum(), junk])
""",
    "a network that answers for what it wraps": """
class Wrapper(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.calls = 0
        self.module = module
    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.module, name)
    def forward(self, x):
        self.calls += 1
        return self.module(x)


def run():
    layer = nn.Linear(6, 2)
    layer.weight.data.fill_(0.5)
    layer.bias.data.fill_(0.1)
    net = Wrapper(layer)
    y = net(torch.from_numpy(X))
    y.sum().backward()
    return plain([y, net.calls, net.out_features, net.weight, layer.weight.grad, len(net.state_dict())])
""",
    "tensors of several types in one list, and a double that is added in place": """
def run():
    a, b = torch.ones(3), torch.arange(3)
    x, t = torch.from_numpy(X).clone(), torch.tensor(0.5, dtype=torch.float64)
    x += t
    return plain([torch.cat([a, b]), torch.stack([b, a]), x, x.dtype == torch.float32])
""",
    "a zeroth power has no gradient, a focal loss with gamma 0 neither": """
def run():
    x = torch.tensor([0.0, 1.0, -2.0], requires_grad=True)
    gamma = 0
    y = torch.cat([x ** i for i in range(3)]).sum() + ((1 - x) ** gamma * x).sum() + torch.pow(x, x.detach() * 0).sum()
    y.backward()
    return plain([x.grad])
""",
    "a function that changes its argument and returns it changes the caller's tensor": """
def bump(t):
    t += 1
    return t


def run():
    x = torch.from_numpy(X).clone()
    y = bump(x)
    pair = (torch.zeros(2), torch.ones(2))
    pair[0].add_(3)
    return plain([x, y, *pair])
""",
    "a hook on a computed tensor changes what reaches its inputs": """
def run():
    x = torch.from_numpy(X).clone().requires_grad_()
    y = x * 2
    y.register_hook(lambda g: g * 10)
    (y * torch.from_numpy(X)).sum().backward()
    return plain([x.grad])
""",
    "a state that is made after the loss's first value reaches the loop": """
def run():
    net = torch.nn.Linear(2, 2)
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.arange(float(p.numel())).view(p.shape).sin())
    opt = torch.optim.SGD(net.parameters(), lr=0.5)
    seen = []
    for step in range(3):
        loss = 0
        outputs = torch.zeros(3, 2)
        h = torch.ones(1, 2)
        for t in range(3):
            h = torch.tanh(net(h))
            outputs[t] = h[0]
            loss = loss + (h - 0.5).pow(2).mean()
        loss = loss + outputs.mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen.append(loss.detach())
    return plain([*seen, net.weight])
""",
    "a Parameter outside of a network is trained, also through a closure": """
def run():
    image = torch.from_numpy(X).clone().requires_grad_(True)
    scale = nn.Parameter(torch.tensor(2.0), requires_grad=True)
    shift = nn.Parameter(torch.zeros(6))
    opt = torch.optim.LBFGS([image], max_iter=2)

    def closure():
        opt.zero_grad()
        loss = ((image - 1) ** 2).mean()
        loss.backward()
        return loss

    opt.step(closure)
    sgd = torch.optim.SGD([scale, shift], lr=0.1)
    for _ in range(2):
        sgd.zero_grad()
        loss = ((torch.from_numpy(X) * scale + shift - 1) ** 2).mean()
        loss.backward()
        sgd.step()
    return plain([image.detach(), scale.detach(), shift.detach(), loss.detach()])
""",
    "boxes overlap none where there are none": """
def overlaps(a, b):
    left, right = torch.max(a[:, None, :2], b[:, :2]), torch.min(a[:, None, 2:4], b[:, 2:4])
    return (right - left).clamp(min=0).prod(2)


def run():
    x = torch.from_numpy(X)
    return plain([overlaps(x, x), torch.tensor(overlaps(x, x[:0]).shape)])
""",
    "a deep copy has memory of its own, in a dict and in an object too": """
def run():
    x = torch.from_numpy(X).clone()
    y, table, held = copy.deepcopy(x), copy.deepcopy({"a": x, "n": [x, 3]}), copy.deepcopy(Holder(x))
    y[0] = 5
    table["a"][1] = 6
    held.value[2] = 7
    return plain([x, y, table["n"][0], held.value])
""",
    "tensors of several types are joined in the widest": """
def run():
    x = torch.from_numpy(X)
    joined = [torch.cat([x, x > 0], 1), torch.cat((x.double(), x)), torch.cat([x, torch.arange(4).view(4, 1)], dim=1)]
    return plain([*joined, torch.tensor([each.dtype == torch.float32 for each in joined])])
""",
    "an array of numpy's on the right of a tensor is a tensor": """
def run():
    x = torch.from_numpy(X)
    factors = np.arange(6).astype(np.float32)
    return plain([x * factors, x + np.array(1.5, dtype=np.float32), x * np.sqrt(2)])
""",
    "equal medians share the gradient": """
def run():
    x = torch.tensor([1.0, 1.0, 0.0, 3.0, 1.0], requires_grad=True)
    x.median().backward()
    return plain([x.grad, torch.tensor([3, 1, 2]).median(), torch.tensor([float("inf"), 1.0, float("inf")]).median()])
""",
    "as_strided starts where a view does": """
def run():
    x = torch.from_numpy(X)[:4, :4].contiguous()
    return plain([x[1:].as_strided((2, 2), (4, 1)), torch.as_strided(x[:, 1:], (2, 2), (4, 1))])
""",
    "resize_ keeps the elements in order": """
def run():
    x = torch.arange(6.0)
    x.resize_(2, 3)
    y = torch.zeros(2)
    y.resize_as_(x).copy_(x)
    return plain([x, y])
""",
}


@pytest.mark.parametrize("code", SAME.values(), ids=SAME)
def test_both_frameworks_agree(both: Both, code: str) -> None:
    theirs, ours = both(code)
    assert same(ours, theirs) and theirs


def test_a_power_whose_exponent_is_written_stays_an_operator() -> None:
    code = convert_source("import torch\n\n\ndef f(x: torch.Tensor):\n    return x ** 2 + 2 ** len(x.shape)\n").code
    assert "x ** 2 + 2 ** len(x.shape)" in code


def test_a_network_repeats_and_multiplies_by_mindspores_own_functions() -> None:
    code = convert_source(
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, q: torch.Tensor, k: torch.Tensor):\n"
        "        return (q @ k).repeat(2, 1) + torch.matmul(q, k)\n"
    ).code
    assert "(q @ k).tile((2, 1)) + ops.matmul(q, k)" in code


def test_a_lambda_that_changes_its_argument_is_a_finding() -> None:
    found = convert_source("import torch\n\nx = torch.zeros(3)\nbump = lambda t: t.add_(1)\nbump(x)\n").findings
    assert [each.code for each in found] == ["MF140"]


LAYERS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU(inplace=True)
        self.layers = nn.Sequential(*make_layers())
        with torch.no_grad():
            for p in self.parameters():
                p.copy_((torch.arange(float(p.numel())) * 0.7).view(p.shape).cos())

    def change(self, h):
        return self.act(h)

    def forward(self, x):
        kept = []
        for layer in self.layers:
            x = layer(x)
            kept.append(x)
        h = x - 0.5
        return kept + [self.change(h) + h]


def make_layers():
    layers = []
    for size in (6, 6):
        layers += [nn.Linear(size, 6), nn.ReLU(inplace=True)]
    return layers


def run():
    return plain(Net()(torch.from_numpy(X)))
"""


def test_layers_in_place_change_what_a_loop_has_kept_and_what_a_method_was_given(both: Both) -> None:
    theirs, ours = both(LAYERS)
    assert same(ours, theirs) and theirs[0] == theirs[1]


def test_recurrent_layers_list_their_weights_as_torch_does(both: Both) -> None:
    theirs, ours = both("""
def run():
    net = nn.LSTM(3, 4, 2, bidirectional=True)
    for names in net._all_weights:
        for name in filter(lambda each: "bias" in each, names):
            getattr(net, name).data.fill_(0.5)
    shapes = [[tuple(each.shape) for each in weights] for weights in net.all_weights]
    return plain([net._all_weights, shapes, net.bias_hh_l1_reverse])
""")
    assert same(ours, theirs) and len(theirs[0]) == 4


def test_a_name_that_is_cut_from_itself_ends_the_search_for_its_type() -> None:
    code = "import torch\n\n\ndef f(x, y):\n    x = x[1:]\n    a = b[0]\n    b = a[0]\n    return torch.cat([x, y]), torch.cat([a, b])\n"
    assert "ops.cat" in convert_source(code).main or "ms_compat.cat" in convert_source(code).main
