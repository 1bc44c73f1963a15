"""Tables that a library fills when it is imported come along filled, and so do modules that its functions import."""

from __future__ import annotations

from pathlib import Path

import pytest
from installed_packages import install, project, run_without
from libraries.outcome import Outcome
from libraries.page import page, rows_of

from mindferry.convert import convert_project
from mindferry.convert.settings import Settings

FILES = {
    "__init__.py": "",
    "table.py": "METHODS = {}\n\n\ndef register_method(name, made):\n    METHODS[name] = made\n",
    "factory.py": """
        import torch
        from .table import METHODS

        class Registry:
            def __init__(self):
                self.known = {}

        registry = Registry()

        def _register_defaults():
            registry.known["plain"] = torch.nn.Linear
            registry.known["wide"] = lambda a, b: torch.nn.Linear(a, 2 * b)

        _register_defaults()

        def make(name, a, b):
            return registry.known[name](a, b)

        def method(name, *sizes):
            return METHODS[name](*sizes)
        """,
    "double/__init__.py": """
        from ..table import register_method
        from .net import Double

        register_method("double", Double)
        """,
    "double/net.py": """
        import torch

        class Double(torch.nn.Module):
            @property
            def variants(self):
                from . import variants

                return {"plain": variants.Twice, "other": variants.Thrice}

            def forward(self, x):
                return self.variants["plain"]()(x)
        """,
    "double/variants.py": """
        import torch

        class Twice(torch.nn.Module):
            def forward(self, x):
                return x * 2

        class Thrice(torch.nn.Module):
            def forward(self, x):
                return x * 3
        """,
}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINDFERRY_CACHE", str(tmp_path / "cache"))


def test_what_is_registered_is_there_and_local_imports_are_followed(tmp_path: Path) -> None:
    install(tmp_path / "site", "makers", FILES)
    text = "import torch\nfrom makers.double import Double\nfrom makers.factory import make, method\n"
    made = project(tmp_path / "project", {"use.py": text})
    settings = Settings(packages=("makers",), sites=(str(tmp_path / "site"),))
    convert_project(made, tmp_path / "out", settings=settings)
    said = run_without(
        {"makers"},
        tmp_path / "out",
        """
        import numpy as np, mindspore as ms
        from use import make, method
        x = ms.Tensor(np.ones((2, 3), np.float32))
        print(make("plain", 3, 4)(x).shape, make("wide", 3, 4)(x).shape, float(method("double")(x).sum()))
        """,
    )
    assert said.strip() == "(2, 4) (2, 8) 12.0"


def test_a_class_that_is_registered_under_a_text_comes_along_with_the_text(tmp_path: Path) -> None:
    files = {
        "__init__.py": "",
        "blocks.py": """
            BLOCKS = {}

            def register_block(kind, made):
                BLOCKS[kind] = made

            def create_block(kind):
                return BLOCKS[kind]()
            """,
        "net.py": """
            import torch
            from .blocks import create_block, register_block

            class Twice(torch.nn.Module):
                def forward(self, x):
                    return x * 2

            class Unasked(torch.nn.Module):
                pass

            register_block("doubling", Twice)
            register_block("never", Unasked)

            def build():
                return create_block("doubling")
            """,
    }
    install(tmp_path / "site", "byparts", files)
    made = project(tmp_path / "project", {"use.py": "import torch\nfrom byparts.net import build\n"})
    settings = Settings(packages=("byparts",), sites=(str(tmp_path / "site"),))
    convert_project(made, tmp_path / "out", settings=settings)
    code = "import mindspore as ms\nfrom use import build\nprint(float(build()(ms.Tensor(3.0))))\n"
    assert run_without({"byparts"}, tmp_path / "out", code).strip() == "6.0"


