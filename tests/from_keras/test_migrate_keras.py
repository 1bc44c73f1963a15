"""A Keras project by its command: observed, its data, networks and steps compared, run as it is; and faults in each of these are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from two_processes import REASON, has_tensorflow

from mindferry.artifacts import PlainRun, load
from mindferry.cli import cli
from mindferry.frameworks.requests import Plan
from mindferry.observation import load_observation
from mindferry.train.plain import run_plain
from mindferry.tune.run import tune
from mindferry.tune.workload import find_workload
from mindferry.verify.data import compare_pipelines

pytestmark = pytest.mark.skipif(not has_tensorflow(), reason=REASON)

DATA = """import numpy as np
import tensorflow as tf


def scaled(x, y):
    x = x * 0.5
    return x, tf.one_hot(y, 3)


def pipeline(count=40, seed=None):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(count, 6)).astype("float32")
    parts = tf.data.Dataset.from_tensor_slices((x, x[:, :3].argmax(1)))
    return parts.map(scaled).shuffle(count, seed=seed).batch(8)
"""
NET = """import tensorflow as tf
from tensorflow import keras


class Noisy(keras.Model):
    def __init__(self, units=8):
        super().__init__()
        self.body = keras.Sequential([keras.layers.Dense(units, activation="tanh"), keras.layers.Dropout(0.1)])
        self.head = keras.layers.Dense(3)

    def call(self, x, training=False):
        h = self.body(x, training=training)
        if training:
            h = h + 0.01 * tf.random.normal(tf.shape(h))
        return self.head(h)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(keras.losses.categorical_crossentropy(y, self(x, training=True), from_logits=True))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}
"""
TRAIN = """import sys

from tensorflow import keras

from data import pipeline
from net import Noisy


def main():
    keras.utils.set_random_seed(int(sys.argv[1]))
    model = Noisy(units=10)
    model.compile(optimizer=keras.optimizers.Adam(0.02))
    model.fit(pipeline(), epochs=2, verbose=0)
    print("done", sys.argv[1])


if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("keras")
    project, out = folder / "project", folder / "out"
    project.mkdir()
    for name, text in {"data.py": DATA, "net.py": NET, "train.py": TRAIN}.items():
        (project / name).write_text(text)
    told = CliRunner().invoke(cli, ["migrate", str(project), "-o", str(out), "--", "python", "train.py", "5"])
    assert told.exit_code == 0, told.output
    assert "The conversion behaves like the original." in told.output
    return project, out


def test_a_command_alone_leads_to_the_verdict_same(migrated: tuple[Path, Path]) -> None:
    out = migrated[1]
    plain = load(PlainRun, out, "plain")
    assert plain.passed and plain.framework == "TensorFlow" and plain.ended == plain.reference_ended == "itself"
    assert len(plain.losses) == 10 and len(plain.seeds) >= 3
    assert len({losses[0] for losses in (*plain.seeds, plain.losses)}) == len(plain.seeds) + 1, "own random numbers"
    train = json.loads((out / ".mindferry/train.json").read_text())
    assert train["updates"] == 4 and train["networks"] == ["Noisy"] and train["worst"] < 1e-4


def test_the_run_shows_networks_data_optimizers_and_lines(migrated: tuple[Path, Path]) -> None:
    seen = load_observation(migrated[1] / ".mindferry/observed.zip")
    (network,) = seen.networks
    assert network.name == "net.Noisy" and network.makers[0].text == "Noisy(units=10)"
    assert network.shapes == ("float32[8,6]",) and network.parameters == 6 * 10 + 10 + 30 + 3 and network.state
    (loader,) = seen.loaders
    assert (loader.dataset, loader.batch_size, loader.batches) == ("tensorflow.data.Dataset", 8, 5)
    assert (loader.path, loader.line) == ("train.py", 13)
    assert [each.name for each in seen.optimizers] == ["keras.optimizers.Adam"]
    assert seen.runs[0].seeds == ("keras 5",) and len(seen.runs[0].losses) == 10
    assert {"tensorflow", "keras", "numpy"} <= {*seen.versions}
    lines = {file.path: file.unreached for file in seen.files}
    assert lines == {"data.py": (), "net.py": (), "train.py": ()}, "what tf.data runs counts too"


def edited(out: Path, name: str, before: str, after: str) -> str:
    text = (out / name).read_text()
    assert before in text
    (out / name).write_text(text.replace(before, after))
    return text


def test_the_first_error_of_the_own_run_is_named_with_file_and_line(migrated: tuple[Path, Path]) -> None:
    project, out = migrated
    text = edited(out, "train.py", "    print(", "    import tensorflow\n    print(")
    try:
        done = run_plain(project, out, [["python", "train.py", "1"]], steps=20, seeds=1, most=1)
    finally:
        (out / "train.py").write_text(text)
    assert done.finding is not None and "No module named 'tensorflow'" in done.finding.message
    assert (done.finding.path, done.finding.line) == (
        "train.py",
        text.splitlines().index('    print("done", sys.argv[1])') + 1,
    )


def test_other_values_and_another_order_are_told_apart(migrated: tuple[Path, Path]) -> None:
    project, out = migrated
    what = "data:pipeline"
    text = edited(out, "data.py", "x * 0.5", "x * 0.25")
    try:
        values = compare_pipelines(what, project, out, helpers=("ms_keras",), source="tensorflow")
        (out / "data.py").write_text(text.replace(".shuffle(count, seed=seed)", ""))
        order = compare_pipelines(what, project, out, helpers=("ms_keras",), source="tensorflow")
    finally:
        (out / "data.py").write_text(text)
    (wrong,) = values.pipelines[0].differences
    assert (wrong.where, wrong.what) == ("0", "distribution"), "the original's own samples are drawn"
    assert [each.what for each in order.pipelines[0].differences] == ["order"]


def test_where_a_step_s_time_goes_is_told_beside_the_whole_steps_of_the_original(migrated: tuple[Path, Path]) -> None:
    plan = Plan(warm=1, plain=2, observed=2, profiled=1)
    record = tune(find_workload(migrated[1], script="train.py", args=("1",)), plan=plan)
    assert {each.name for each in record.profile.phases} >= {"forward", "backward", "optimizer"}
    assert len(record.profile.losses) == 6 and all(loss > 0 for loss in record.profile.losses)
    assert record.reference is not None and record.reference.framework == "TensorFlow", record.profile.notes
    assert record.reference.steps == 2 and record.reference.step_seconds > 0
