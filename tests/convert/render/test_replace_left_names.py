"""Names of torch's that stay in the text: every module of the output can be imported, and says what is missing when it is used."""

from __future__ import annotations

from typing import Any

import pytest

from mindferry import convert_source


def imported(source: str) -> dict[str, Any]:
    """The names of the converted file, which must run without torch as far as an import goes."""
    values: dict[str, Any] = {"__name__": "converted"}
    exec(compile(convert_source(source).code, "converted.py", "exec"), values)
    return values


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nparts = torch.__version__.split('.')\nIS_NEW = tuple(int(p) for p in parts[:2]) >= (1, 10)\n",
        "from torch.fx import Tracer\nclass Mine(Tracer):\n    pass\n",
        "import torch.fx as fx\nclass Mine(fx.Interpreter):\n    def run(self):\n        return fx.replace_pattern\n",
        "import torch\nlibrary = torch.library.Library('mine', 'DEF')\n@torch.library.custom_op('a::b')\ndef f(x):\n    return x\n",
        "from torch.distributed.rpc import RRef\ndef f(x: RRef | None = None) -> 'RRef':\n    return x\n",
        "import torch\nHAS = torch.foo.is_here() and torch.foo.version >= 3\nif HAS:\n    raise ValueError\n",
        "def late():\n    import torch\n    return torch.foo.bar()\n",
        "from torch import nn\nTABLE = {nn.Nonesuch: 1, 'b': nn.Other.thing}\n",
        "import torch\nnames = [each for each in torch.foo.names]\n",
    ],
)
def test_a_file_with_names_that_are_left_can_be_imported(source: str) -> None:
    imported(source)


LEFT = (
    "    torch.first_of_many_names_that_have_no_rule(x)\n    return torch.second_of_many_names_that_have_no_rule(x)\n"
)


@pytest.mark.parametrize(
    "source",
    [
        f"import os\nif os.sep: import torch\ndef f(x):\n{LEFT}",
        f"import os\nif os.sep: import torch; SEP = os.sep\ndef f(x):\n{LEFT}",
        f"COUNT = [0]\nCOUNT[0] += 1; import torch; assert COUNT == [1]\ndef f(x):\n{LEFT}",
        f"import os\nif os.sep: from torch import (fx,  # traces\n    library)\nimport torch\nUSED = fx.a, library.b\ndef f(x):\n{LEFT}",
        "import torch\nwith torch.no_grad():\n    def f(x):\n        import torch, os\n"
        + "".join(f"    {line}\n" for line in LEFT.splitlines()),
        f"import torch\nglobal torch\ndef f(x):\n{LEFT}",
        f"def f(x):\n    import torch\n    global torch\n{LEFT}",
    ],
)
def test_what_stands_for_a_name_fits_in_wherever_the_import_stood(source: str) -> None:
    assert "MF901" not in {each.code for each in convert_source(source).findings}
    with pytest.raises(NotImplementedError, match="first_of_many_names_that_have_no_rule has no rule"):
        imported(source)["f"](3)


def test_what_is_left_raises_the_finding_s_own_text_when_it_is_used() -> None:
    source = "import torch\nfrom torch.fx import Tracer\ndef f(x):\n    return torch.ops.mine.foo(x)\ndef g():\n    return Tracer()\n"
    conversion = convert_source(source)
    values = imported(source)
    for name in ("f", "g"):
        with pytest.raises(NotImplementedError) as caught:
            values[name](*([3] if name == "f" else []))
        assert str(caught.value) in [each.message for each in conversion.findings]


def test_an_object_of_a_class_that_derives_from_what_is_left_cannot_be_made() -> None:
    values = imported("from torch.fx import Tracer\nclass Mine(Tracer):\n    pass\ndef make():\n    return Mine()\n")
    with pytest.raises(NotImplementedError, match="symbolic tracer"):
        values["make"]()


def test_both_branches_of_a_conditional_import_keep_their_meaning() -> None:
    source = (
        "def is_torch_available():\n    return True\n\n"
        "if is_torch_available():\n    from torch.nn import ModuleList, Linear\n    from torch.fx import Tracer\n"
        "else:\n    ModuleList = object\n    Tracer = object\n\n"
        "class Layers(ModuleList):\n    pass\n\nclass Mine(Tracer):\n    pass\n\nlayers = Layers([Linear(2, 3)])\n"
    )
    values = imported(source)
    assert len(values["layers"]) == 1


def test_a_name_that_mindspore_s_module_takes_over_is_told_apart() -> None:
    source = "from torch import nn\nnet = nn.Linear(2, 3)\nclass Odd(nn.Nonesuch):\n    pass\n"
    text = convert_source(source).main
    assert "nn.Dense(2, 3)" in text and "class Odd(torch_nn.Nonesuch)" in text
    imported(source)


def test_an_import_goes_when_nothing_of_it_is_left() -> None:
    assert "Missing" not in convert_source("import torch\nx = torch.zeros(3)\n").main
    shadowed = "import torch.nn.functional as F\ndef f(F):\n    return F.relu\n"
    assert "Missing" not in convert_source(shadowed).main
