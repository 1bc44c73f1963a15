"""Containers and layers that a project derives its own classes from. Both frameworks run the same source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindferry.convert import convert_source

Both = Callable[[str], tuple[Any, Any]]


def converted(code: str) -> str:
    return convert_source("import torch\nfrom torch import nn\n\n" + code).main


def test_a_sequential_runs_the_layers_set_as_its_attributes(both: Both) -> None:
    theirs, ours = both("""
class Transition(nn.Sequential):
    def __init__(self):
        super().__init__()
        self.norm = nn.Hardtanh(-1.0, 1.0)
        self.act = nn.ReLU()

def run():
    return Transition()(torch.tensor([-3.0, 0.5, 3.0])).tolist()
""")
    assert ours == theirs == [0.0, 0.5, 1.0]


def test_a_module_dict_with_a_forward_of_its_own_runs_and_lists_its_layers(both: Both) -> None:
    theirs, ours = both("""
class Block(nn.ModuleDict):
    def __init__(self):
        super().__init__({"first": nn.ReLU()})
        for i in range(2):
            self.add_module("layer%d" % i, nn.Hardtanh(-1.0, 1.0 + i))
        self["last"] = nn.Sequential(nn.ReLU())

    def forward(self, x):
        found = [x]
        for name, layer in self.items():
            found.append(layer(found[-1]))
        return torch.stack(found)

def run():
    block = Block()
    popped = block.pop("first")
    return block(torch.tensor([-3.0, 3.0])).tolist(), list(block.keys()), len(block), "layer1" in block, [n for n in block]
""")
    assert ours == theirs


def test_a_layer_is_reset_as_torch_resets_it(both: Both) -> None:
    theirs, ours = both("""
class Scaled(nn.Conv2d):
    def __init__(self):
        super().__init__(2, 3, 3, padding=1, stride=2)
        self.gain = nn.Parameter(torch.ones(3))
        self.reset_parameters()

    def reset_parameters(self):
        if hasattr(self, "gain"):
            super().reset_parameters()

    def forward(self, x):
        return nn.functional.conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

def run():
    layer = Scaled()
    return tuple(layer(torch.ones(1, 2, 8, 8)).shape), bool(layer.weight.abs().max() <= 1 / 18**0.5), tuple(layer.padding)
""")
    assert ours == theirs


def test_super_names_its_class_where_others_are_derived_from_it() -> None:
    text = converted(
        "class A(nn.Linear):\n    def forward(self, x):\n        return super().forward(x)\n\n"
        "class B(A):\n    def forward(self, x):\n        return super().forward(x)\n"
    )
    assert text.count("super(A, self).construct(x)") == 1 and text.count("super().construct(x)") == 1


def test_a_forward_chosen_in_init_is_a_chosen_construct() -> None:
    assert "self.construct = self.f\n" in converted(
        "class A(nn.Module):\n    def __init__(self):\n        self.forward = self.f\n"
    )


def test_forward_of_something_unknown_is_construct_in_a_network_only(both: Both) -> None:
    code = """
class A(nn.Module):
    def features(self, x):
        part = self.parts[0]
        return part.forward(x)

class Car:
    def forward(self, distance):
        return distance.tolist() * 2

def drive(car, distance):
    return car.forward(distance)

def run():
    network = A()
    network.parts = nn.ModuleList([nn.ReLU()])
    given = torch.tensor([-1.0, 2.0])
    return network.features(given).tolist(), drive(network.parts[0], given).tolist(), drive(Car(), given)
"""
    text = converted(code)
    assert "part.construct(x)" in text and "ms_compat.any_forward(car, distance)" in text
    theirs, ours = both(code)
    assert ours == theirs == ([0.0, 2.0], [0.0, 2.0], [-1.0, 2.0, -1.0, 2.0])


def test_a_norm_whose_class_is_unknown_is_asked_for_its_weight_when_it_runs(both: Both) -> None:
    theirs, ours = both("""
