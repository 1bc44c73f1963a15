"""Networks that a library reads from a folder: from_pretrained and save_pretrained, and tables of networks that a folder chooses from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from installed_packages import install, project, run_without
from safetensors.numpy import load_file, save_file

from mindferry import convert_source
from mindferry.convert import convert_project
from mindferry.convert.settings import Settings
from mindferry.library.checkpoints import kind_named
from mindferry.library.substitute import stand_in, with_stand_ins

NETWORK = """
    from torch import nn
    from ...modeling_utils import PreTrainedModel
    from .configuration_{name} import {Name}Config

    class {Name}Model(PreTrainedModel):
        config_class = {Name}Config
        base_model_prefix = "{name}"

        def __init__(self, config):
            super().__init__(config)
            self.embeddings = nn.Embedding(9, config.width)
            self.norm = nn.LayerNorm(config.width)

        def forward(self, ids):
            return self.norm(self.embeddings(ids)).mean(1)

    class {Name}ForSequenceClassification(PreTrainedModel):
        config_class = {Name}Config
        base_model_prefix = "{name}"

        def __init__(self, config):
            super().__init__(config)
            self.{name} = {Name}Model(config)
            self.classifier = nn.Linear(config.width, config.labels)

        def forward(self, ids):
            return self.classifier(self.{name}(ids))
    """
CONFIG = """
    from ...configuration_utils import PreTrainedConfig

    class {Name}Config(PreTrainedConfig):
        model_type = "{name}"
    """
LIBRARY = {
    "__init__.py": """
        from .configuration_utils import PreTrainedConfig
        from .models.auto import AutoModelForSequenceClassification
        """,
    "utils.py": "def cached_file(*names, **options):\n    raise OSError(names)\n",
    "configuration_utils.py": """
        import json
        import os

        class PreTrainedConfig:
            model_type = ""

            def __init__(self, width=4, labels=2, **rest):
                self.width, self.labels = width, labels

            @classmethod
            def from_pretrained(cls, folder, return_unused_kwargs=False, subfolder="", **options):
                with open(os.path.join(folder, "config.json")) as file:
                    made = cls(**{**json.load(file), **options})
                return (made, {}) if return_unused_kwargs else made

            def save_pretrained(self, folder):
                with open(os.path.join(folder, "config.json"), "w") as file:
                    json.dump({"model_type": self.model_type, "width": self.width, "labels": self.labels}, file)
        """,
    "modeling_utils.py": """
        import copy
        import logging
        import torch
        from torch import nn
        from .configuration_utils import PreTrainedConfig
        from .utils import cached_file

        logger = logging.getLogger(__name__)

        class PreTrainedModel(nn.Module):
            base_model_prefix = ""

            def __init__(self, config):
                super().__init__()
                self.config = config

            def can_generate(self):
                return False

            def tie_weights(self):
                pass

            @classmethod
            def from_pretrained(cls, folder, **options):
                raise NotImplementedError("torch's own reader")

            def save_pretrained(self, folder):
                raise NotImplementedError("torch's own writer")
        """,
    "models/__init__.py": "",
    "models/auto/__init__.py": """
        import importlib
        from collections import OrderedDict
        from ...configuration_utils import PreTrainedConfig

        CONFIGS = OrderedDict([("lion", "LionConfig"), ("big-tiger", "BigTigerConfig")])
        NETWORKS = OrderedDict(
            [("lion", "LionForSequenceClassification"), ("big-tiger", "BigTigerForSequenceClassification")]
        )

        def part(kind, name):
            return getattr(importlib.import_module(f".{kind.replace('-', '_')}", "transformers.models"), name)

        class AutoModelForSequenceClassification:
            @classmethod
            def from_pretrained(cls, folder, **options):
                import json
                with open(f"{folder}/config.json") as file:
                    kind = json.load(file)["model_type"]
                config = part(kind, CONFIGS[kind]).from_pretrained(folder)
                return part(kind, NETWORKS[kind]).from_pretrained(folder, config=config, **options)
        """,
}
for kind, name in (("lion", "Lion"), ("big_tiger", "BigTiger")):
    LIBRARY[f"models/{kind}/__init__.py"] = (
        f"from .configuration_{kind} import {name}Config\nfrom .modeling_{kind} import {name}Model, {name}ForSequenceClassification\n"
    )
    LIBRARY[f"models/{kind}/configuration_{kind}.py"] = CONFIG.format(name=kind.replace("_", "-"), Name=name)
    LIBRARY[f"models/{kind}/modeling_{kind}.py"] = NETWORK.format(name=kind, Name=name)


def weights(kind: str) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(3)
    shapes = {f"{kind}.embeddings.weight": (9, 4), f"{kind}.norm.weight": (4,), f"{kind}.norm.bias": (4,)}
    shapes |= {"classifier.weight": (2, 4), "classifier.bias": (2,)}
    return {key: chance.standard_normal(shape).astype(np.float32) for key, shape in shapes.items()}


def expected(state: dict[str, np.ndarray], kind: str) -> np.ndarray:
    import torch

    part = {key.removeprefix(f"{kind}."): torch.from_numpy(value) for key, value in state.items()}
    inner = part["embeddings.weight"][torch.tensor([[1, 5, 2], [8, 0, 3]])]
    inner = torch.nn.functional.layer_norm(inner, (4,), part["norm.weight"], part["norm.bias"]).mean(1)
    return (inner @ part["classifier.weight"].T + part["classifier.bias"]).numpy()


SCRIPT = """
    import torch
    from transformers import AutoModelForSequenceClassification

    def main():
        model = AutoModelForSequenceClassification.from_pretrained("checkpoint")
        ids = torch.tensor([[1, 5, 2], [8, 0, 3]])
        print(model(ids).tolist())
        model.save_pretrained("saved")
        print(AutoModelForSequenceClassification.from_pretrained("saved")(ids).tolist())
    """


@pytest.mark.parametrize("form", ["whole", "parts", "old names and the base alone"])
def test_a_network_is_read_from_a_folder_and_written_back(tmp_path: Path, form: str) -> None:
    site, source, out = tmp_path / "site", tmp_path / "project", tmp_path / "out"
    install(site, "transformers", LIBRARY)
    project(source, {"main.py": SCRIPT})
    kind = "big_tiger" if form == "parts" else "lion"
    state = weights(kind)
    folder = source / "checkpoint"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": kind.replace("_", "-"), "width": 4, "labels": 2}))
    if form == "parts":
        names = {key: f"model-{index}.safetensors" for index, key in enumerate(state)}
        for key, file in names.items():
            save_file({key: state[key]}, folder / file)
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names}))
    else:
        given = {key.removeprefix("lion.") if form != "whole" else key: value for key, value in state.items()}
        save_file(given, folder / "model.safetensors")
    conversion = convert_project(source, out, settings=Settings(packages=("transformers",), sites=(str(site),)))
    assert [each.message for each in conversion.findings if each.severity != "note"] == []
    other = "lion" if kind == "big_tiger" else "big_tiger"
    assert not (out / f"ported/transformers/models/{other}").exists()
    printed = run_without({"transformers"}, out, "import main\nmain.main()").strip().split("\n")
    for line in printed[-2:]:
        np.testing.assert_allclose(np.array(json.loads(line)), expected(state, kind), rtol=1e-5, atol=1e-6)
    saved = load_file(out / "saved" / "model.safetensors")
    assert {key: value.tolist() for key, value in saved.items()} == {key: each.tolist() for key, each in state.items()}


def test_a_network_that_no_text_names_is_a_finding(tmp_path: Path) -> None:
    site, source = tmp_path / "site", tmp_path / "project"
    install(site, "transformers", LIBRARY)
    project(source, {"main.py": SCRIPT.replace('"checkpoint"', "__import__('sys').argv[1]").replace('"saved"', "'x'")})
    conversion = convert_project(
        source, tmp_path / "out", settings=Settings(packages=("transformers",), sites=(str(site),))
    )
    (finding,) = [each for each in conversion.findings if each.severity == "error"]
    assert finding.code == "MF152"
    assert "main.py chooses its network when it runs" in finding.message


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("bert-base-uncased", "bert"),
        ("distilbert-base-uncased", "distilbert"),
        ("FacebookAI/xlm-roberta-base", "xlm_roberta"),
        ("sentence-transformers/all-MiniLM-L6-v2", "bert"),
        ("google/vit-base-patch16-224", "vit"),
        ("microsoft/deberta-v3-small", "deberta_v2"),
        ("gpt2", "gpt2"),
        ("enabled-by-default", ""),
        ("a great movie about bert", ""),
        ("digit-classifier", ""),
    ],
)
def test_a_name_on_the_hub_speaks_of_a_kind_of_network(text: str, kind: str) -> None:
    kinds = ["bert", "distilbert", "roberta", "xlm_roberta", "vit", "led", "git", "gpt2", "deberta", "deberta_v2"]
    assert kind_named(text, kinds) == kind


def test_a_definition_of_ours_stands_in_the_librarys_module() -> None:
    theirs = "import os\n\n\nclass PreTrainedConfig:\n    a = 1\n\n    def dict_dtype_to_str(self, d):\n        return 1\n\n    def other(self):\n        return 2\n"
    made = with_stand_ins("transformers.configuration_utils", theirs)
    assert "a = 1" in made
    assert "def other" in made
    assert "rpartition" in made
    assert "return 1\n" not in made
    assert with_stand_ins("transformers.unheard_of", theirs) == theirs


def test_the_trainer_that_stands_in_trains() -> None:
    """Its loss is lifted into a function that MindSpore differentiates; nothing of it is left for hand work."""
    made = convert_source(stand_in("transformers.trainer"))
    assert "ms_compat.backward" in made.code or "backward(forward_fn" in made.code
    assert [each.message for each in made.findings if each.severity == "error"] == []


def test_a_modules_json_names_the_classes_of_a_network(tmp_path: Path) -> None:
    from mindferry.library.checkpoints import parts_beside

    (tmp_path / "tiny").mkdir()
    kinds = [{"type": "sentence_transformers.models.Pooling"}, {"type": 3}, {}, "text"]
    (tmp_path / "tiny/modules.json").write_text(json.dumps(kinds))
    assert parts_beside("tiny", [tmp_path]) == ["sentence_transformers.models.Pooling"]
    assert parts_beside("other", [tmp_path]) == []
    (tmp_path / "tiny/modules.json").write_text("{")
    assert parts_beside("tiny", [tmp_path]) == []
