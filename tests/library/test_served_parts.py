"""torchvision beside its table: networks come along, transforms and what it has compiled are mindferry's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from installed_packages import install, project, run_without

from mindferry.convert import convert_project
from mindferry.convert.settings import Settings

VISION = {
    "__init__.py": "from torchvision import models, ops, transforms, utils\n",
    "extension.py": """
        import torch

        def _has_ops():
            return torch.ops.load_library("_C.so")

        def _assert_has_ops():
            if not _has_ops():
                raise RuntimeError("Couldn't load custom C++ ops")
        """,
    "ops/__init__.py": "from .boxes import keep\n",
    "ops/boxes.py": """
        import torch
        from torchvision.extension import _assert_has_ops

        def keep(boxes, scores, limit):
            _assert_has_ops()
            return torch.ops.torchvision.nms(boxes, scores, limit)
        """,
    "transforms/__init__.py": "from .transforms import *\nfrom . import v2\n",
    "transforms/transforms.py": """
        import enum

        class Mode(enum.Enum):
            NEAREST = "nearest"

        class Compose:
            def __init__(self, transforms):
                raise SystemError

        class Normalize(Compose):
            pass
        """,
    "transforms/v2.py": "from .transforms import Compose, Normalize\n",
    "utils.py": "def make_grid(x):\n    raise SystemError\n",
    "models/__init__.py": "from .tiny import *\nfrom .segmentation import masks\nfrom ._api import get_model\n",
    "models/_api.py": """
        BUILDERS = {}

        def register_model(name=None):
            def wrap(function):
                BUILDERS[name or function.__name__] = function
                return function
            return wrap

        def legacy(**options):
            return lambda function: function

        def get_model(name, **options):
            return BUILDERS[name](**options)
        """,
    "models/tiny.py": """
        import torch
        from ..transforms.transforms import Mode
        from ._api import register_model

        __all__ = ["Tiny", "tiny_net"]

        class Tiny(torch.nn.Module):
            mode = Mode.NEAREST

            def __init__(self, classes=2):
                super().__init__()
                self.line = torch.nn.Linear(4, classes)

            def forward(self, x):
                return self.line(x.flatten(1))

        @register_model()
        def tiny_net(**options):
            return Tiny(**options)

        @register_model(name="other_net")
        def also_tiny(**options):
            return Tiny(7)
        """,
    "models/segmentation.py": """
        from ._api import legacy, register_model
        from .tiny import Tiny

        @register_model()
        @legacy(
            weights=("pretrained", None),
            other=("a", ("b", 1)),
        )
        def masks(**options):
            return Tiny(5)
        """,
}
USE = """
    import torch
    import torchvision.transforms.v2 as T
    from torchvision import models, transforms
    from torchvision.models import get_model
    from torchvision.ops import keep

    change = transforms.Compose([transforms.Normalize([1.0], [2.0])])
    other = T.Compose([T.Normalize([1.0], [2.0])])


    def build(name):
        return get_model(name)


    NAMES = ["tiny_net", "masks", "other_net"]


    def boxes():
        return keep(torch.tensor([[0.0, 0, 2, 2], [0, 0, 2, 2.1], [5, 5, 6, 6]]), torch.tensor([0.9, 0.8, 0.7]), 0.5)


    def whole():
        return models.tiny_net()
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINDFERRY_CACHE", str(tmp_path / "cache"))


def test_networks_come_along_by_any_name_and_transforms_stay_with_the_table(tmp_path: Path) -> None:
    install(tmp_path / "site", "torchvision", VISION)
    made = project(tmp_path / "project", {"use.py": USE})
    settings = Settings(packages=("torchvision",), sites=(str(tmp_path / "site"),))
    result = convert_project(made, tmp_path / "out", settings=settings)
    assert [each for file in result.files for each in file.findings if each.severity == "error"] == []
    text = (tmp_path / "out/use.py").read_text()
    assert "ported.torchvision.transforms" not in text and text.count("ms_compat.Compose([ms_compat.Normalize(") == 2
    assert not (tmp_path / "out/ported/torchvision/transforms/v2.py").exists()
    said = run_without(
        {"torchvision"},
        tmp_path / "out",
        """
        import numpy as np, mindspore as ms
        import use
        x = ms.Tensor(np.arange(8, dtype=np.float32).reshape(2, 1, 2, 2))
        print([use.build(name)(x).shape[1] for name in use.NAMES], use.whole()(x).shape, use.boxes().asnumpy().tolist())
        print(use.change(x).asnumpy().ravel()[-1])
        """,
    )
    assert said.splitlines() == ["[2, 5, 7] (2, 2) [0, 2]", "3.0"]


def test_a_module_that_comes_along_keeps_its_name_and_mindspore_takes_another(tmp_path: Path) -> None:
    install(tmp_path / "site", "torchvision", VISION)
    text = "import torch\nfrom torchvision import ops\n\nKEEP = ops.keep\n\n\ndef half(x):\n    return torch.stack([x, x]).mean()\n"
    settings = Settings(packages=("torchvision",), sites=(str(tmp_path / "site"),))
    convert_project(project(tmp_path / "project", {"use.py": text}), tmp_path / "out", settings=settings)
    said = run_without(
        {"torchvision"}, tmp_path / "out", "import mindspore as ms, use; print(use.half(ms.Tensor([1.0, 2.0])))"
    )
    assert "1.5" in said


def test_a_generator_tells_a_library_where_it_is(tmp_path: Path) -> None:
    asks = "import torch\n\n\ndef place(generator):\n    torch.randn(2, generator=generator)\n    return generator.device.type\n"
    text = "import torch\nfrom tinylib import place\n\n\ndef where():\n    return place(torch.Generator().manual_seed(3))\n"
    settings = Settings(packages=("tinylib",), sites=(str(tmp_path / "site"),))
    install(tmp_path / "site", "tinylib", {"__init__.py": asks})
    made = project(tmp_path / "project", {"use.py": text})
    convert_project(made, tmp_path / "out", settings=settings)
    assert run_without({"tinylib"}, tmp_path / "out", "import use; print(use.where())").strip() == "cpu"


BESIDE_TORCH = """
    import torch, torchvision
    import os, torch, torchvision as tv, numpy as np
    import torch.nn.functional as F, torchvision.models, torchvision.models.segmentation as S, torchvision.transforms as T


    def build():
        import json, torch, torchvision.models.tiny

        return torchvision.models.tiny.Tiny(json.loads("3"))


    try:
        import torch, torchvision
    except ImportError:
        torchvision = None


    def all_of(x):
        shapes = [tuple(net(x).shape) for net in (torchvision.models.tiny_net(), tv.models.get_model("other_net"), S.masks(), build())]
        return shapes, F.relu(torch.as_tensor(np.array([-1.0, 2.0]))), T.Normalize([1.0], [2.0]), os.sep
    """


def test_a_library_that_is_imported_in_one_statement_with_torch_comes_along(tmp_path: Path) -> None:
    install(tmp_path / "site", "torchvision", VISION)
    made = project(tmp_path / "project", {"use.py": BESIDE_TORCH})
    settings = Settings(packages=("torchvision",), sites=(str(tmp_path / "site"),))
    convert_project(made, tmp_path / "out", settings=settings)
    said = run_without(
        {"torchvision"}, tmp_path / "out", "import mindspore as ms, use; print(use.all_of(ms.ops.ones((2, 4)))[0])"
    )
    assert eval(said) == [(2, 2), (2, 7), (2, 5), (2, 3)]
