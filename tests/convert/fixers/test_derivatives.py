"""torch.autograd.grad: what becomes a function, and what is left with a finding."""

from __future__ import annotations

import pytest

from mindferry import convert_source

HEAD = "import torch\nfrom torch import autograd\n\n"


def function(body: str) -> str:
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    text = convert_source(f"{HEAD}def f(net, x, t):\n{indented}").main
    return text[text.index("def f(") :].strip()


def test_a_gradient_by_one_input_is_ms_grad_of_what_leads_to_it() -> None:
    assert function("y = net(x)\nz = y.sum()\nreturn autograd.grad(z, x)[0]") == (
        "def f(net, x, t):\n\n    def z_of(x):\n        y = net(x)\n        return y.sum()\n\n    return ms.grad(z_of)(x)"
    )


def test_the_output_stays_where_something_else_reads_it() -> None:
    text = function("y = net(x)\ng = autograd.grad(y, x, torch.ones_like(y))[0]\nreturn y, g")
    assert "    y = net(x)\n" in text and "g = ms.grad(y_of)(x)" in text


def test_second_derivatives_take_all_inputs_so_that_mixed_ones_are_seen() -> None:
    text = function(
        "u = net(x, t)\nu_x = autograd.grad(u.sum(), x, create_graph=True)[0]\nu_xt = autograd.grad(u_x.sum(), t)[0]\nreturn u_xt"
    )
    assert "u_x = ms.grad(output_of)(x, t)" in text and "ms.grad(output_of_, 1)(x, t)" in text


def test_several_inputs_and_weights_use_the_helper() -> None:
    text = function("y = net(x, t)\ng, h = torch.autograd.grad(y, (x, t), grad_outputs=w)\nreturn g, h")
    assert "g, h = ms_compat.gradients(y_of, (0, 1), (x, t), w)" in text


def test_by_parameters() -> None:
    text = function("loss = net(x).mean()\nreturn autograd.grad(loss, net.parameters())")
    assert "ms_compat.parameter_gradients(loss_of, " in text


def test_a_graph_that_begins_at_an_argument_begins_at_a_copy() -> None:
    """What was computed from the argument before is no part of torch's graph."""
    assert "    x = x.copy()\n" in function("x.requires_grad_()\ny = net(x)\nreturn autograd.grad(y.sum(), x)[0]")


@pytest.mark.parametrize(
    "made", ["x = torch.ones(3)", "x = x.clone()", "x, t = x.clone(), t.clone()", "x = x.detach()"]
)
@pytest.mark.parametrize("mark", ["x.requires_grad_()", "x.requires_grad_(True)", "x.requires_grad = True"])
def test_so_does_one_that_begins_at_a_tensor_of_the_function_s_own(made: str, mark: str) -> None:
    """The statement is one fixer's: were a rule to leave a bare `x`, it would be tidied away."""
    text = function(f"{made}\n{mark}\ny = net(x)\nreturn autograd.grad(y.sum(), x)[0]")
    assert text.count("    x = x.copy()\n") == 1 and "requires_grad" not in text


@pytest.mark.parametrize(
    "body, reason",
    [
        ("return autograd.grad(y, x)[0]", "how y is computed from its inputs can't be seen from here"),
        ("y = net(x)\nreturn autograd.grad(y, x, allow_unused=True)[0]", "allow_unused"),
        ("y = net(x)\nreturn autograd.grad([y, y], x)[0]", "several outputs"),
        ("y = net(x.a)\nreturn autograd.grad(y, x.a)[0]", "x.a is no variable"),
        ("y = net(x)\nreturn autograd.grad(y, [x, t])[0]", "doesn't depend on all of its inputs"),
    ],
)
def test_what_cannot_be_lifted_is_left_with_the_pattern(body: str, reason: str) -> None:
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    conversion = convert_source(f"{HEAD}def f(net, x, t):\n{indented}")
    (finding,) = [each for each in conversion.findings if each.severity == "error"]
    assert finding.code == "MF205" and finding.line == 4 + body.count("\n") + 1
    assert reason in finding.message and "ms.grad(f)(x)" in finding.advice
    assert "autograd.grad(" in conversion.main


PENALTY = """import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(1, 3, 3), nn.Linear(108, 1)

    def forward(self, x):
        return self.fc({})


def penalty(critic: Critic, x):
    x = x.clone().requires_grad_(True)
    (g,) = torch.autograd.grad(critic(x).sum(), x, create_graph={})
    return ((g.flatten(1).norm(2, dim=1) - 1) ** 2).mean()
"""


def test_a_second_derivative_through_a_reshape_is_taken_in_a_graph() -> None:
    """Measured on 2.10 in PyNative: the layer behind the reshape gets exactly zero."""
    converted = [
        convert_source(PENALTY.format(inside, again))
        for inside in ("torch.relu(self.conv(x)).view(x.size(0), -1)", "torch.relu(x)")
        for again in (True, False)
    ]
    assert ["compiled_gradients(" in each.main for each in converted] == [True, False, False, False]
    assert not any(each.findings for each in converted)


def test_a_third_one_through_a_reshape_is_an_error() -> None:
    again = "h = torch.autograd.grad(g.sum(), x, create_graph=True)[0]"
    text = PENALTY.format("self.conv(x).view(x.size(0), -1)", True).replace(
        "    return ((g.f", f"    {again}\n    return ((h.f"
    )
    assert ("MF208", "error") in {(each.code, each.severity) for each in convert_source(text).findings}


def test_one_file_with_its_helpers_keeps_the_index_that_the_project_has() -> None:
    """The helper's name has no `ms_compat.` before it there, and still gives a tuple."""
    code = (
        f"{HEAD}from torch import nn\n\nnet = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor i in range(2):\n    x = torch.ones(6, 4).requires_grad_(True)\n"
        "    y = net(x)\n    g = torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]\n"
        "    loss = (g.norm(2, dim=1) - 1).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
    )
    assert "g = compiled_gradients(y_of, (0,), (x,))[0]" in convert_source(code).code
