"""The datasets of whole projects, converted without a hand edit, give equal batches."""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from data_pairs import assert_equal

from mindferry.convert import convert_project

PROJECTS = Path(__file__).parents[1] / "projects"
DRIVER = "from torch.utils.data import DataLoader, TensorDataset\n\nfrom {module} import {names}\n\n\ndef loader():\n    return DataLoader({made}, batch_size=5{options})\n"
CASES = [
    ("distillation", "train_kd", "Stripes", "Stripes('stripes', 'train')", ""),
    ("triplet_embedding", "train", "TripletDataset", "TripletDataset(train=False)", ""),
    ("multitask_steps", "train", "Patients", "Patients(23, 3)", ", drop_last=True"),
    ("trainer_class", "dataset", "HousingDataset", "HousingDataset('housing.csv')", ""),
    ("unet_segmentation", "data_loading", "BasicDataset, draw_shapes", "BasicDataset('imgs', 'masks')", ""),
    ("mnist_cnn", "main", "make_digits", "TensorDataset(*make_digits(23, 1))", ""),
    ("ema_resume", "train", "get_data", "TensorDataset(*get_data())", ""),
    ("ctc_digits", "train", "DigitStrings, PadCollate", "DigitStrings(17)", ", collate_fn=PadCollate()"),
    ("denoising_autoencoder", "train", "Waves", "Waves('saw', 12)", ""),
]


def imported(folder: Path, name: str) -> ModuleType:
    """A module of the folder, with its neighbours, as if the folder were the working directory."""
    names = {path.stem for path in folder.glob("*.py")}
    hidden = {each: sys.modules.pop(each) for each in list(sys.modules) if each.partition(".")[0] in names}
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        importlib.invalidate_caches()
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        for each in set(sys.modules) - before:
            file = getattr(sys.modules[each], "__file__", None) or ""
            if file.startswith(str(folder)):
                del sys.modules[each]
        sys.modules.update(hidden)


@pytest.mark.parametrize(("project", "module", "names", "made", "options"), CASES, ids=[each[0] for each in CASES])
def test_a_projects_batches_are_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, project: str, module: str, names: str, made: str, options: str
) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    shutil.copytree(PROJECTS / project, theirs)
    (theirs / "driver.py").write_text(DRIVER.format(module=module, names=names, made=made, options=options))
    convert_project(theirs, ours)
    monkeypatch.chdir(tmp_path)
    if project == "unet_segmentation":
        imported(theirs, "data_loading").draw_shapes(tmp_path, 6)
    batches = []
    for folder in (theirs, ours):
        np.random.seed(0)
        batches.append(list(imported(folder, "driver").loader()))
    assert len(batches[0]) > 1
    assert_equal(*batches)