class Block(nn.Module):
    def __init__(self, norm_layer):
        super().__init__()
        self.bn = norm_layer(3)
        nn.init.constant_(self.bn.weight, 0.5)

def run():
    return Block(nn.BatchNorm2d).bn.weight.tolist()
""")
    assert ours == theirs == [0.5, 0.5, 0.5]


def test_strided_slices_have_gradients(both: Both) -> None:
    theirs, ours = both("""
class Patch(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        return (x * self.scale)[:, 1::2, ::2, :]

def run():
    return Patch()(torch.arange(48.0).reshape(1, 4, 4, 3)).flatten().tolist()
""")
    assert ours == theirs
    assert "ms_compat.take_every(x, (-3, 1, 2), (-1, 0, 3))" in converted(
        "class A(nn.Module):\n    def forward(self, x):\n        return x[..., 1::2, :, ::3]\n"
    )


def test_a_stride_may_be_a_name() -> None:
    text = converted(
        "class A(nn.Module):\n    def forward(self, x):\n        return x[:, ::self.stride, ::self.stride]\n"
    )
    assert "ms_compat.take_every(x, (1, 0, self.stride), (2, 0, self.stride))" in text


def test_slices_of_the_first_axis_alone_and_of_a_table_stay() -> None:
    text = converted(
        "class A(nn.Module):\n    def forward(self, x, k, table):\n        return x[::2], x[k, ::2], x[[0, 1], ::2], table.iloc[:, ::2]\n"
    )
    assert "x[::2], x[k, ::2], x[[0, 1], ::2], table.iloc[:, ::2]" in text


def test_strided_slices_have_gradients_beside_numbers_and_with_computed_bounds(both: Both) -> None:
    theirs, ours = both("""
import numpy as np

def pairs(x):
    return [x[0, ::2], x[:, 1:3, ::2], x[:, -3::2], x[:, None, ::2], x[..., 0, 1:4:2], x[:, 0:-1:2, 1], x[-2:, 1::3, None]]

class Patch(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2, 4, 5))

    def forward(self, x):
        x = x * self.scale
        both = [x[:, row::2, column:row + 4:2] for row in range(2) for column in range(2)]
        return sum((part * (k + 1)).sum() for k, part in enumerate([*both, *pairs(x)]))

def run():
    net = Patch()
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)
    loss = net(torch.arange(40.0).reshape(2, 4, 5))
    loss.backward()
    optimizer.step()
    shapes = [list(each.shape) for each in pairs(np.zeros((2, 4, 5)))]
    return [shapes, loss.item(), net.scale.tolist()]
""")
    assert ours == theirs


def test_slices_of_computed_bounds_are_filled_even_if_they_are_empty(both: Both) -> None:
    theirs, ours = both("""
def run():
    mask = torch.zeros((4, 5))
    count = 0
    for rows in ((0, -2), (-2, -1), (-1, None), (4, 4)):
        for columns in ((0, -5), (-5, -1), (-1, None)):
            mask[rows[0] : rows[1], columns[0] : columns[1]] = count
            count += 1
    return mask.tolist()
""")
    assert ours == theirs


def test_slices_of_constant_bounds_are_assigned_to() -> None:
    assert "x[1:2, :-1] = 3\n" in converted("x = torch.zeros(4, 4)\nx[1:2, :-1] = 3\n")


def test_a_sequential_that_stays_empty_is_an_identity_and_one_that_is_filled_is_not() -> None:
    code = converted("""
class Block(nn.Module):
    def __init__(self, wide):
        super().__init__()
        self.short = nn.Sequential()
        self.tail = nn.Sequential()
        self.tail.add_module("act", nn.ReLU())
        if wide:
            self.short = nn.Sequential(nn.Linear(2, 2))

    def forward(self, x):
        return self.tail(x + self.short(x))
""")
    assert "self.short = nn.Identity()" in code and "self.tail = ms_compat.Sequential()" in code
