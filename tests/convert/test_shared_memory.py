"""Views, aliases, lists and default arguments see a tensor change in place, as they do in torch; where MindSpore records gradients, a finding says that they don't."""

from __future__ import annotations

import pytest
from two_frameworks import Both, plain, same

from mindferry.convert import convert_source


def test_what_shares_memory_changes_together(both: Both) -> None:
    theirs, ours = both("""
@torch.no_grad()
def run():
    a = torch.from_numpy(X.copy())
    old, flat, row, turned, chain = a.detach(), a.view(-1), a[0], a.t(), a.unsqueeze(0).expand(2, 4, 6)
    a += 1
    a.mul_(2)
    seen = [a, old, flat, row, turned, chain]
    b = torch.from_numpy(X.copy())
    first = b[0]
    tail = first[1:]
    tail.zero_()
    part = b.narrow(0, 1, 2)
    part.add_(100)
    left, right = b.chunk(2, dim=1)
    left.mul_(-1)
    middle = b[:, 2]
    middle += 5
    c = torch.from_numpy(X.copy())
    second = c[1]
    everything = c.reshape(-1)
    second[second > 0] = 7.0
    c[c < 0] = 0.5
    shown = c.numpy().copy()
    return [each.clone() for each in (*seen, b, first, tail, part, left, right, middle, c, second, everything)] + [shown.tolist()]
""")
    assert same(plain(ours), plain(theirs))


def test_lists_and_default_arguments_hold_the_same_tensor(both: Both) -> None:
    theirs, ours = both("""
def collect(x, total=torch.zeros(3)):
    total += x
    return total.sum().item()

def gather(x, *, total=torch.zeros(3), seen=[]):
    total.add_(x)
    seen.append(1)
    return total.sum().item() * len(seen)

def run():
    a = torch.ones(3)
    pair, rows, named, kept = [a, a], [a] * 2, {"a": a}, []
    kept.append(a)
    pair[0].add_(1)
    rows[1].mul_(3)
    named["a"].sub_(0.5)
    kept[0].div_(2)
    fresh = [torch.ones(2) for _ in range(2)]
    fresh[0].add_(4)
    return [a, *pair, *rows, named["a"], *kept, *fresh, collect(a), collect(a), gather(a), gather(a)]
""")
    assert same(plain(ours), plain(theirs))


@pytest.mark.parametrize(
    ("lines", "severity"),
    [
        ("flat = a.view(-1)\n    a += 1\n    return flat", "warning"),
        ("flat = a.view(-1)\n    flat += 1\n    return a", "warning"),
        ("flat = a.view(-1)\n    flat += 1\n    a.sum().backward()", "error"),
    ],
)
def test_a_function_whose_gradient_may_be_taken_is_told(lines: str, severity: str) -> None:
    found = convert_source(f"import torch\n\ndef f(x: torch.Tensor):\n    a = x * 2\n    {lines}\n").findings
    assert ("MF141", severity) in [(each.code, str(each.severity)) for each in found]


def test_a_row_that_is_written_to_keeps_its_gradient(both: Both) -> None:
    theirs, ours = both("""
def run():
    x = torch.from_numpy(X.copy()).requires_grad_()
    def loss_of(x):
        a = x * 2
        row = a[0]
        row += x[1]
        return (a ** 2).sum()
    loss = loss_of(x)
    loss.backward()
    return [loss, x.grad]
""")
    assert same(plain(ours), plain(theirs))
