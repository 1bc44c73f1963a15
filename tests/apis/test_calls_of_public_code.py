"""Calls that public projects make and that once crashed, or meant something else, after a clean conversion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindferry import convert_source
from mindferry.apis import table


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


def test_a_device_that_only_places_tensors_stays_a_plain_name() -> None:
    text = convert_source(
        "import torch\ndevice = torch.device('cuda')\nnet = torch.nn.Linear(2, 2).to(device)\nx = torch.ones(2, device=device)\n"
    ).main
    assert "device = ms.get_context('device_target')\n" in text


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


def test_positional_arguments_and_keywords_that_a_rule_adds_never_meet() -> None:
    """Every declared argument given by position: what comes out is either a finding or a call that names nothing twice."""
    import ast

    for rule in table():
        if rule.is_method or rule.missing or not rule.args or rule.api.endswith("@") or "." not in rule.api:
            continue
        arguments = ", ".join(f"({index}, {index})" for index in range(len(rule.args)))
        root = rule.api.partition(".")[0]
        conversion = convert_source(f"import {root}\nimport torch\n\nvalue = {rule.api}({arguments})\n")
        tree = ast.parse(conversion.main)
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            names = [keyword.arg for keyword in call.keywords if keyword.arg]
            assert len(names) == len(set(names)), rule.api
            if (
                names
                and rule.positional is not None
                and rule.to in (ast.unparse(call.func), f"mindspore.{ast.unparse(call.func)}")
            ):
                assert len(call.args) <= rule.positional, (rule.api, conversion.main)
