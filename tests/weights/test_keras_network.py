"""A network that was converted from Keras loads the files that Keras wrote (tests/fixtures/keras/make.py), and saves them again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mindferry.convert import convert_project
from mindferry.weights.convert import convert_weights

FILES = Path(__file__).parent.parent / "fixtures" / "keras"
SCRIPT = """import json
import sys

import keras

given = keras.Input((4, 3))
x = keras.layers.LSTM(2, return_sequences=True)(given)
x = keras.layers.BatchNormalization()(x)
x = keras.layers.MultiHeadAttention(1, 2)(x, x)
x = keras.layers.Dropout(0.1)(x)
x = keras.layers.Dense(3, name="named")(x)
model = keras.Model(given, keras.layers.Dense(1)(keras.layers.Flatten()(x)))
model.load_weights(sys.argv[1])
model.save_weights("again.weights.h5")
print(json.dumps([each.tolist() for each in model.get_weights()]))
"""


@pytest.mark.parametrize("source", ["model.weights.h5", "model.keras", "older.h5", "saved"])
def test_every_weight_comes_to_its_place_and_goes_back(source: str, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/script.py").write_text(SCRIPT)
    record = convert_project(tmp_path / "project", tmp_path / "out")
    assert not [each for file in record.files for each in file.findings if each.severity == "error"]
    convert_weights(FILES / source, tmp_path / "out/start.ckpt")
    run = [sys.executable, "script.py", "start.weights.h5"]
    done = subprocess.run(run, cwd=tmp_path / "out", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    with np.load(FILES / "weights.npz") as found:
        expected = [found[name] for name in found.files]
    ours = json.loads(done.stdout.splitlines()[-1])
    assert len(ours) == len(expected)
    assert all(np.array_equal(np.asarray(one, np.float32), other) for one, other in zip(ours, expected, strict=True))
    convert_weights(tmp_path / "out/again.ckpt", tmp_path / "back.weights.h5", reverse=True)
    import h5py

    with h5py.File(tmp_path / "back.weights.h5") as back, h5py.File(FILES / "model.weights.h5") as own:
        names: list[str] = []
        back.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        assert len(names) == len(expected)
        assert all(np.array_equal(back[name][()], own[name][()]) for name in names)
