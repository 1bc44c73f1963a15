"""Values that once came out otherwise without a word: each function gives in MindSpore what it gives in torch, or a finding says so."""

from __future__ import annotations

import numpy as np
import pytest
from two_frameworks import Both, plain

from mindferry.convert import convert_source


def same(both: Both, body: str) -> None:
    theirs, ours = both(body)
    np.testing.assert_allclose(flat(ours), flat(theirs), rtol=1e-5)


def flat(values: object) -> np.ndarray:
    return np.concatenate([np.ravel(each) for each in plain(values)])


def test_the_gradient_of_a_slice_that_is_empty_in_one_round(both: Both) -> None:
    same(
        both,
        """
def run():
    x = torch.from_numpy(X).requires_grad_()
    out = []
    for i in range(6):
        head, tail = x[:, :i], x[:, i + 1:]
        y = torch.cat([head, torch.zeros(4, 1), tail], dim=1)
        out.append((y * y).sum() + x[..., :0].sum() + (x[:, :i] ** 2).sum())
    torch.stack(out).sum().backward()
    return [x.grad]
""",
    )


def test_second_derivatives_follow_indices_and_shapes(both: Both) -> None:
    same(
        both,
        """
def indexed(x):
    return x[0] ** 2 * x[1] + x[1] ** 3

def shaped(x):
    return (x.reshape(1, 2) @ x.reshape(2, 1)).pow(2).sum()

def of_two(x, y):
    return (x * y).sum() ** 2

def run():
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -1.0])
    mixed = torch.autograd.functional.hessian(of_two, (x, y))
    return [
        torch.autograd.functional.hessian(indexed, x), torch.func.hessian(shaped)(x), mixed[0][1], mixed[1][1],
        torch.autograd.functional.hessian(lambda v: (v ** 3).sum(), x),
    ]
""",
    )


def test_what_contiguous_copies_is_written_to_alone(both: Both) -> None:
    same(
        both,
        """
def run():
    x = torch.from_numpy(X[:, :1].copy())
    y = x.expand(-1, 3).contiguous()
    y[0, 0] = 9
    z = torch.from_numpy(X.copy())
    t = z.t().contiguous()
    t[0] = 1
    return [x, y, z, t]
""",
    )


def test_a_single_number_of_float64_leaves_the_type_of_an_array(both: Both) -> None:
    same(
        both,
        """
def run():
    x, log = torch.from_numpy(X), torch.tensor(np.log(2.0))
    given, one = torch.from_numpy(np.array(1.5)), torch.tensor(2.5, dtype=torch.float64)
    results = [x + log, x - given, one + x, log + one, torch.tensor([1, 2]) + one, x - torch.tensor(np.sqrt(2.0))]
    return [*results, [str(each.dtype).lower().rpartition(".")[2].endswith("float64") for each in results]]
""",
    )


def test_arrays_are_added_wherever_they_come_from(both: Both) -> None:
    same(
        both,
        """
def run():
    x, steps = torch.from_numpy(X), np.arange(6)
    steps = steps - 1
    total = x * 2
    total += steps
    a, b = 1.0, 2.0
    for _ in range(2):
        a = b + a
        b = a - b
        total += a
    return [total, *of_arguments(x, X[0]), Weighted().of(x)]

def of_arguments(x: torch.Tensor, array: np.ndarray):
    return x + array, x * array

class Weighted:
    def __init__(self):
        self.weights, self.scale = np.ones(6, dtype="float32"), np.log(3.0)

    def of(self, x: torch.Tensor):
        return x * self.weights + self.scale
""",
    )


