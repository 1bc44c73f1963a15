"""What a layer is, told by its class's name, as DCGAN's first weights ask for it."""

from __future__ import annotations

import pytest

from mindferry import convert_source

CODE = """import torch
from torch import nn
{top}
def init(m):
    name = {named}
    if {test}:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)

net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ConvTranspose2d(2, 1, 3))
net.apply(init)
found = [net[1].weight.mean().item(), net[2].weight.mean().item()]
"""
FIND = "name.find('{}') != -1"


def made(test: str, named: str = "m.__class__.__name__", top: str = "") -> str:
    return convert_source(CODE.format(test=test, named=named, top=top)).code


@pytest.mark.parametrize("named", ["m.__class__.__name__", "type(m).__name__"])
@pytest.mark.parametrize(
    "test", [FIND.format("BatchNorm"), "'BatchNorm' in name", "hasattr(m, 'bias') and 'BatchNorm2d' in name"]
)
def test_a_norm_s_parameters_have_mindspores_names(test: str, named: str) -> None:
    code = made(test, named)
    assert "m.gamma.set_data(" in code and "m.beta.set_data(" in code
    names: dict[str, object] = {}
    exec(compile(code, "made", "exec"), names)
    assert abs(names["found"][0] - 1) < 0.1 > abs(names["found"][1])  # type: ignore[index]


def test_a_convolution_s_weight_is_written_as_it_is() -> None:
    code = made(FIND.format("Conv") + " or name.find('Linear') != -1")
    assert "m.weight.set_data(" in code and "init_constant(layer_parameter(m, 'bias')" in code


@pytest.mark.parametrize(
    ("test", "top"),
    [
        ("name != 'x' or 'BatchNorm' in name", ""),
        ("'Norm' in name", ""),
        ("'BatchNorm' in name", "class MyBatchNorm(nn.Module):\n    pass\n"),
        ("'BatchNorm' in name", "other = nn.BatchNorm3d(2)"),
        ("'BatchNorm' not in name", ""),
    ],
)
def test_where_the_name_does_not_tell_the_layer_is_asked(test: str, top: str) -> None:
    assert "layer_parameter(m, 'weight')" in made(test, top=top)
