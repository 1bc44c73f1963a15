"""The loaders of whole projects, made by their own scripts and converted without a hand edit, give equal batches."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from mindferry.artifacts import load
from mindferry.cli.verify import command
from mindferry.convert import convert_project
from mindferry.verify.data import Pipelines

PROJECTS = Path(__file__).parents[1] / "projects"
CASES = {  # project -> batches an epoch of each of its loaders
    "trainer_class": [12, 2],
    "ctc_digits": [8, 2],
    "unet_segmentation": [11, 1],
    "multitask_steps": [12, 1],
    "mnist_cnn": [20, 1],
    "ema_resume": [8],
    "distillation": [8, 3],
    "wgan_gp": [20],
    "vae": [16, 16],
    "denoising_autoencoder": [12, 1],
    "triplet_embedding": [10, 5],
}
QUICK = ("trainer_class", "ctc_digits", "unet_segmentation")
DRAWS = {
    "triplet_embedding": ["1: the same mean and spread", "2: the same mean and spread"]
}  # triplets are drawn with torch's numbers


@pytest.mark.parametrize(
    "project", [pytest.param(each, marks=() if each in QUICK else pytest.mark.slow) for each in CASES]
)
def test_a_projects_batches_are_equal(tmp_path: Path, project: str) -> None:
    convert_project(PROJECTS / project, tmp_path / "converted")
    result = CliRunner().invoke(command, [str(tmp_path / "converted"), "--data"])
    assert result.exit_code == 0, result.output or result.exception
    found = load(Pipelines, tmp_path / "converted", "data").pipelines
    assert [each.lengths[0] for each in found] == CASES[project]
    assert all(each.compared == 2 * each.lengths[0] and each.largest == 0 for each in found)
    random = [place for each in found for place in each.places if not place.endswith("equal")]
    assert random == DRAWS.get(project, [])
