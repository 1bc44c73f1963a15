"""Calls that public projects make and that once crashed, or meant something else, after a clean conversion."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from mindferry import convert_source
from mindferry.apis import Form, table


def _same(theirs: object, ours: object) -> None:
    assert len(theirs) == len(ours)  # type: ignore[arg-type]
    for expected, actual in zip(theirs, ours, strict=True):  # type: ignore[call-overload]
        if hasattr(expected, "detach"):
            expected, actual = expected.detach().numpy(), actual.asnumpy()
            assert expected.shape == actual.shape and expected.dtype == actual.dtype
            assert np.allclose(expected, actual, rtol=1e-4, atol=1e-5)
        else:
            assert expected == actual


def test_a_whole_network_that_was_saved_loads_again_with_its_values(both: Any) -> None:
    theirs, ours = both(
        "import io\n"
        "def run():\n"
        "    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(18, 3)).eval()\n"
        "    file = io.BytesIO()\n"
        "    torch.save({'net': net, 'epoch': 3}, file)\n"
        "    file.seek(0)\n"
        "    loaded = torch.load(file, weights_only=False)\n"
        "    x = torch.linspace(-1, 1, 50).reshape(2, 1, 5, 5)\n"
        "    again = loaded['net']\n"
        "    return (again(x) - net(x)).abs().max(), again(x).std() > 0, loaded['epoch']\n"
    )
    assert float(theirs[0]) == float(ours[0]) == 0
    assert bool(theirs[1]) and bool(ours[1]) and theirs[2:] == ours[2:]


def test_a_network_in_a_file_is_code_and_needs_to_be_asked_for() -> None:
    source = (
        "import io\nimport torch\n\n"
        "file = io.BytesIO()\ntorch.save(torch.nn.Linear(2, 2), file)\nfile.seek(0)\ntorch.load(file)\n"
    )
    with pytest.raises(Exception, match="weights_only=False"):
        exec(compile(convert_source(source).code, "saved", "exec"), {"__name__": "saved"})


@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 5), (4, 6, 5, 5)])
@pytest.mark.parametrize("name", ["Dropout1d", "Dropout2d", "Dropout3d"])
def test_dropout_of_channels_drops_along_the_axis_that_torch_drops_along(
    both: Any, name: str, shape: tuple[int, ...]
) -> None:
    if name == "Dropout1d" and len(shape) == 4:
        pytest.skip("torch refuses it")
    for result in both(f"def run():\n    return nn.{name}(0.5).train()(torch.ones{(40, *shape[1:])})\n"):
        values = np.asarray(result.detach() if hasattr(result, "detach") else result.asnumpy())
        assert values.shape == (40, *shape[1:]) and set(np.unique(values)) == {0.0, 2.0}
        unbatched = {"Dropout1d": 2, "Dropout2d": 0, "Dropout3d": 4}[name]
        lead = 1 if values.ndim == unbatched else 2
        flat = values.reshape(int(np.prod(values.shape[:lead])), -1)
        assert (flat == flat[:, :1]).all()


def test_statistics_that_are_no_buffers_move_where_they_lie(both: Any) -> None:
    """As in MoCo's batch norm of parts: statistics repeated for each part, and their mean kept."""
    _same(
        *both(
            "import torch.nn.functional as F\n"
            "def run():\n"
            "    x, out = torch.arange(64.).reshape(4, 4, 2, 2).cos().requires_grad_(), []\n"
            "    mean, var = torch.zeros(2).repeat(2), torch.ones(2).repeat(2)\n"
            "    other, more = torch.zeros(4), torch.full((4,), 2.0)\n"
            "    y = F.batch_norm(x, mean, var, None, None, True, 0.3)\n"
            "    z = F.instance_norm(x, other, more, momentum=0.2)\n"
            "    kept = F.batch_norm(x, mean, var)\n"
            "    F.batch_norm(x, None, None, training=True)\n"
            "    return [y, z, mean.view(2, 2).mean(0), var, other, more, kept]\n"
        )
    )


def test_batch_norm_takes_any_eps_and_keeps_the_statistics_that_torch_keeps(both: Any) -> None:
    _same(
        *both(
            "def run():\n"
            "    x, out = torch.arange(48.).reshape(4, 3, 2, 2).sin() * 3, []\n"
            "    for norm in (nn.BatchNorm2d(3, 5), nn.BatchNorm2d(3, 1, 1), nn.BatchNorm2d(3, 2, 0.3), nn.BatchNorm2d(3, 1, None)):\n"
            "        norm.train()\n"
            "        out += [norm(x), norm(x * 2 + 1)]\n"
            "        norm.eval()\n"
            "        out += [norm(x)]\n"
            "    return out\n"
        )
    )


