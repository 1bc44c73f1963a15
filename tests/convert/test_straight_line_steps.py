"""Scripts that make networks and optimizers between the lines of a step: what is made is made once, and before it is asked for."""

from __future__ import annotations

import pytest
from two_frameworks import Both, same

from mindferry.convert import convert_source

MADE = """
def filled(net):
    with torch.no_grad():
        for k, p in enumerate(net.parameters()):
            p.copy_(torch.sin(torch.arange(p.numel()).float() + k).view(p.shape) * 0.5)
    return net

def build(n):
    net = filled(nn.Sequential(nn.Linear(6, n), nn.Tanh(), nn.Linear(n, 1)))
    return net, torch.optim.SGD(net.parameters(), lr=0.1)

def fit(steps):
    net, opt = build(4)
    for i in range(steps):
        opt.zero_grad()
        out = net(torch.from_numpy(X))
        out.pow(2).mean().backward()
        opt.step()
    return {"net": net, "opt": opt, "last": out.detach()}
"""

STEPS = {
    "the network comes out of a pair, and another optimizer is made behind the loss": """
def run():
    x = torch.from_numpy(X)
    m, o = build(4)
    l = m(x).pow(2).mean()
    o2 = torch.optim.Adam(m.parameters(), lr=0.3)
    o2.zero_grad()
    l.backward()
    o2.step()
    return plain(m(x)), l.item()
""",
    "the network comes out of a dictionary that training gave": """
def run():
    x = torch.from_numpy(X)
    state = fit(2)
    model, last = state["net"], state["last"]
    l = (model(x) - 2 * last).abs().mean()
    shown = [l.item()]
    fine = torch.optim.SGD([{"params": model.parameters(), "lr": 0.5}], lr=0.1)
    fine.zero_grad()
    l.backward()
    fine.step()
    return shown, plain(model(x))
""",
    "one name is a tensor first and a network later": """
def run():
    x = torch.from_numpy(X)
    net, opt = build(3)
    h = net(x)
    loss = h.tanh().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    (h, k), more = (fit(1)["net"], 2), 3.0
    opt = torch.optim.SGD(h.parameters(), lr=0.1)
    out = h(x * k)
    loss = out.sum() * more
    opt.zero_grad()
    loss.backward()
    opt.step()
    return plain(h(x)), plain(net(x)), loss.item()
""",
    "what the loss is chooses the optimizer": """
def run():
    x = torch.from_numpy(X)
    parts = fit(1)
    net = parts["net"]
    pred = net(x)
    base = pred.detach().sum()
    loss = (pred - base).pow(2).mean()
    if base > 100:
        opt = torch.optim.Adam(net.parameters(), lr=0.1)
    else:
        opt = torch.optim.SGD(net.parameters(), lr=0.05)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return plain(net(x)), loss.item()
""",
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_takes_its_gradients_behind_what_it_needs(name: str, both: Both) -> None:
    ours, theirs = both(MADE + STEPS[name])
    assert same(ours, theirs), (ours, theirs)


ONE_LINERS = {
    "two scales": "        if scaled: (4 * loss).backward()\n        else: loss.backward()\n",
    "three ways": "        if i == 0: (loss * 2).backward()\n        elif i == 1: loss.backward()\n        else: pass\n",
    "a try": "        try: loss.backward()\n        except RuntimeError: continue\n",
    "with a semicolon": "        if scaled: (4 * loss).backward(); seen.append(i)\n        else: loss.backward()\n",
}


@pytest.mark.parametrize("name", ONE_LINERS)
@pytest.mark.parametrize("scaled", [True, False])
def test_a_backward_behind_a_colon_is_lifted(name: str, scaled: bool, both: Both) -> None:
    text = (
        "def run():\n    x, seen = torch.from_numpy(X), []\n    net, opt = build(3)\n"
        f"    scaled = {scaled}\n    for i in range(3):\n        opt.zero_grad()\n"
        "        loss = (net(x) - i).pow(2).mean()\n" + ONE_LINERS[name] + "        opt.step()\n"
        "        seen.append(loss.item())\n    return seen, plain(net(x))\n"
    )
    assert not convert_source("import torch\nfrom torch import nn\n" + MADE + text).findings
    ours, theirs = both(MADE + text)
    assert same(ours, theirs), (ours, theirs)
