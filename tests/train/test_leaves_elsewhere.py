"""Tensors of the user's own that require a gradient, made in all the ways but `w = torch.randn(3, requires_grad=True)`: they train the same."""

from __future__ import annotations

import pytest

from .both_ways import Ran, run_both

START = """
X, Y = xs[0][:, :3], xs[1][:, :1]
counter = [20]
def begin(*shape):
    counter[0] += 1
    return torch.from_numpy(array(counter[0], *shape))
"""
SCRIPTS = {
    "appended_in_a_loop": """
weights = []
sizes = [3, 5, 1]
for a, b in zip(sizes, sizes[1:]):
    weights.append(torch.tensor(begin(a, b).numpy(), requires_grad=True))
    weights.append(torch.zeros(b, requires_grad=True))
opt = torch.optim.SGD(weights, lr=0.05)
for i in range(3):
    h = X
    for w, b in zip(weights[::2], weights[1::2]):
        h = torch.sigmoid(h @ w + b)
    loss = ((h - Y) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    record(loss.item())
""",
    "held_by_an_object": """
class Scratch:
    def __init__(self):
        self.w = begin(3, 1).requires_grad_(True)
        self.more = {"b": torch.zeros(1, requires_grad=True)}
    def parameters(self):
        return [self.w, self.more["b"]]
    def __call__(self, x):
        return x @ self.w + self.more["b"]
m = Scratch()
opt = torch.optim.SGD(m.parameters(), lr=0.1)
for i in range(3):
    loss = ((m(X) - Y) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    record(loss.item())
""",
    "a_list_of_an_object_updated_by_hand": """
class Scratch:
    def __init__(self):
        self.params = []
        for s in [(3, 4), (4, 1)]:
            self.params.append(torch.tensor(begin(*s).numpy(), requires_grad=True))
    def forward(self, x):
        for p in self.params[:-1]:
            x = torch.relu(x @ p)
        return x @ self.params[-1]
m = Scratch()
for i in range(3):
    loss = ((m.forward(X) - Y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in m.params:
            p -= 0.01 * p.grad
            p.grad = None
    record(loss.item())
""",
    "marked_in_a_loop": """
def get_params(n, h):
    def normal(*shape):
        return begin(*shape) * 0.1
    W1, b1 = normal(n, h), torch.zeros(h)
    W2 = normal(h, 1)
    b2 = torch.zeros(1)
    params = [W1, b1, W2, b2]
    for param in params:
        param.requires_grad_(True)
    return params
def net(X, params):
    W1, b1, W2, b2 = params
    return torch.tanh(X @ W1 + b1) @ W2 + b2
def sgd(params, lr, batch_size):
    with torch.no_grad():
        for param in params:
            param -= lr * param.grad / batch_size
            param.grad.zero_()
params = get_params(3, 4)
for i in range(3):
    l = (net(X, params) - Y) ** 2 / 2
    l.sum().backward()
    sgd(params, 0.1, 16)
    record(l.mean().item())
""",
    "a_comprehension": """
params = {k: torch.tensor(begin(*s).numpy(), requires_grad=True) for k, s in {"w": (3, 1), "b": (1,)}.items()}
opt = torch.optim.Adam(params.values(), lr=0.1)
for i in range(3):
    loss = ((X @ params["w"] + params["b"] - Y) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    record(loss.item())
""",
    "a_function_that_names_it": """
def make(*shape):
    w = torch.tensor(begin(*shape).numpy(), requires_grad=True)
    return w
w = make(3, 1)
b = make(1)
for i in range(3):
    loss = ((X @ w + b - Y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= 0.1 * p.grad
            p.grad.zero_()
    record(loss.item())
""",
    "unpacked_from_a_comprehension": """
def train(n):
    w, b = [torch.tensor(begin(*s).numpy(), requires_grad=True) for s in ((3, 1), (1,))]
    losses = []
    for i in range(n):
        out = X @ w + b
        loss = F.mse_loss(out, Y)
        gw, gb = torch.autograd.grad(loss, (w, b))
        with torch.no_grad():
            w -= 0.1 * gw
            b -= 0.1 * gb
        losses.append(loss.item())
    return losses
record(*train(3))
""",
    "items_marked_one_by_one": """
theta = {}
theta["w"] = torch.tensor(begin(3, 1).numpy(), requires_grad=True)
theta["b"] = torch.zeros(1)
theta["b"].requires_grad = True
for i in range(3):
    loss = ((X @ theta["w"] + theta["b"] - Y) ** 2).mean()
    loss.backward()
    for k, p in theta.items():
        p.data = p.data - 0.1 * p.grad
        p.grad.zero_()
    record(loss.item())
""",
    "a_list_that_a_function_reads": """
params = [torch.tensor(begin(3, 1).numpy(), requires_grad=True), torch.zeros(1, requires_grad=True)]
def net(x):
    return x @ params[0] + params[1]
opt = torch.optim.SGD(params, lr=0.1, momentum=0.9)
for i in range(3):
    loss = F.mse_loss(net(X), Y)
    opt.zero_grad(); loss.backward(); opt.step()
    record(loss.item())
""",
    "a_dictionary_passed_around": """
def init():
    return {"w": torch.tensor(begin(3, 1).numpy(), requires_grad=True), "b": torch.zeros(1, requires_grad=True)}
def model(params, x):
    return x @ params["w"] + params["b"]
def update(params, lr):
    for k in params:
        params[k].data.sub_(lr * params[k].grad)
        params[k].grad.zero_()
def main():
    params = init()
    for i in range(3):
        loss = ((model(params, X) - Y) ** 2).mean()
        loss.backward()
        update(params, 0.1)
        record(loss)
main()
""",
    "beside_a_network": """
def make(*shape):
    return torch.autograd.Variable(begin(*shape) * 0.5, requires_grad=True)
W = make(3, 4)
dec = torch.nn.Sequential(torch.nn.Linear(4, 1, bias=False))
with torch.no_grad():
    dec[0].weight.copy_(begin(1, 4))
params = [W] + list(dec.parameters())
solver = torch.optim.Adam(params, lr=1e-1)
def enc(x):
    return torch.tanh(x @ W)
for it in range(4):
    loss = F.mse_loss(dec(enc(X)), Y)
    loss.backward()
    solver.step()
    for p in params:
        p.grad.data.zero_()
    record(loss.item())
""",
    "names_and_their_list_marked_in_a_loop": """
W1 = begin(3, 4)
b1 = torch.zeros(4)
W2 = begin(4, 1)
params = [W1, b1, W2]
for p in params:
    p.requires_grad = True
opt = torch.optim.SGD(params, lr=0.05)
for i in range(3):
    y = torch.relu(X @ W1 + b1) @ W2
    loss = (y - Y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    record(loss.item())
""",
    "dictionaries_in_a_list": """
layers = [{"w": torch.tensor(begin(a, b).numpy(), requires_grad=True), "b": torch.zeros(b, requires_grad=True)} for a, b in ((3, 4), (4, 1))]
def net(x):
    for i, layer in enumerate(layers):
        x = x @ layer["w"] + layer["b"]
        if i < len(layers) - 1:
            x = x.relu()
    return x
opt = torch.optim.SGD([p for layer in layers for p in layer.values()], lr=0.02)
for i in range(3):
    loss = (net(X) - Y).abs().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    record(loss)
""",
    "parameters_in_a_list": """
alphas = [torch.nn.Parameter(begin(3, 1)), torch.nn.Parameter(torch.zeros(1))]
opt = torch.optim.SGD(alphas, lr=0.1)
for i in range(3):
    loss = ((X @ alphas[0] + alphas[1] - Y) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    record(loss.item())
""",
    "returned_and_unpacked": """
def make(*shape):
    return begin(*shape).requires_grad_()
w, = [make(3, 1)]
b = make(1)
opt = torch.optim.SGD([w, b], lr=0.1)
for i in range(3):
    loss = ((X @ w + b - Y) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    record(loss.item())
""",
    "two_at_once": """
w, b = torch.tensor(begin(3, 1).numpy(), requires_grad=True), torch.zeros(1, requires_grad=True)
for i in range(3):
    loss = ((X @ w + b - Y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad; b -= 0.1 * b.grad
        w.grad = None; b.grad = None
    record(loss.item())
""",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    return run_both(tmp_path_factory.mktemp("leaves"), {name: START + text for name, text in SCRIPTS.items()})


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_is_trained(name: str, ran: dict[str, Ran]) -> None:
    ran[name].check()
    losses = ran[name].torch
    assert losses[-1] != losses[0]
