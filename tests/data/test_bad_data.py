"""Data that can't be read, in converted pipelines: the sample and the file are named, the run ends, no process stays."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import data_formats as formats
import pytest
from data_pairs import Both

from mindferry import convert_source

FOLDER = """from torch.utils.data import DataLoader
from torchvision import datasets, transforms


def loader(root, workers=0):
    transform = transforms.Compose([transforms.Resize((16, 20)), transforms.ToTensor()])
    return DataLoader(datasets.{0}, batch_size=2, shuffle=False, num_workers=workers)
"""
BROKEN = {
    "ImageFolder(root, transform)": ("images/cat/b.png", r"sample 2, .*cat/b\.png: "),
    "VOCDetection(root, image_set='train', transform=transform)": (
        "VOCdevkit/VOC2012/JPEGImages/2007_000032.jpg",
        r"sample 1, .*000032\.jpg: ",
    ),
    "VOCDetection(root, image_set='train')": (
        "VOCdevkit/VOC2012/Annotations/2007_000027.xml",
        r"sample 0, .*000027\.xml: ",
    ),
    "CocoDetection(root, root + '/annotations.json')": ("00042.jpg", r"sample with the id 42, .*00042\.jpg: "),
}


@pytest.mark.parametrize("gone", [False, True], ids=["truncated", "missing"])
@pytest.mark.parametrize("dataset", BROKEN)
def test_an_unreadable_file_is_named_with_its_sample(both: Both, tmp_path: Path, dataset: str, gone: bool) -> None:
    path, said = BROKEN[dataset]
    {
        "I": lambda: formats.write_folder(tmp_path / "images"),
        "V": lambda: formats.write_voc(tmp_path),
        "C": lambda: formats.write_coco(tmp_path),
    }[dataset[0]]()
    ours = both(FOLDER.format(dataset))[1]
    loader = ours.loader(
        str(tmp_path / "images" if dataset[0] == "I" else tmp_path)
    )  # the files are listed before one goes
    broken = tmp_path / path
    content = broken.read_bytes()
    broken.unlink() if gone else broken.write_bytes(content[: len(content) // 2])
    with pytest.raises((RuntimeError, OSError), match=said):
        list(loader)


def test_columns_of_different_length_say_so(both: Both) -> None:
    source = "import numpy as np\nfrom torch.utils.data import DataLoader\n\n\ndef loader(data):\n    return DataLoader(data, batch_size=2)\n"
    import numpy as np

    ours = both(source)[1]
    with pytest.raises(RuntimeError, match="each element in list of batch should be of equal size"):
        list(ours.loader([(1, 2), (1, 2, 3)]))
    with pytest.raises(ValueError, match="same shape"):
        list(ours.loader([np.zeros(3), np.zeros(4)]))
    with pytest.raises(KeyError, match="label"):
        list(ours.loader([{"label": 1}, {"image": 2}]))


DYING = """import os
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Dying(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        if index == 21:
            os.kill(os.getpid(), 9)
        return np.zeros(3, dtype=np.float32), index


def loader(**options):
    return DataLoader(Dying(), batch_size=2, **options)
"""


def test_a_worker_that_dies_ends_the_run_and_names_the_sample(tmp_path: Path) -> None:
    (tmp_path / "dying.py").write_text(convert_source(DYING).code)
    text = "import os\nos.cpu_count = lambda: 4\nimport dying\nfor batch in dying.loader(num_workers=2):\n    pass\nprint('all read')\n"
    (tmp_path / "main.py").write_text(text)
    program = subprocess.Popen(
        [sys.executable, "main.py"],
        cwd=tmp_path,
        env={**os.environ, "GLOG_v": "4"},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        output, errors = program.communicate(timeout=600)
        assert program.returncode != 0 and "all read" not in output
        assert "A data worker died" in errors and "sample 21 (process " in errors and "of Dying" in errors
        assert is_gone(program.pid)
    finally:
        if not is_gone(program.pid):
            os.killpg(program.pid, 9)


def is_gone(group: int) -> bool:
    """Whether no process of the group is left, after a while."""
    for _ in range(50):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False