def test_a_block_on_a_device_computes_what_is_in_it(both: Both) -> None:
    same(
        both,
        """
def run():
    place = torch.device("cpu")
    with place, torch.no_grad():
        x = torch.ones(3)
    with torch.device("cpu") as device:
        y = x * 2
    return [x, y]
""",
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    parts = x.split(2)\n    parts[0].fill_(1)\n    return x\n", "x is changed through a part of it"),
        ("    return x.fill_diagonal_(7), x.sum()\n", "x is changed inside an expression"),
        ("    parts = x.chunk(2)\n    parts[1][0] = 5\n    return x\n", "parts[1] is a copy"),
        ("    a = x.numpy()\n    x.add_(2)\n    return a\n", "a changes with x here"),
        ("    loss = nn.Linear(2, 2)(x).sum()\n    return loss.requires_grad\n", "loss.requires_grad"),
        ("    w = torch.ones(3, requires_grad=True)\n    y = w * 2\n    return y.requires_grad\n", "y.requires_grad"),
    ],
)
def test_what_has_no_counterpart_is_said(body: str, said: str) -> None:
    head = "import torch\nfrom torch import nn\n\n\ndef run():\n    x = torch.zeros(4, 2)\n"
    assert said in " ".join(each.message for each in convert_source(head + body).findings)


@pytest.mark.parametrize(
    "body",
    [
        "    with torch.no_grad():\n        y = nn.Linear(2, 2)(x)\n    return y.requires_grad\n",
        "    return [p.requires_grad for p in nn.Linear(2, 2).parameters()]\n",
        "    y = nn.Linear(2, 2)(x).detach()\n    return y.requires_grad\n",
        "    a = x.numpy().copy()\n    x.add_(2)\n    return a, x\n",
        "    parts = list(torch.zeros(2))\n    parts[0] = 1\n    return parts\n",
    ],
)
def test_what_is_the_same_is_not_said(body: str) -> None:
    head = "import torch\nfrom torch import nn\n\n\ndef run():\n    x = torch.zeros(4, 2)\n"
    found = convert_source(head + body).findings
    assert not [each for each in found if each.severity != "note"], found


def test_tensors_of_several_types_are_stacked(both: Both) -> None:
    same(
        both,
        """
def run():
    x = torch.from_numpy(X)
    one, two = torch.stack([torch.tensor(1), x.sum()]), torch.stack((x > 0, x), 1)
    three = torch.cat([torch.tensor([1, 2]), x[0]])
    assert str(one.dtype) == str(two.dtype) == str(three.dtype) == str(x.dtype)
    return [one, two, three]
""",
    )


def test_tensors_of_several_types_are_joined_wherever_the_list_comes_from(both: Both) -> None:
    same(
        both,
        """
def stacked(parts):
    return torch.stack(parts)

def run():
    x = torch.from_numpy(X)
    found = []
    found.append(x)
    found.append((x * 3).long())
    return [stacked([x, x > 0]), torch.cat(found)]
""",
    )


def test_methods_take_torchs_own_names_whatever_is_known_of_the_tensor(both: Both) -> None:
    same(
        both,
        """
def unknown(box):
    a, b = box["a"], box["b"]
    parts = [*a.hsplit(sections=2), *a.vsplit(sections=2), *a.split_with_sizes(split_sizes=[2, 4], dim=1)]
    return [a.mm(mat2=b), a.true_divide(other=a + 9), *parts, a[0].vdot(other=a[1])]

def known(a: torch.Tensor, b: torch.Tensor):
    return [a.mm(mat2=b), a.true_divide(other=a + 9), *a.hsplit(sections=2), *a.vsplit(sections=2)]

def run():
    a, b = torch.from_numpy(X), torch.from_numpy(X.T.copy())
    return [*unknown({"a": a, "b": b}), *known(a, b)]
""",
    )


def test_functionals_that_torch_has_too_take_torchs_order(both: Both) -> None:
    same(
        both,
        """
def run():
    x, w, b = torch.from_numpy(X), torch.arange(6.0), torch.ones(6)
    away, sign = x.flip(0), torch.tensor([1.0, -1.0, 1.0, 1.0])
    return [
        torch.batch_norm(x, w, b, b * 0, b * 2, False, 0.1, 1e-5, False), torch.layer_norm(x, (6,), w, b, 1e-5, False),
        torch.group_norm(x.view(2, 4, 3), 2), torch.embedding(x, torch.tensor([1, 3])), torch.dropout(x, 0.5, train=False),
        torch.kl_div(x, x.abs(), 2), torch.instance_norm(x.view(2, 2, 6), None, None, None, None, True, 0.1, 1e-5, False),
        torch.cosine_embedding_loss(x, away, sign, 0.1), torch.margin_ranking_loss(x, away, x.sign(), 0.3, reduction=0),
        torch.triplet_margin_loss(x, away, x * 2), torch.hinge_embedding_loss(x, x.sign()), torch.threshold(x, 0.1, 3.0),
        torch.binary_cross_entropy_with_logits(x, x.sigmoid(), w, b + 1, 1), torch.rms_norm(x, (6,)),
        torch.poisson_nll_loss(x, x.abs(), True, False, 1e-8, 2),
    ]
""",
    )


