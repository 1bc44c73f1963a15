"""Parts of a library that only its own machinery asks for stay behind until a network or the project asks for them too."""

from __future__ import annotations

from pathlib import Path

import pytest
from installed_packages import install, project, run_without

from mindferry.convert import convert_project
from mindferry.convert.settings import Settings
from mindferry.library.substitute import with_stand_ins

SMALL = {
    "__init__.py": "",
    "configuration_utils.py": """
        from .generation import GenerationConfig
        from .integrations.heterogeneity import HeterogeneousConfigMixin

        class PreTrainedConfig(HeterogeneousConfigMixin):
            def __init__(self, width=3, **kwargs):
                for name in GenerationConfig._get_default_generation_params():
                    kwargs.pop(name, None)
                self.width, self.rest = width, sorted(kwargs)
                self.num_hidden_layers = 2
        """,
    "modeling_utils.py": """
        import torch
        from .configuration_utils import PreTrainedConfig
        from .conversion_mapping import renamed
        from .integrations.moe import ALL_EXPERTS_FUNCTIONS
        from .loss.loss_utils import LOSS_MAPPING
        from .distributed.mixin import DistributedMixin
        from .monkey_patching import apply_patches

        class PreTrainedModel(torch.nn.Module, DistributedMixin):
            def __init__(self, config):
                super().__init__()
                self.config = config
                self.experts = list(ALL_EXPERTS_FUNCTIONS.keys())
                self.init_parallel_plans()

            @classmethod
            def from_config(cls, config):
                with apply_patches():
                    return cls(config)

            @property
            def loss_function(self):
                return LOSS_MAPPING["plain"]

            def names(self):
                return renamed() if renamed else []
        """,
    "conversion_mapping.py": 'def renamed():\n    return {"experts": 1}\n',
    "monkey_patching.py": "def apply_patches():\n    raise SystemError\n",
    "distributed/__init__.py": "",
    "distributed/mixin.py": "class DistributedMixin:\n    def init_parallel_plans(self):\n        raise SystemError\n",
    "generation/__init__.py": """
        class GenerationConfig:
            @staticmethod
            def _get_default_generation_params():
                return {"max_length": 20}

        class GenerationMixin:
            def generate(self, x):
                return self(x)
        """,
    "integrations/__init__.py": "",
    "integrations/heterogeneity.py": "class HeterogeneousConfigMixin:\n    pass\n",
    "integrations/moe.py": "ALL_EXPERTS_FUNCTIONS = {'grouped': 1}\n\n\ndef use_experts(cls):\n    return cls\n",
    "loss/__init__.py": "",
    "loss/loss_utils.py": "LOSS_MAPPING = {'plain': lambda x: x.sum()}\n",
    "models/__init__.py": "",
    "models/plain/__init__.py": "",
    "models/plain/modeling_plain.py": """
        import torch
        from ...modeling_utils import PreTrainedModel
        from ...generation import GenerationMixin

        class PlainModel(PreTrainedModel):
            def __init__(self, config):
                super().__init__(config)
                self.line = torch.nn.Linear(config.width, 2)

            def forward(self, x):
                return self.line(x)

        class PlainForTraining(PlainModel):
            def forward(self, x):
                return self.loss_function(self.line(x))

        class PlainGenerator(PlainModel, GenerationMixin):
            pass
        """,
    "models/experts/__init__.py": "",
    "models/experts/modeling_experts.py": """
        from ...integrations.moe import use_experts
        from ...modeling_utils import PreTrainedModel

        @use_experts
        class ExpertsModel(PreTrainedModel):
            def forward(self, x):
                return x
        """,
}
PARTS = {
    "generation/__init__",
    "integrations/heterogeneity",
    "integrations/moe",
    "loss/loss_utils",
    "conversion_mapping",
}
BEGIN = "import torch\nfrom transformers.configuration_utils import PreTrainedConfig\n"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINDFERRY_CACHE", str(tmp_path / "cache"))


def converted(tmp_path: Path, text: str) -> Path:
    install(tmp_path / "site", "transformers", SMALL)
    made = project(tmp_path / "project", {"use.py": BEGIN + text})
    settings = Settings(packages=("transformers",), sites=(str(tmp_path / "site"),))
    result = convert_project(made, tmp_path / "out", settings=settings)
    assert [each for file in result.files for each in file.findings if each.severity == "error"] == []
    return tmp_path / "out"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("from transformers.models.plain.modeling_plain import PlainModel\n", set()),
        ("from transformers.models.plain.modeling_plain import PlainForTraining\n", {"loss/loss_utils"}),
        ("from transformers.models.plain.modeling_plain import PlainGenerator\n", {"generation/__init__"}),
        (
            "from transformers.models.plain.modeling_plain import PlainModel\ndef f(m):\n    return m.generate(1)\n",
            {"generation/__init__"},
        ),
        (
            "from transformers.models.experts.modeling_experts import ExpertsModel\ndef f(m):\n    return m.names()\n",
            {"integrations/moe", "conversion_mapping"},
        ),
        (
            "from transformers.models.plain.modeling_plain import PlainModel\nc = PreTrainedConfig(per_layer_config=1)\n"
            "def f(c):\n    return c.per_layer_config\n",
            {"integrations/heterogeneity"},
        ),
    ],
)
def test_a_part_comes_along_with_whoever_needs_it(tmp_path: Path, text: str, parts: set[str]) -> None:
    out = converted(tmp_path, text) / "ported" / "transformers"
    assert {part for part in PARTS if (out / f"{part}.py").exists()} == parts
    assert not (out / "distributed").exists()


