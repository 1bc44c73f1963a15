"""The page of figures on torchvision's zoo and transformers: complete, clean, and what the command gives today."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "weights.md"


@pytest.fixture(scope="module")
def zoo():
    spec = importlib.util.spec_from_file_location("weights_zoo", ROOT / "benchmarks" / "weights_zoo.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def rows():
    cells = [line.strip("| \n").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| t")]
    return {row[0]: row[1:] for row in cells}


def test_every_model_of_the_zoo_is_on_the_page_and_none_leaves_a_tensor_over(zoo):
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    import torchvision_ops  # noqa: F401
    from torchvision import models

    expected = {f"torchvision {name}" for name in models.list_models()}
    expected |= {f"transformers {name}" for _, name, _ in zoo.ARCHITECTURES}
    assert set(rows()) == expected
    assert {row[5] for row in rows().values()} == {"0"}
    assert {row[6] for row in rows().values()} == {"equal", "-"}


@pytest.mark.parametrize("name", ["squeezenet1_0", "mobilenet_v3_small", "shufflenet_v2_x0_5"])
def test_the_page_says_what_the_command_finds(zoo, name):
    (label, model, small), *_ = zoo.models([name])
    found = zoo.row(label, model, small)
    assert rows()[label] == [str(value) for value in list(found.__dict__.values())[1:]]
    assert found.tensors == found.exact + found.cell + found.dropped