def test_a_tensor_of_nested_lists_has_the_type_that_torch_gives_it(both: Any) -> None:
    lists = (
        "[np.float64(1.5), 2]",
        "[[2, 3.5], [np.float32(1), 4]]",
        "[np.int32(3), 1.5]",
        "[np.int32(3)]",
        "[torch.tensor(1), 2.5]",
        "[np.array([1., 2.]), np.array([3., 4.])]",
        "[True, 2]",
        "[torch.tensor(2.5), torch.tensor(1.5, dtype=torch.float64)]",
        "range(3)",
        "[]",
        "[[]]",
        "[1 + 2j]",
        "(np.bool_(True),)",
    )
    _same(
        *both(f"import numpy as np\ndef run():\n    return [{', '.join(f'torch.tensor({each})' for each in lists)}]\n")
    )


def test_a_device_can_be_asked_for_its_type_wherever_it_went(both: Any) -> None:
    theirs, ours = both(
        "class Net(nn.Module):\n"
        "    def __init__(self, device):\n"
        "        super().__init__()\n"
        "        self.device = device\n"
        "    def place(self):\n"
        "        return self.device.type\n"
        "def name(where):\n"
        "    return str(where), where.type, where.index, f'{where}', repr(where), where.type == 'cuda'\n"
        "def run():\n"
        "    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
        "    return Net(device).to(device).place(), name(device), name(torch.device('cpu')), torch.ones(1, device=device).device == device\n"
    )
    assert theirs == ours


def test_a_device_that_only_places_tensors_goes_with_the_last_use() -> None:
    text = convert_source(
        "import torch\ndevice = torch.device('cuda')\nnet = torch.nn.Linear(2, 2).to(device)\nx = torch.ones(2, device=device)\n"
    ).main
    assert "device" not in text and "net = nn.Dense(2, 2)\nx = ops.ones((2,))\n" in text


def test_what_a_meter_holds_is_formatted_whether_number_or_tensor(both: Any) -> None:
    theirs, ours = both(
        "class Meter:\n"
        "    def __init__(self, name, fmt):\n"
        "        self.name, self.fmt, self.avg = name, fmt, 0\n"
        "    def update(self, value):\n"
        "        self.avg = value\n"
        "    def __str__(self):\n"
        "        text = '{name} {avg' + self.fmt + '}'\n"
        "        return text.format(**self.__dict__)\n"
        "def show(values, key):\n"
        "    return '{a:.2f} {n:d}'.format(**values), f'{values[key]:.3f}', '{:.1f}|{:>4}'.format(values[key], 3), format(values[key], '.1e')\n"
        "def run():\n"
        "    meter = Meter('loss', ':.4f')\n"
        "    meter.update(torch.tensor(1.5))\n"
        "    return str(meter), show({'a': torch.tensor(2.5), 'n': torch.tensor(3)}, 'a'), show({'a': 2.5, 'n': 3}, 'a')\n"
    )
    assert theirs == ours


def test_a_lazy_network_takes_a_checkpoint_before_its_first_input(both: Any) -> None:
    theirs, ours = both(
        "def run():\n"
        "    x = torch.linspace(-1, 1, 128).reshape(2, 4, 4, 4)\n"
        "    made = lambda: nn.Sequential(nn.LazyConv2d(6, 3, groups=2), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(3)).eval()\n"
        "    first, second = made(), made()\n"
        "    y = first(x)\n"
        "    second.load_state_dict(first.state_dict())\n"
        "    return (second(x) - y).abs().max(), y.std() > 0\n"
    )
    assert float(theirs[0]) == float(ours[0]) == 0 and bool(ours[1])


def test_a_buffer_is_saved_and_is_no_parameter(both: Any) -> None:
    theirs, ours = both(
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.places = nn.Buffer(torch.arange(8.))\n"
        "        self.weight = nn.Parameter(torch.ones(8))\n"
        "    def forward(self, x):\n"
        "        return torch.zeros(self.places.size()) + self.places * x * self.weight\n"
        "def run():\n"
        "    net = Net()\n"
        "    return sorted(net.state_dict()), len(list(net.parameters())), net(torch.ones(8)).sum().item()\n"
    )
    assert theirs == ours


METHODS = ("torch.Tensor.", "torch.nn.Module.", "torch.optim.Optimizer.")


