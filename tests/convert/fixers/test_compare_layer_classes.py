"""Which class a layer is: compared, looked up, asked with isinstance or by its name, a layer is what it is in torch."""

from __future__ import annotations

from pathlib import Path

from two_frameworks import PRELUDE, load

from mindferry import convert_source

BODY = """import functools

TYPES = (nn.Linear, nn.Conv2d)
KINDS = {nn.Linear: "lin", nn.Conv2d: "conv", nn.BatchNorm2d: "bn", nn.ReLU: "relu"}

def find(net, types=TYPES):
    return [name for name, m in net.named_modules() if isinstance(m, types)]

def exact(net):
    return [name for name, m in net.named_modules() if type(m) == nn.Linear or type(m) is nn.BatchNorm2d]

def kinds(net):
    return [KINDS.get(type(m), "?") for m in net.modules()] + [KINDS[m.__class__] for m in net.children() if m.__class__ in KINDS]

def names(net):
    out = []
    for m in net.modules():
        classname = m.__class__.__name__
        if classname.find("BatchNorm2d") != -1:
            nn.init.constant_(m.weight.data, 3.0)
        out.append(classname)
        out.append(type(m).__name__)
    return out

def get_norm(kind):
    if kind == "batch":
        return functools.partial(nn.BatchNorm2d, affine=True)
    return functools.partial(nn.InstanceNorm2d, affine=False)

def uses_bias(norm_layer):
    if type(norm_layer) == functools.partial:
        return norm_layer.func == nn.InstanceNorm2d
    return norm_layer == nn.InstanceNorm2d

class Registry(dict):
    def of(self, m):
        for kind, name in self.items():
            if m.__class__ is kind:
                return name
        return None

def registered():
    table = Registry()
    table[nn.Linear] = "fc"
    table[nn.Dropout] = "drop"
    layers = nn.Sequential(nn.Dropout(0.2), nn.Linear(3, 3), nn.ReLU())
    return [table.of(m) for m in layers], [isinstance(nn.Linear(2, 2), kind) for kind in table]

def run():
    norm = get_norm("batch")
    net = nn.Sequential(nn.Conv2d(3, 4, 3), norm(4), nn.ReLU(), nn.Flatten(), nn.Linear(4, 2), nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.1)))
    return [registered(), find(net), find(net, nn.Linear), exact(net), kinds(net), names(net), uses_bias(norm), uses_bias(get_norm("i")), uses_bias(nn.BatchNorm2d),
      [t.__name__ for t in TYPES], issubclass(nn.Linear, nn.Module), isinstance(net[0], (nn.Linear, nn.Conv1d)), any(isinstance(net[0], t) for t in TYPES), net[4].__class__ == nn.Linear, type(net[4]) in (nn.Linear, nn.Conv2d), type(net[4]) in TYPES]
"""


def test_a_layer_is_the_class_that_it_is_in_torch(tmp_path: Path) -> None:
    conversion = convert_source(PRELUDE + BODY)
    assert [each for each in conversion.findings if each.severity != "note"] == []
    theirs, ours = load(PRELUDE + BODY, tmp_path / "theirs.py").run(), load(conversion.code, tmp_path / "ours.py").run()
    assert ours == theirs


def test_helpers_stay_plain_where_no_class_is_compared() -> None:
    source = "from torch import nn\n\ndef build(act=nn.ReLU):\n    return act(inplace=True), nn.Linear(2, 3)\n"
    assert "metaclass" not in convert_source(source).code


def test_a_class_that_is_given_another_name_stays() -> None:
    """Of a mock, say: the name is written, so no call can stand for it."""
    source = "import torch\n\n\ndef rename(mock):\n    mock.__class__.__name__ = 'other'\n    type(mock).__name__ = 'other'\n    del mock.__class__.__name__\n"
    result = convert_source(source)
    assert not [each for each in result.findings if each.code == "MF901"]
    assert "    mock.__class__.__name__ = 'other'\n    type(mock).__name__ = 'other'\n" in result.main
