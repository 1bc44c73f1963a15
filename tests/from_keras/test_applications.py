"""`--with keras`: networks of keras.applications come along, cut down to what is used, and run without Keras."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from mindferry.convert import convert_project
from mindferry.convert.settings import Settings
from mindferry.errors import MindferryError

HAS_KERAS = find_spec("keras") is not None
needs_keras = pytest.mark.skipif(not HAS_KERAS, reason="Keras is not installed")
SPELLINGS = {
    "import tensorflow as tf": "tf.keras.applications.ResNet50",
    "from tensorflow.keras.applications.resnet50 import ResNet50 as Net": "Net",
    "from keras.applications import resnet": "resnet.ResNet50",
    "import keras": "keras.applications.resnet50.ResNet50",
    "from tensorflow import keras\nfrom tensorflow.keras import applications as nets": "nets.ResNet50",
}


def convert(tmp_path: Path, text: str) -> tuple[Path, list[str]]:
    project, out = tmp_path / "project", tmp_path / "out"
    project.mkdir()
    (project / "net.py").write_text(text)
    made = convert_project(project, out, settings=Settings(packages=("keras",)))
    return out, [each.message for file in made.files for each in file.findings if each.severity != "note"]


@needs_keras
@pytest.mark.parametrize("line", SPELLINGS)
def test_a_network_is_brought_however_it_is_spelled(tmp_path: Path, line: str) -> None:
    call = f"{SPELLINGS[line]}(weights=None, input_shape=(32, 32, 3), include_top=False)"
    out, said = convert(tmp_path, f"{line}\n\n\ndef build():\n    return {call}\n")
    assert said == []
    assert "resnet.ResNet50(weights=None" in (out / "net.py").read_text()
    ported = (out / "ported/keras/applications/resnet.py").read_text()
    assert "def ResNet50(" in ported and "def ResNet101(" not in ported and "from keras" not in ported
    assert (out / "ported/keras/LICENSE").is_file() and "Apache" in (out / "ported/keras/NOTICE.md").read_text()


@needs_keras
def test_what_was_brought_runs_without_keras(tmp_path: Path) -> None:
    text = """import numpy as np
from keras.applications import mobilenet_v2

net = mobilenet_v2.MobileNetV2(weights=None, input_shape=(32, 32, 3), alpha=0.35, classes=4)
images = mobilenet_v2.preprocess_input(np.full((1, 32, 32, 3), 255.0, "float32"))
if __name__ == "__main__":
    print(images.max(), net.predict(images, verbose=0).shape, len(net.layers), net.count_params())
"""
    out, said = convert(tmp_path, text)
    assert said == []
    block = "import sys; sys.modules['keras'] = sys.modules['tensorflow'] = None; import runpy; runpy.run_path('net.py', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", block], cwd=out, capture_output=True, text=True, timeout=600)
    assert done.stdout.splitlines()[-1:] == ["1.0 (1, 4) 156 415332"], done.stderr[-2000:]


@needs_keras
def test_trained_weights_that_would_be_fetched_are_a_finding(tmp_path: Path) -> None:
    _, said = convert(tmp_path, "from keras.applications import VGG16\n\nnet = VGG16(include_top=False)\n")
    assert ["trained weights are not fetched" in each for each in said] == [True]


@needs_keras
def test_a_project_without_such_a_network_is_told_so(tmp_path: Path) -> None:
    _, said = convert(tmp_path, "import keras\n\nlayer = keras.layers.Dense(3)\n")
    assert ["nothing of keras.applications is used" in each for each in said] == [True]


def test_without_the_package_there_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(MindferryError, match="no installed package keras"):
        convert(tmp_path, "from keras.applications import VGG16\n\nnet = VGG16(weights=None)\n")