def test_a_network_runs_without_the_parts_that_were_left_behind(tmp_path: Path) -> None:
    out = converted(
        tmp_path,
        "from transformers.models.plain.modeling_plain import PlainModel\ndef f(m):\n    return m.names(), m.from_config\n",
    )
    said = run_without(
        {"transformers"},
        out,
        """
        import numpy as np, mindspore as ms
        from use import PlainModel, PreTrainedConfig
        config = PreTrainedConfig(width=4, max_length=7, kept=1)
        net = PlainModel.from_config(config)
        print(config.rest, net(ms.Tensor(np.ones((2, 4), np.float32))).shape, net.experts, net.names(), len(config.per_layer_config))
        """,
    )
    assert said.strip() == "['kept'] (2, 2) [] [] 2"
    assert "no network here generates" in (out / "ported" / "NOTICE.md").read_text()


def test_a_definition_of_ours_takes_the_place_of_an_import() -> None:
    theirs = (
        "import os\nfrom .a import (\n    b,\n    DistributedMixin,\n)\n\n\nclass Net(DistributedMixin):\n    pass\n"
    )
    made = with_stand_ins("transformers.modeling_utils", theirs)
    assert "from .a import b\n" in made
    assert made.index("class DistributedMixin:") < made.index("class Net(DistributedMixin)")
    assert made.count("DistributedMixin") == 2


def test_a_class_that_begins_with_a_property_nobody_mentions_is_cut_whole(tmp_path: Path) -> None:
    """Its decorator goes with it; it stayed, and what was written after it was no Python."""
    files = {
        "__init__.py": "",
        "net.py": """
            import torch

            class Asked:
                @property
                def processors(self):
                    return {}

                def chosen(self):
                    return 1

            class Net(torch.nn.Module, Asked):
                def forward(self, x):
                    return x * self.chosen()
            """,
    }
    install(tmp_path / "site", "smallnets", files)
    made = project(tmp_path / "project", {"use.py": "import torch\nfrom smallnets.net import Net\n"})
    settings = Settings(packages=("smallnets",), sites=(str(tmp_path / "site"),))
    convert_project(made, tmp_path / "out", settings=settings)
    text = (tmp_path / "out" / "ported" / "smallnets" / "net.py").read_text()
    assert "@property" not in text
    assert "def chosen" in text
    compile(text, "net.py", "exec")


def test_a_part_that_means_nothing_here_is_a_finding_where_the_project_names_it(tmp_path: Path) -> None:
    files = {**SMALL, "quantizers.py": "class Quantizer:\n    pass\n"}
    install(tmp_path / "site", "transformers", files)
    plain = "import torch\nfrom transformers.models.plain.modeling_plain import PlainModel\n"
    sources = {
        "net.py": plain,
        "inner/net.py": f"{plain}def f():\n    from transformers.quantizers import Quantizer\n    return Quantizer()\n",
    }
    settings = Settings(packages=("transformers",), sites=(str(tmp_path / "site"),))
    result = convert_project(project(tmp_path / "project", sources), tmp_path / "out", settings=settings)
    found = [each for each in result.findings if each.severity == "error"]
    assert [(each.path, each.line, each.message) for each in found] == [
        (
            "inner/net.py",
            4,
            "transformers.quantizers.Quantizer was left behind: quantized weights are torch's own kernels",
        )
    ]


PIPELINES = {
    "__init__.py": "from .pipe import Pipe\n",
    "hooks/__init__.py": "from .group_offloading import GroupHook\n",
    "hooks/group_offloading.py": """
        import torch

        _GROUP_OFFLOADING = "group"

        class GroupHook:
            stream = torch.cuda.Stream()

        def _get_top_level_group_offload_hook(module: torch.nn.Module):
            return next((each._hook for each in module.modules() if hasattr(each, "_hook")), None)

        def _get_group_onload_device(module: torch.nn.Module):
            hook = _get_top_level_group_offload_hook(module)
            if hook is not None:
                return hook.device
            raise ValueError("not enabled")
        """,
    "pipe.py": """
        import torch
        from torch import nn

        class Pipe(nn.Module):
            def forward(self, x):
                from .hooks.group_offloading import _get_group_onload_device

                try:
                    return x + _get_group_onload_device(self)
                except ValueError:
                    return x * 2
        """,
}


def test_a_pipeline_is_asked_whether_it_moves_its_networks_and_says_no(tmp_path: Path) -> None:
    install(tmp_path / "site", "diffusers", PIPELINES)
    settings = Settings(packages=("diffusers",), sites=(str(tmp_path / "site"),))
    made = project(tmp_path / "project", {"use.py": "from diffusers import Pipe\n\nnet = Pipe()\n"})
    convert_project(made, tmp_path / "out", settings=settings)
    said = run_without({"diffusers"}, tmp_path / "out", "import mindspore as ms, use\nprint(use.net(ms.Tensor([2.0])))")
    assert "4" in said