def test_positional_arguments_and_keywords_that_a_rule_adds_never_meet() -> None:
    """Every declared argument given by position: what comes out is either a finding or a call that names nothing twice."""
    rules = [
        rule
        for rule in table()
        if rule.args
        and not (rule.api.startswith(METHODS) or rule.missing or rule.form is not Form.CALL)
        and rule.api.startswith("torch.")
    ]
    lines = [
        f"value_{number} = {rule.api}({', '.join(f'({index}, {index})' for index in range(len(rule.args)))})"
        for number, rule in enumerate(rules)
    ]
    tree = ast.parse(convert_source("import torch\n\n" + "\n".join(lines) + "\n").main)
    found = 0
    for statement in tree.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if not isinstance(target, ast.Name) or target.id == "torch":  # the placeholder of what has a finding
            continue
        rule = rules[int(target.id.removeprefix("value_"))]
        found += 1
        for call in (node for node in ast.walk(statement) if isinstance(node, ast.Call)):
            names = [keyword.arg for keyword in call.keywords if keyword.arg]
            assert len(names) == len(set(names)), rule.api
            function = ast.unparse(call.func)
            if names and rule.positional is not None and rule.to in (function, f"mindspore.{function}"):
                assert len(call.args) <= rule.positional, (rule.api, ast.unparse(call))
    assert found > 500


def test_a_graph_network_over_a_sparse_matrix_learns_as_in_torch(both: Any) -> None:
    theirs, ours = both(
        "class Layer(nn.Module):\n"
        "    def __init__(self, width, out):\n"
        "        super().__init__()\n"
        "        self.weight = nn.Parameter(torch.full((width, out), 0.3) * torch.arange(out))\n"
        "    def forward(self, x, adj):\n"
        "        return torch.spmm(adj, torch.mm(x, self.weight))\n"
        "def run():\n"
        "    places = torch.tensor([[0, 1, 2, 2, 3], [1, 0, 3, 3, 2]])\n"
        "    adj = torch.sparse.FloatTensor(places, torch.tensor([1.0, 0.5, 0.2, 0.3, 2.0]), torch.Size([4, 4])).coalesce()\n"
        "    x, net = torch.linspace(-1, 1, 12).reshape(4, 3), Layer(3, 2)\n"
        "    optimizer, losses = optim.SGD(net.parameters(), lr=0.1), []\n"
        "    for _ in range(3):\n"
        "        optimizer.zero_grad()\n"
        "        loss = F.cross_entropy(net(x, adj), torch.tensor([0, 1, 1, 0]))\n"
        "        loss.backward()\n"
        "        optimizer.step()\n"
        "        losses.append(loss.item())\n"
        "    return losses, adj.size(0), adj._nnz()\n"
    )
    assert np.allclose(theirs[0], ours[0], rtol=1e-5) and len(set(theirs[0])) == 3 and theirs[1:] == ours[1:]


def test_samples_of_a_gamma_distribution_carry_the_gradient_of_their_mean(both: Any) -> None:
    for share in both(
        "def run():\n"
        "    torch.manual_seed(3)\n"
        "    rate = torch.full((6000,), 2.0, requires_grad=True)\n"
        "    drawn = torch.distributions.Gamma(rate, torch.tensor(1.5)).rsample()\n"
        "    grad, = torch.autograd.grad(drawn.sum(), rate)\n"
        "    return float(drawn.mean()), float(grad.mean())\n"
    ):
        assert abs(share[0] - 2 / 1.5) < 0.1 and abs(share[1] - 1 / 1.5) < 0.06


def test_a_function_is_differentiated_and_mapped_as_torch_func_does(both: Any) -> None:
    _same(
        *both(
            "def energy(v):\n"
            "    return torch.sum(v ** 3)\n"
            "def run():\n"
            "    x = torch.linspace(-1, 1, 6).reshape(2, 3)\n"
            "    grad, value = torch.func.grad_and_value(energy)(x)\n"
            "    return grad, value, torch.func.grad(energy)(x), torch.vmap(energy)(x)\n"
        )
    )


def test_lists_of_tensors_change_in_place(both: Any) -> None:
    _same(
        *both(
            "def run():\n"
            "    kept = torch.linspace(0, 1, 4)\n"
            "    group = [kept, torch.ones(2)]\n"
            "    torch._foreach_mul_(group, 3.0)\n"
            "    torch._foreach_add_(group, [torch.ones(4), torch.ones(2)], alpha=0.5)\n"
            "    torch._foreach_addcdiv_(group, [kept.clone(), torch.ones(2)], [torch.full((4,), 2.0), torch.ones(2)], value=-1)\n"
            "    return kept, group[1]\n"
        )
    )


def test_running_extremes_and_products_of_integers_are_torchs(both: Any) -> None:
    _same(
        *both(
            "def run():\n"
            "    x = torch.tensor([[3, -1, 2], [-4, 5, 0], [1, 1, -7]])\n"
            "    return *torch.cummin(x, 0), *torch.cummax(x, 1), torch.cumprod(x > 0, 1), torch.cumprod(x.int(), 0), torch.angle(x)\n"
        )
    )
