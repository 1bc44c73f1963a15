"""Derivatives of functions, of derivatives, and inside of training steps: each script runs in torch and, converted, in MindSpore."""

from __future__ import annotations

import pytest

from .both_ways import Ran, run_both

POINT = """
from torch.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap
x = torch.from_numpy(array(3, 4))
v = torch.from_numpy(array(4, 4))
net = network(1)
def square(x):
    return (x ** 2).sum() ** 2
def potential(x):
    return net(x).sum()
"""
SCRIPTS = {
    "hessians": POINT
    + """
matrix = torch.from_numpy(array(5, 4, 4))
def by_index(x):
    return x[0] ** 2 * x[1] + torch.sin(x[2]) * x[3]
def by_parts(x):
    a, b, c, d = x
    return a * b * c + d ** 3
def by_product(x):
    return x @ matrix @ x
def by_view(x):
    return torch.exp(-(x.view(4, 1) - x.view(1, 4)).pow(2)).mean()
for function in (square, potential, by_index, by_parts, by_product, by_view):
    record(torch.autograd.functional.hessian(function, x), hessian(function)(x))
record(vmap(hessian(potential))(torch.stack([x, v])))
for i in range(2):
    shift = torch.full((4,), float(i))
    record(hessian(lambda t: ((t + shift) ** 3).sum() ** 2)(x))
""",
    "one_in_another": POINT
    + """
record(grad(lambda x: grad(square)(x).pow(2).sum())(x))
record(grad(grad(grad(lambda t: t ** 5)))(torch.tensor(0.7)))
record(jacfwd(jacrev(potential))(x), jvp(grad(potential), (x,), (v,))[1], vjp(grad(square), x)[1](v)[0])
record(*grad_and_value(potential)(x))
record(*jvp(lambda t: torch.sin(t) * v, (x,), (v,)), torch.autograd.functional.jacobian(lambda t: t ** 3, x))
record(*torch.autograd.functional.jvp(lambda t: torch.sin(t) * v, x, v), *torch.autograd.functional.vjp(square, x))
""",
    "a_derivative_inside_of_a_loss": POINT
    + """
opt = torch.optim.SGD(net.parameters(), lr=0.05)
points = torch.stack([x, v])
record(grad(lambda x: (grad(potential)(x) * v).sum())(x))
for _ in range(3):
    opt.zero_grad()
    slopes = vmap(grad(potential))(points)
    loss = (slopes ** 2).sum() + (net(points) ** 2).mean()
    loss.backward()
    opt.step()
    record(loss)
weights(net)
""",
    "gradients_of_an_expression_that_is_written_in_place": POINT
    + """
x.requires_grad_(True)
(g,) = torch.autograd.grad((square(x) * torch.tensor([1.0, 2.0, 3.0, 4.0])).sum(), x)
record(g)
(g,) = torch.autograd.grad(square(x), x, create_graph=True)
(h,) = torch.autograd.grad((g * torch.tensor([1.0, 2.0, 3.0, 4.0])).sum(), x)
record(h)
""",
    "first_steps_taken_inside_of_a_step": """
net = network()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def run(x, weights):
    hidden = torch.tanh(F.linear(x, weights[0], weights[1]))
    return F.linear(hidden, weights[2], weights[3])
for step in range(3):
    total = 0
    for i in range(2):
        x, y = torch.stack(xs[:2]), torch.stack(ys[:2])
        grads = torch.autograd.grad(criterion(net(x[i]), y[i]), net.parameters())
        fast = [p - 0.1 * g for p, g in zip(net.parameters(), grads)]
        total = total + criterion(run(x[1 - i], fast), y[1 - i])
    opt.zero_grad()
    total.backward()
    opt.step()
    record(total)
weights(net)
""",
    "a_loss_that_every_branch_sets_or_raises": """
net = network()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
kind = "plain"
for x, y in zip(xs, ys):
    out = net(x)
    if kind == "plain":
        loss = criterion(out, y)
    elif kind == "squared":
        loss = (out ** 2).mean()
    else:
        raise ValueError(kind)
    opt.zero_grad()
    loss.backward()
    opt.step()
    record(loss)
weights(net)
""",
    "parameters_that_are_made_frozen": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.fixed = nn.Parameter(torch.ones(5), requires_grad=False)
    def forward(self, x):
        return self.fc(x) * self.fixed.mean()
net = start(Net())
record(sum(p.numel() for p in net.parameters()), criterion(net(xs[0]), ys[0]))
""",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    return run_both(tmp_path_factory.mktemp("derivatives"), SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_computes_what_it_computes_in_torch(name: str, ran: dict[str, Ran]) -> None:
    ran[name].check()
