"""Libraries that come along with a project: what it reaches of them is converted and runs without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from installed_packages import install, project, run_without

from mindferry.artifacts import ProjectConversion
from mindferry.convert import convert_project, convert_source
from mindferry.convert.settings import Settings

LAZY = {
    "__init__.py": """
        # Copyright: see LICENSE.
        import sys
        from typing import TYPE_CHECKING

        from .availability import is_torch_available
        from .lazy import _LazyModule

        __version__ = "1.2.3"
        _import_structure = {"config": ["Config"], "models": ["TinyModel", "OtherModel"]}

        if TYPE_CHECKING:
            from .config import Config
            from .models import *
        else:
            sys.modules[__name__] = _LazyModule(__name__, globals()["__file__"], _import_structure, module_spec=__spec__)
        """,
    "lazy.py": """
        import importlib
        from types import ModuleType

        class _LazyModule(ModuleType):
            def __init__(self, name, file, structure, module_spec=None):
                super().__init__(name)
                self.__path__ = [file.rpartition("/")[0]]
                self.__spec__ = module_spec
                self._homes = {each: home for home, names in structure.items() for each in names}

            def __getattr__(self, name):
                if name not in self._homes:
                    raise AttributeError(name)
                return getattr(importlib.import_module("." + self._homes[name], self.__name__), name)
        """,
    "availability.py": """
        import importlib.util

        def _is_package_available(name):
            return importlib.util.find_spec(name) is not None

        def is_torch_available():
            return _is_package_available("torch")

        def is_fused_kernels_available():
            return _is_package_available("torch_fused_kernels_of_nobody")

        def is_json_available():
            return _is_package_available("json")
        """,
    "config.py": """
        from dataclasses import dataclass

        @dataclass
        class Config:
            width: int = 8
            activation: str = "gelu"

            @classmethod
            def from_hub(cls, name):
                from .hub import download
                return cls(**download(name))
        """,
    "hub.py": "import requests_of_nobody\n\ndef download(name):\n    return requests_of_nobody.get(name)\n",
    "models/__init__.py": "from .tiny import *\nfrom .other import *\n",
    "models/tiny.py": """
        import torch
        from torch import nn

        from ..activations import ACTIVATIONS
        from ..availability import is_fused_kernels_available, is_json_available, is_torch_available
        from ..base import Base
        from ..config import Config

        if is_torch_available():
            import torch.nn.functional as F

        if is_fused_kernels_available():
            from torch_fused_kernels_of_nobody import fused_scale
        else:
            def fused_scale(x):
                return x * 0.5

        __all__ = ["TinyModel"]


        # The block stays with its comment.
        class Block(nn.Module):
            def __init__(self, config: Config):
                super().__init__()
                self.inner = nn.Linear(config.width, config.width)
                self.act = ACTIVATIONS[config.activation]

            def forward(self, x):
                return x + self.act(self.inner(x))


        class TinyModel(Base):
            def __init__(self, config):
                super().__init__(config)
                self.blocks = nn.ModuleList([Block(config) for _ in range(2)])
                self.finish()

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return fused_scale(F.normalize(x, dim=-1)) if is_json_available() else x


        def unused_here(x):
            return torch.fft.hfft(x)
        """,
    "models/other.py": """
        from ..base import Base
        from ..enormous import something_large

        __all__ = ["OtherModel"]

        class OtherModel(Base):
            def forward(self, x):
                return something_large(x)
        """,
    "enormous.py": "def something_large(x):\n    return x\n",
    "activations.py": """
        from torch import nn

        class Scaled(nn.Module):
            def forward(self, x):
                return x * 1.7 * nn.functional.relu(x)

        ACTIVATIONS = {"gelu": nn.GELU(), "relu": nn.ReLU()}
        ACTIVATIONS["scaled"] = Scaled()
        """,
    "base.py": """
        from torch import nn

        class Base(nn.Module):
            def __init__(self, config):
                super().__init__()
                self.config = config

            def finish(self):
                for parameter in self.parameters():
                    nn.init.uniform_(parameter, -0.5, 0.5)

            def push(self, where):
                from .hub import download
                return download(where)
        """,
}
USER = {
    "net.py": """
        from lazylib import Config, TinyModel


        def build():
            return TinyModel(Config(width=4, activation="scaled")).eval()
        """
}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINDFERRY_CACHE", str(tmp_path / "cache"))


def bring(folder: Path, *packages: str, **options: object) -> ProjectConversion:
    settings = Settings(packages=packages, sites=(str(folder / "site"),), **options)  # type: ignore[arg-type]
    return convert_project(folder / "project", folder / "out", settings=settings)


def command(folder: Path, *options: str) -> tuple[int, str]:
    """(exit code, what is printed) of `mindferry convert`."""
    words = [sys.executable, "-m", "mindferry", "convert", str(folder / "project"), "-o", str(folder / "out"), *options]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout + done.stderr


def modules(folder: Path) -> set[str]:
    ported = folder / "out/ported"
    return {path.relative_to(ported).as_posix() for path in ported.rglob("*.py")}


def test_a_lazy_library_comes_along_as_far_as_it_is_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "site", "lazylib", LAZY)
    project(tmp_path / "project", USER)

    result = bring(tmp_path, "lazylib")

    assert not [each for each in result.findings if each.severity == "error"]
    assert "lazylib/models/tiny.py" in modules(tmp_path)
    assert not modules(tmp_path) & {
        "lazylib/hub.py",
        "lazylib/enormous.py",
        "lazylib/models/other.py",
        "lazylib/lazy.py",
        "lazylib/models/__init__.py",  # which only passes names on: nobody takes them there
    }
    text = (tmp_path / "out/ported/lazylib/models/tiny.py").read_text()
    assert "# The block stays with its comment." in text and "unused_here" not in text
    assert "from ported.lazylib import Config, TinyModel" in (tmp_path / "out/net.py").read_text()

    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.syspath_prepend(str(tmp_path / "project"))
    for name in [each for each in sys.modules if each.partition(".")[0] in ("net", "lazylib")]:
        monkeypatch.delitem(sys.modules, name)
    torch.manual_seed(3)
    import net  # type: ignore[import-not-found]

    model = net.build()
    x = torch.randn(3, 4, requires_grad=True)
    y = model(x)
    (y * torch.arange(12.0).reshape(3, 4)).sum().backward()
    weights = {name: value.detach().tolist() for name, value in model.named_parameters()}
    (tmp_path / "given.json").write_text(json.dumps([weights, x.detach().tolist()]))
    code = f"""
        import json
        import numpy as np, mindspore as ms
        import net
        weights, x = json.load(open({str(tmp_path / "given.json")!r}))
        model = net.build()
        for parameter in model.get_parameters():
            parameter.set_data(ms.Tensor(np.array(weights[parameter.name], np.float32)))
        x = ms.Tensor(np.array(x, np.float32))
        scale = ms.Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
        gradient = ms.grad(lambda x: (model(x) * scale).sum())(x)
        print(json.dumps([model(x).asnumpy().tolist(), gradient.asnumpy().tolist()]))
        """
    output, gradient = json.loads(run_without({"lazylib"}, tmp_path / "out", code))
    torch.testing.assert_close(torch.tensor(output), y.detach(), atol=1e-6, rtol=1e-5)
    assert x.grad is not None and x.grad.std() > 0
    torch.testing.assert_close(torch.tensor(gradient), x.grad, atol=1e-5, rtol=1e-4)


def test_what_is_left_behind_says_so_where_it_is_used(tmp_path: Path) -> None:
    install(tmp_path / "site", "lazylib", LAZY)
    project(tmp_path / "project", USER)
    bring(tmp_path, "lazylib")
    code = """
        import net
        try:
            net.build().push("somewhere")
        except NotImplementedError as error:
            print(error)
        """
    said = run_without({"lazylib"}, tmp_path / "out", code)
    assert "lazylib.base.Base.push was not carried along: nothing that the project reaches mentions it" in said


def test_the_licence_and_a_notice_come_along(tmp_path: Path) -> None:
    install(tmp_path / "site", "lazylib", LAZY)
    project(tmp_path / "project", USER)
    bring(tmp_path, "lazylib")
    assert (tmp_path / "out/ported/lazylib/LICENSE").read_text() == "MIT: you may use lazylib.\n"
    notice = (tmp_path / "out/ported/NOTICE.md").read_text()
    assert "## lazylib 1.2.3" in notice and "Licence: MIT" in notice and "- `lazylib.models.tiny`" in notice


def test_a_licence_that_forbids_copies_is_respected(tmp_path: Path) -> None:
    install(tmp_path / "site", "closed", {"__init__.py": "import torch\n"}, licence="Proprietary")
    project(tmp_path / "project", {"net.py": "import closed\n"})
    code, said = command(tmp_path, "--with", "closed", "--site", str(tmp_path / "site"))
    assert code == 2
    assert "the licence of closed (Proprietary) does not allow to carry changed copies of it along" in said
    assert not (tmp_path / "out").exists()


def test_a_library_that_is_not_installed_is_named(tmp_path: Path) -> None:
    project(tmp_path / "project", {"net.py": "import library_of_nobody\n"})
    code, said = command(tmp_path, "--with", "library_of_nobody")
    assert code == 2
    assert "there is no installed package library_of_nobody" in said and "--site" in said


def test_too_many_modules_are_a_finding_that_says_what_pulled_them_in(tmp_path: Path) -> None:
    install(tmp_path / "site", "lazylib", LAZY)
    project(tmp_path / "project", USER)
    result = bring(tmp_path, "lazylib", most_modules=3)
    found = [each for each in result.findings if each.code == "MF152"]
    assert len(found) == 1 and found[0].severity == "error"
    assert "more than 3 modules of lazylib" in found[0].message and "pulls in" in found[0].message
    assert "--with-limit" in found[0].advice


def test_a_file_that_imports_only_such_a_library_is_torch_code(tmp_path: Path) -> None:
    project(tmp_path / "project", {"net.py": "from timm import create_model\n\nnet = create_model('resnet18')\n"})
    code, said = command(tmp_path)
    assert code == 1
    assert "MF150" in said and "--with timm" in said


def test_the_second_project_finds_the_library_converted(tmp_path: Path) -> None:
    install(tmp_path / "site", "lazylib", LAZY)
    for name in ("one", "two"):
        project(tmp_path / name / "project", USER)
        (tmp_path / name / "site").symlink_to(tmp_path / "site")
    bring(tmp_path / "one", "lazylib")
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache/converted").rglob("*.json")}
    bring(tmp_path / "two", "lazylib")
    assert kept == {path: path.stat().st_mtime_ns for path in (tmp_path / "cache/converted").rglob("*.json")}
    for path in (tmp_path / "one/out/ported").rglob("*.py"):
        assert path.read_bytes() == (tmp_path / "two/out" / path.relative_to(tmp_path / "one/out")).read_bytes()


def test_packages_to_bring_along_may_stand_in_the_projects_own_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "site", "lazylib", LAZY)
    project(tmp_path / "project", {**USER, "mindferry.toml": '[convert]\nwith = ["lazylib"]\n'})
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    convert_project(tmp_path / "project", tmp_path / "out")
    assert "lazylib/models/tiny.py" in modules(tmp_path)


REGISTRY = {
    "__init__.py": "from .models import create_model as create_model\n",
    "registry.py": """
        import sys

        _entries = {}
        _settings = {}


        def register_model(function):
            module = sys.modules[function.__module__]
            _entries[function.__name__] = function
            if hasattr(module, "default_cfgs") and function.__name__ in module.default_cfgs:
                _settings[function.__name__] = module.default_cfgs[function.__name__]
            return function


        def create_model(name, **kwargs):
            name = name.partition(".")[0]
            return _entries[name](**_settings.get(name, {}), **kwargs)
        """,
    "models/__init__.py": """
        from .narrow import *
        from .wide import *
        from ..registry import create_model as create_model
        """,
    "models/narrow.py": """
        from torch import nn

        from ..layers import *
        from ..registry import register_model

        __all__ = ["Narrow"]
        default_cfgs = {"narrow_net": {"width": 5}}


        class Narrow(nn.Module):
            def __init__(self, width, classes=2):
                super().__init__()
                self.head = Scaled(width, classes)

            def forward(self, x):
                return getattr(self, f"_run_{'plain'}_head")(x)

            def _run_plain_head(self, x):
                return self.head(x) if torch.is_tensor(x) else x

            def _run_other_head(self, x):
                return None


        @register_model
        def narrow_net(**kwargs):
            return Narrow(**kwargs)


        @register_model
        def narrow_net_two(**kwargs):
            return Narrow(**kwargs)
        """,
    "models/wide.py": "from .narrow import Narrow\n\n__all__ = []\n",
    "layers.py": """
        import torch
        from torch import nn


        class Scaled(nn.Linear):
            def forward(self, x):
                return super().forward(x) * 2
        """,
}


def test_a_registry_is_asked_by_a_text(tmp_path: Path) -> None:
    install(tmp_path / "site", "registered", REGISTRY)
    project(
        tmp_path / "project",
        {
            "net.py": """
            import registered

            NAME = "narrow_net.first"


            def build():
                return registered.create_model(NAME, classes=3)
            """
        },
    )
    bring(tmp_path, "registered")
    text = (tmp_path / "out/ported/registered/models/narrow.py").read_text()
    assert "def narrow_net(" in text and "narrow_net_two" not in text
    assert "registered/models/wide.py" not in modules(tmp_path)
    assert "import ported.registered as registered" in (tmp_path / "out/net.py").read_text()
    code = """
        import numpy as np, mindspore as ms
        import net
        model = net.build()
        print(model(ms.Tensor(np.ones((4, 5), np.float32))).shape)
        """
    assert run_without({"registered"}, tmp_path / "out", code).strip() == "(4, 3)"


@pytest.mark.parametrize("quote", ["'", '"'])
def test_what_is_written_into_an_f_string_has_other_quotes(quote: str) -> None:
    text = f"f{quote}size {{tuple(e.proj.weight.shape)}}: {quote} f{quote}{{e.norm.bias}}{quote}"
    made = convert_source(f"import torch\n\n\ndef say(e):\n    return {text}\n")
    assert not made.findings
    compile(made.code, "made", "exec")
    assert "layer_parameter(e.norm," in made.code