def test_what_is_moved_to_a_device_brings_no_graph_of_an_earlier_round(both: Both) -> None:
    same(
        both,
        """
def one_hot(label):
    return label.float() * 2

def train(net, other, rows, device, mode):
    first, second = torch.optim.SGD(net.parameters(), lr=0.1), torch.optim.SGD(other.parameters(), lr=0.1)
    for i in range(4):
        x, label = rows[i : i + 1], rows[i : i + 1, :2]
        if mode(i) == "a":
            c = label.clone()
        elif mode(i) == "b":
            c = one_hot(label)
        c = c.to(device)
        loss = (net(x) - c).pow(2).mean()
        first.zero_grad()
        loss.backward()
        first.step()
        if i % 2 == 0:
            loss = (other(x) - c).pow(2).mean()
            second.zero_grad()
            loss.backward()
            second.step()

def run():
    net, other = nn.Linear(6, 2), nn.Linear(6, 2)
    for each in (net, other):
        nn.init.constant_(each.weight, 0.1)
        nn.init.zeros_(each.bias)
    train(net, other, torch.from_numpy(X), "cpu", lambda i: "ab"[i % 2])
    return [net.weight.detach(), other.weight.detach(), other.bias.detach()]
""",
    )


def test_a_sum_of_bytes_in_a_dataset_is_int64(both: Both) -> None:
    same(
        both,
        """
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, i):
        return torch.tensor([200, 100, i], dtype=torch.uint8).sum()

def run():
    batch = next(iter(torch.utils.data.DataLoader(Rows(), batch_size=3)))
    assert "int64" in str(batch.dtype).lower() and "uint" not in str(batch.dtype).lower()
    return [batch]
""",
    )


def test_lists_of_two_types_that_arithmetic_makes_are_promoted(both: Both) -> None:
    same(
        both,
        """
def weights(snr, gamma):
    steps = torch.arange(4) + 3
    steps = steps.long()
    return torch.stack([snr, gamma * torch.ones_like(steps)], dim=1).min(dim=1)[0] / snr

def marked(x):
    counts = torch.full((4,), 2, dtype=torch.int64)
    return torch.cat((x, counts * 2 + 1)), torch.stack((x, torch.zeros_like(counts)))

def run():
    x = torch.from_numpy(X[:, 0]).abs().requires_grad_()
    out = [weights(x, 5.0), weights(x, 1), *marked(x), torch.stack([x * 2, torch.full_like(x, 2.0)])]
    sum((each * each).sum() for each in out).backward()
    return [*out, x.grad]
""",
    )


def test_parameters_and_buffers_are_stacked_with_plain_tensors(both: Both) -> None:
    same(
        both,
        """
class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.arange(6.0))
        self.rows = nn.ParameterList([nn.Parameter(torch.ones(6) * i) for i in range(2)])
        self.register_buffer("shift", torch.ones(6) * 3)
        self.line = nn.Linear(2, 6)

    def forward(self, x):
        kept = [self.scale * 2]
        kept.append(self.scale)
        kept.append(x)
        first = torch.stack([self.scale, x * 2], dim=1)
        second = torch.stack((x, self.rows[1], self.shift), -1)
        return torch.cat([first, second, torch.stack([self.line.bias * 0, x], 1), torch.stack(kept, 1)], 1)

def run():
    net = Mixed()
    leaf = torch.from_numpy(X[1]).requires_grad_()
    out = net(torch.from_numpy(X[0]))
    loss = (out ** 2).sum() + (torch.stack([leaf, leaf * 3]) ** 2).sum()
    loss.backward()
    return [out, leaf.grad, net.scale.grad, net.rows[1].grad]
""",
    )