def test_a_row_that_was_not_measured_again_stays_as_it_was() -> None:
    old = "# x\n\n## timm\n\n| network | output | gradients | tokens | version | measured | why not |\n"
    old += "| a | 1e-07 | 2e-07 |  | 1.0 | 2026-01-01 |  |\n| b |  |  |  |  |  | x \\| y |\n"
    new = page([Outcome("timm", "b", 3, 1e-7, 2e-7, "", None, "1.0", "2026-01-01")], old)
    assert "2 networks; the outputs of 2 agree, and all gradients of 2." in new
    assert "| a | 1e-07 | 2e-07 |  |  | 1.0 | 2026-01-01 |  |" in new
    assert "| b | 1e-07 | 2e-07 |  |  | 1.0 | 2026-01-01 |  |" in new
    assert rows_of(new) == rows_of(page([], new))
    worse = page([Outcome("timm", "b", 3, 1e-7, 2e-7, "generate: x", 3, "1.1", "2026-02-02")], new)
    assert "Of 1 that were asked to generate, 0 make the same 20 tokens." in worse


def test_a_gradient_may_be_as_far_from_float64_as_torchs_own() -> None:
    ill = Outcome("timm", "ill", 3, 2e-6, 9e-1, own_forward=1e-6, own_gradient=7e-1)
    wrong = Outcome("timm", "wrong", 3, 2e-6, 9e-1, own_forward=1e-6, own_gradient=1e-6)
    new = page([ill, wrong])
    assert "2 networks; the outputs of 2 agree, and all gradients of 1. 1 of these gradients are beyond 1e-3" in new
    assert "| ill | 2e-06 | 9e-01 | 1e-06, 7e-01 |" in new
    assert rows_of(new) == rows_of(page([], new))


def test_an_old_name_that_a_library_still_answers_to_brings_what_it_stands_for(tmp_path: Path) -> None:
    files = {
        "__init__.py": "",
        "table.py": """
            import sys
            MADE = {}

            def register_net(made):
                MADE[made.__name__] = made
                return made

            def register_old_names(module_name, names):
                for old, now in names.items():
                    MADE[old] = getattr(sys.modules[module_name], now.partition(".")[0])

            def create(name):
                return MADE[name]()
            """,
        "nets/__init__.py": "from .cat import *\nfrom ..table import create\n",
        "nets/cat.py": """
            import torch
            from ..table import register_net, register_old_names

            @register_net
            def cat_small():
                return torch.nn.Linear(2, 3)

            @register_net
            def cat_large():
                return torch.nn.Linear(2, 9)

            register_old_names(__name__, {
                "jx_cat_small": "cat_small.in1k",
                "jx_cat_large": "cat_large",
            })
            """,
    }
    install(tmp_path / "site", "oldnames", files)
    made = project(tmp_path / "project", {"use.py": "from oldnames.nets import create\nnet = create('jx_cat_small')\n"})
    convert_project(made, tmp_path / "out", settings=Settings(packages=("oldnames",), sites=(str(tmp_path / "site"),)))
    assert run_without({"oldnames"}, tmp_path / "out", "import use; print(use.net.weight.shape[0])").strip() == "3"
    assert "cat_large" not in (tmp_path / "out/ported/oldnames/nets/cat.py").read_text()


def test_a_library_that_asks_for_its_own_package_finds_it_where_it_is_now(tmp_path: Path) -> None:
    files = {
        "__init__.py": "",
        "parts/__init__.py": "",
        "parts/twice.py": "import torch\n\nclass Twice(torch.nn.Module):\n    def forward(self, x):\n        return x * 2\n",
        "find.py": """
            import importlib
            from .parts.twice import Twice

            def find(made):
                own = importlib.import_module(__name__.split(".")[0])
                return own.parts.twice.Twice is type(made), f"{made.__module__.split('.')[0]}"
            """,
    }
    install(tmp_path / "site", "selfish", files)
    made = project(tmp_path / "project", {"use.py": "import torch\nfrom selfish.find import Twice, find\n"})
    convert_project(made, tmp_path / "out", settings=Settings(packages=("selfish",), sites=(str(tmp_path / "site"),)))
    code = "from use import Twice, find\nprint(*find(Twice()))\n"
    assert run_without({"selfish"}, tmp_path / "out", code).strip() == "True selfish"
