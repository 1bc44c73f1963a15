"""Libraries whose parts a project asks for by a name that it only knows when it runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from installed_packages import install, project, run_without

from mindferry.convert import convert_project
from mindferry.convert.settings import Settings

FAMILY = """
    import torch.nn as nn
    from .api import register

    __all__ = ["{name}8", "{name}16", "Net{name}"]

    class Net{name}(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.inner = nn.Linear(2, width)

        def forward(self, x):
            return self.inner(x)

    @register()
    def {name}8():
        return Net{name}(8)

    @register()
    def {name}16():
        return Net{name}(16)
    """
ZOO = {
    "__init__.py": "from zoo import nets, unused\n",
    "unused.py": "",
    "nets/__init__.py": """
        from .bird import *
        from .beasts import *
        from . import deep
        from .api import make
        """,
    "nets/api.py": """
        BUILDERS = {}

        def register(name=None):
            def keep(builder):
                BUILDERS[name or builder.__name__] = builder
                return builder
            return keep

        def make(name):
            return BUILDERS[name]()
        """,
    "nets/bird.py": FAMILY.format(name="bird"),
    "nets/cat.py": FAMILY.format(name="cat"),
    "nets/dog.py": FAMILY.format(name="dog"),
    "nets/beasts.py": """
        from .cat import *
        from .dog import *
        from .cat import __all__ as cats
        from .dog import __all__ as dogs

        __all__ = cats + dogs
        """,
    "nets/deep/__init__.py": "from .eel import *\n",
    "nets/deep/eel.py": FAMILY.format(name="eel").replace("from .api", "from ..api"),
}


@pytest.mark.parametrize(
    ("code", "wanted", "left"),
    [
        ("import zoo\nbuild = lambda: zoo.nets.cat8()", "8", "dog"),
        ("from zoo import nets\nARCH = 'cat16'\nbuild = lambda: nets.__dict__[ARCH]()", "16", "dog"),
        ("import zoo.nets as n\nARCH = 'dog16'\nbuild = lambda: getattr(n, ARCH)()", "16", "bird"),
        ("import zoo\nARCHS = ['bird8']\nbuild = lambda: vars(zoo.nets)[ARCHS[0]]()", "8", "cat"),
        (
            "from zoo import nets\nbuild = lambda depth=16: getattr(nets, f'eel{depth}', None) or nets.deep.eel8()",
            "8",
            "cat",
        ),
        ("from zoo import nets\nbuild = lambda depth=16: getattr(nets, f'bird{depth}')()", "16", "dog"),
        ("from zoo import nets\nbuild = lambda depth=8: getattr(nets, 'dog' + str(depth))()", "8", "bird"),
        ("from zoo.nets import make\nbuild = lambda: make('eel16')", "16", "bird"),
    ],
)
def test_a_name_that_is_looked_up_when_it_runs_comes_along(tmp_path: Path, code: str, wanted: str, left: str) -> None:
    install(tmp_path / "site", "zoo", ZOO)
    source = project(tmp_path / "source", {"net.py": code})
    settings = Settings(packages=("zoo",), sites=(str(tmp_path / "site"),))
    convert_project(source, tmp_path / "out", settings=settings)
    shown = run_without({"zoo"}, tmp_path / "out", "import net; print(net.build().inner.weight.shape[0])")
    assert shown.strip() == wanted
    assert not (tmp_path / f"out/ported/zoo/nets/{left}.py").exists()


AUTO = {
    "__init__.py": "from .models.auto import AutoNet\nfrom .models.bird.configuration import BirdConfig\n",
    "models/__init__.py": "",
    "models/auto/__init__.py": """
        import importlib
        from collections import OrderedDict

        NAMES = OrderedDict([("bird", "BirdNet"), ("cat-fish", "CatFishNet")])

        class AutoNet:
            @classmethod
            def from_config(cls, config):
                module = importlib.import_module(f".{config.kind}", "autolib.models")
                return getattr(module, NAMES[config.kind])(config)
        """,
    "models/bird/__init__.py": "from .configuration import *\nfrom .modeling import *\n",
    "models/bird/configuration.py": """
        __all__ = ["BirdConfig"]

        class BirdConfig:
            kind = "bird"
            width = 3
        """,
    "models/bird/modeling.py": """
        import inspect
        import torch
        from torch import nn

        __all__ = ["BirdNet"]

        class Singing:
            @property
            def device(self):
                return next(self.parameters()).device

            def accepted(self):
                return sorted(inspect.signature(self.forward).parameters)

            def sing(self, x):
                return self.accepted() if self.device.type == x.device.type else [self.device.type]

        class BirdNet(nn.Module, Singing):
            def __init__(self, config):
                super().__init__()
                self.inner = nn.Linear(config.width, 2)

            def forward(self, x, loud=False):
                return self.inner(x)
        """,
    "models/cat_fish/__init__.py": "class CatFishNet:\n    pass\n",
}


def test_a_table_of_names_is_followed_for_the_configuration_in_reach(tmp_path: Path) -> None:
    install(tmp_path / "site", "autolib", AUTO)
    code = "from autolib import AutoNet, BirdConfig\n\ndef build():\n    return AutoNet.from_config(BirdConfig())\n\ndef sing(net, x):\n    return net.sing(x)\n"
    source = project(tmp_path / "source", {"net.py": code})
    settings = Settings(packages=("autolib",), sites=(str(tmp_path / "site"),))
    convert_project(source, tmp_path / "out", settings=settings)
    assert not (tmp_path / "out/ported/autolib/models/cat_fish").exists()
    code = "import net, mindspore as ms\nbuilt = net.build()\nprint(built(ms.ops.ones((1, 3))).shape, net.sing(built, ms.ops.ones((1, 3))))"
    assert run_without({"autolib"}, tmp_path / "out", code).strip() == "(1, 2) ['loud', 'x']"


OPERATORS = {
    "__init__.py": """
        import torch

        def _scaled(x, by):
            return x * by

        torch.library.custom_op(
            "oplib::scaled",
            _scaled,
            mutates_args=(),
            schema="(Tensor x, float by) -> Tensor",
        )

        def double(x):
            return torch.ops.oplib.scaled(x, by=2.0)
        """
}


def test_an_operator_for_torchs_compiler_is_called_as_a_function(tmp_path: Path) -> None:
    install(tmp_path / "site", "oplib", OPERATORS)
    source = project(tmp_path / "source", {"net.py": "from oplib import double\n"})
    settings = Settings(packages=("oplib",), sites=(str(tmp_path / "site"),))
    convert_project(source, tmp_path / "out", settings=settings)
    code = "import net, mindspore as ms\nprint(net.double(ms.Tensor([1.5])).asnumpy().tolist())"
    assert run_without({"oplib"}, tmp_path / "out", code).strip() == "[3.0]"
