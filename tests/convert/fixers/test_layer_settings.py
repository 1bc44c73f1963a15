"""Settings of layers that change after the layer was built: carried through to what the layer computes, or reported."""

from __future__ import annotations

import numpy as np
import pytest

from mindferry import convert_source

HEAD = "import torch\nimport torch.nn as nn\n\n\n"
BUILD = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = {layer}
        self.other = nn.Identity()

    def forward(self, x):
        return self.layer(x)


net = Net()
{change}
"""
LOOP = "for m in net.modules():\n    if isinstance(m, {kind}):\n        {change}"
CASES = [
    ("nn.BatchNorm2d(3)", LOOP.format(kind="nn.BatchNorm2d", change="m.momentum = 0.5")),
    ("nn.BatchNorm2d(3)", LOOP.format(kind="nn.BatchNorm2d", change="m.eps = 0.5")),
    (
        "nn.BatchNorm2d(*[3], momentum=0.3)",
        LOOP.format(kind="nn.modules.batchnorm._BatchNorm", change="m.momentum = None"),
    ),
    ("nn.BatchNorm2d(3, momentum=None)", "net.layer.momentum = 0.4; net.layer.eps = 0.1"),
    ("nn.BatchNorm2d(3)", "net.layer.track_running_stats = False"),
    ("nn.BatchNorm2d(3)", "setattr(net.layer, 'momentum', 0.9)"),
    (
        "nn.Sequential(nn.Unflatten(1, (3, 1)), nn.BatchNorm3d(3))",
        LOOP.format(kind="nn.BatchNorm3d", change="m.momentum = 0.5\n        m.eps = 0.1"),
    ),
    (
        "nn.Sequential(nn.Flatten(2), nn.BatchNorm1d(3))",
        LOOP.format(kind="nn.BatchNorm1d", change="m.momentum = 0.5\n        m.eps = 0.1"),
    ),
    ("nn.LayerNorm(7)", LOOP.format(kind="nn.LayerNorm", change="m.eps = 0.5")),
    ("nn.LayerNorm([6, 7])", "net.layer.eps = 0.5"),
    ("nn.GroupNorm(1, 3)", "net.layer.eps = 0.5"),
    ("nn.InstanceNorm2d(3)", "net.layer.eps = 0.5"),
    ("nn.RMSNorm(7)", "net.layer.eps = 0.5"),
    ("nn.Dropout(0.9)", LOOP.format(kind="nn.Dropout", change="m.p = 0.0")),
    ("nn.Dropout2d(0.9)", LOOP.format(kind="nn.Dropout2d", change="m.p = 0")),
    ("nn.MaxPool2d(2)", "net.layer.ceil_mode = True"),
    ("nn.MaxPool2d(3, 2, 1, ceil_mode=True)", "net.layer.stride = (1, 1)"),
    ("nn.MaxPool2d(3, 2)", "net.layer.padding = 1\nnet.layer.dilation = 2\nnet.layer.kernel_size = 2"),
    ("nn.AvgPool2d(2)", "net.layer.ceil_mode = True"),
    ("nn.AvgPool2d(3, 2, 1, count_include_pad=False)", "net.layer.stride = 1"),
    ("nn.Conv2d(3, 4, 3, stride=2, padding=(1, 0))", "net.layer.stride = 1, 1"),
    ("nn.Conv2d(3, 4, 3, stride=2, padding=1, bias=False)", "net.layer.dilation = (2, 2); net.layer.padding = (2, 2)"),
    ("nn.Conv2d(*[3, 4, 3])", "net.layer.padding = 'same'"),
]


@pytest.mark.parametrize(("layer", "change"), CASES)
def test_a_changed_setting_changes_what_is_computed_as_in_torch(layer: str, change: str) -> None:
    import mindspore as ms
    import torch

    code = HEAD + BUILD.format(layer=layer, change=change)
    converted = convert_source(code)
    assert not converted.findings
    theirs, ours = {}, {}
    exec(compile(code, "theirs", "exec"), theirs)
    exec(compile(converted.code, "ours", "exec"), ours)
    ours["net"].set_train()
    for name in ("weight", "bias"):
        if "Conv" in layer and (value := getattr(theirs["net"].layer, name)) is not None:
            getattr(ours["net"].layer, name).set_data(ms.Tensor(value.detach().numpy()))
    generator = np.random.default_rng(5)
    for _ in range(3):
        x = generator.normal(1, 0.5, (2, 3, 6, 7)).astype(np.float32)
        want, got = theirs["net"](torch.from_numpy(x)), ours["net"](ms.Tensor(x))
        np.testing.assert_allclose(got.asnumpy(), want.detach().numpy(), rtol=1e-4, atol=1e-5)
    theirs["net"].eval(), ours["net"].set_train(False)
    want, got = theirs["net"](torch.from_numpy(x)), ours["net"](ms.Tensor(x))
    np.testing.assert_allclose(got.asnumpy(), want.detach().numpy(), rtol=1e-4, atol=1e-5)


def test_dropout_drops_the_share_that_it_was_given_last() -> None:
    import mindspore as ms

    ours: dict[str, object] = {}
    exec(convert_source(HEAD + BUILD.format(layer="nn.Dropout(0.0)", change="net.layer.p = 0.75")).code, ours)
    ours["net"].set_train()
    share = (ours["net"](ms.ops.ones((100, 100))).asnumpy() == 0).mean()
    assert 0.7 < share < 0.8


def test_a_layer_that_cannot_change_says_so_when_it_runs() -> None:
    ours: dict[str, object] = {}
    code = convert_source(HEAD + BUILD.format(layer="nn.MaxPool1d(2)", change="net.layer.ceil_mode = True")).code
    with pytest.raises(NotImplementedError, match="MaxPool1d reads ceil_mode only when it is built"):
        exec(code, ours)


@pytest.mark.parametrize(
    "change", ["a.negative_slope = 0.3", "d.p += 0.1", "d.p: float = 0.1", "d.p = other.p = 0.1", "d.p, n = 0.1, 2"]
)
def test_what_is_not_carried_through_is_a_finding_that_names_it(change: str) -> None:
    found = convert_source(f"{HEAD}a, d = nn.LeakyReLU(0.1), nn.Dropout(0.1)\n{change}\n").findings
    assert [each.code for each in found] == ["MF122"] and change.partition(" ")[0].strip(",:") in found[0].message


def test_a_layer_is_told_by_its_name_where_nothing_else_tells() -> None:
    main = convert_source(
        HEAD
        + "def f(backbone, i, x: torch.Tensor):\n    backbone[i].ceil_mode = True\n    backbone.layer4[0].conv2.stride = (1, 1)\n"
    ).main
    assert "ms_compat.set_layer_setting(backbone[i], 'ceil_mode', True)\n" in main
    assert "ms_compat.set_layer_setting(backbone.layer4[0].conv2, 'stride', (1, 1))\n" in main


def test_settings_of_other_objects_stay_assignments() -> None:
    code = "class Block(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.stride = 2\n\n\ndef f(args, group, tokenizer, block_cfg, block: Block):\n"
    code += "    args.stride = 1\n    group.momentum = 0.9\n    tokenizer.padding = True\n    block_cfg.stride = 1\n    block.stride = 3\n"
    converted = convert_source(HEAD + code)
    assert "set_layer_setting" not in converted.main and not converted.findings
