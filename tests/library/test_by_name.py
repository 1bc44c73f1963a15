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
