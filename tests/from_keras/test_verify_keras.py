"""`mindferry verify` of a converted Keras network: TensorFlow in a worker of its own, layer by layer, forward and gradient."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from two_processes import REASON, has_tensorflow

from mindferry.artifacts import Outcome
from mindferry.cli import main
from mindferry.convert import convert_project
from mindferry.verify.run import record, verify
from mindferry.verify.settings import settings

needs_tensorflow = pytest.mark.skipif(not has_tensorflow(), reason=REASON)
NETS = """import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class Block(layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.attention = layers.MultiHeadAttention(2, units // 2)
        self.norm = layers.LayerNormalization(epsilon=1e-6)
        self.drop = layers.Dropout(0.3)

    def build(self, input_shape):
        self.scale = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="scale")
        super().build(input_shape)

    def call(self, x, training=False):
        return self.norm(x + self.drop(self.attention(x, x), training=training)) * self.scale


class Net(keras.Model):
    def __init__(self, units=8):
        super().__init__()
        self.embed = layers.Dense(units, kernel_regularizer="l2")
        self.blocks = [Block(units), Block(units)]
        self.statistics = layers.BatchNormalization()
        self.head = layers.Dense(3)

    def call(self, x, training=False):
        x = self.statistics(self.embed(x), training=training)
        for block in self.blocks:
            x = block(x, training=training)
        return {"logits": self.head(tf.reduce_mean(x, axis=1)), "features": x}


def two_inputs():
    words, numbers = keras.Input((6,), dtype="int32", name="words"), keras.Input((5,), name="numbers")
    shared = layers.Dense(8, activation="tanh", name="shared")
    x = layers.LSTM(8)(layers.Embedding(20, 8, mask_zero=True)(words))
    both = layers.Concatenate()([shared(x), shared(layers.Dense(8)(numbers))])
    return keras.Model([words, numbers], [layers.Dense(1, activation="sigmoid")(both), both])


def optimizer(model):
    return keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.01, 2, 0.5), clipnorm=0.5, weight_decay=0.01)


def loss(output, labels):
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)(labels, output["logits"])
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("nets")
    (root / "nets").mkdir()
    (root / "nets/nets.py").write_text(NETS)
    assert convert_project(root / "nets", root / "out").files[0].findings == ()
    return root / "nets", root / "out"


def called(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int | str | None, str]:
    """The command's exit code and what it said."""
    monkeypatch.setattr(sys, "argv", ["mindferry", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    return ended.value.code, said.out + said.err


@needs_tensorflow
def test_a_network_of_own_layers_is_the_same_in_both_modes_with_dropout_and_statistics(
    project: tuple[Path, Path],
) -> None:
    asked = settings(project[1], model="nets:Net", inputs=("float32[4,5,7]",))
    steps = replace(asked, loss="nets:loss", targets=("int64[4]@0..3",), optimizer="nets:optimizer", steps=3)
    found = verify(steps)
    failed = [row for row in found.differences if not row.passed]
    assert found.outcome is Outcome.SAME, (failed[:5], found.coverage and found.coverage.gaps)
    assert found.framework == "TensorFlow" and found.unmatched == ()
    rows = {(row.mode, row.kind, row.name) for row in found.differences}
    for mode in ("eval", "train"):
        assert (mode, "output", "blocks.1.attention") in rows and (mode, "gradient", "blocks.0.norm") in rows
        assert (mode, "parameter", "blocks.0.scale") in rows and (mode, "loss", "added losses") in rows
        assert (mode, "input gradient", "") in rows
    assert ("train", "buffer", "statistics.moving_variance") in rows
    assert ("step", "update", "blocks.1.norm.gamma") in rows and ("steps", "loss", "step 3") in rows
    assert {row.inputs for row in found.differences} > {"", "batch of 1", "size 4×6×7"}


@needs_tensorflow
def test_a_golden_file_of_two_inputs_and_a_shared_layer_needs_no_tensorflow(
    project: tuple[Path, Path], tmp_path: Path
) -> None:
    inputs = ("words=int32[4,6]@0..20", "numbers=float32[4,5]")
    golden = tmp_path / "two.golden"
    record(settings(project[0], reference=project[0], model="nets:two_inputs", inputs=inputs), golden)
    found = verify(settings(project[1], golden=golden))
    assert found.outcome is Outcome.SAME, [row for row in found.differences if not row.passed][:5]
    calls = {(row.name, row.call) for row in found.differences if row.kind == "output"}
    assert {("shared", 0), ("shared", 1), ("lstm", 0), ("embedding", 0)} <= calls


@needs_tensorflow
@pytest.mark.parametrize(
    ("right", "wrong", "exit_code", "sentence"),
    [
        (
            "ms_keras.LayerNormalization(epsilon=1e-6)",
            "ms_keras.Dropout(0.0)",
            2,
            "not the same network on both sides: blocks.0.norm has 2 weights in Keras and 0 in MindSpore",
        ),
        ("ms_keras.Dropout(0.3)", "ms_keras.Dropout(0.2)", 1, "First divergence: blocks.0.drop"),
        ('kernel_regularizer="l2"', 'kernel_regularizer="l1"', 1, "First divergence: the loss"),
    ],
)
def test_a_fault_in_the_conversion_is_found_and_named(
    right: str,
    wrong: str,
    exit_code: int,
    sentence: str,
    project: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = (project[1] / "nets.py").read_text()
    assert right in text
    for each in project[1].glob("*.py"):
        (tmp_path / each.name).write_text(each.read_text())
    (tmp_path / "nets.py").write_text(text.replace(right, wrong))
    words = ["verify", str(tmp_path), "--torch", str(project[0]), "--model", "nets:Net", "--input", "float32[4,5,7]"]
    code, said = called(words, monkeypatch, capsys)
    assert (code, sentence in said) == (exit_code, True), said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["verify", "OUT", "--model", "nets:Net", "--input", "float32[4,5,7]", "--modes", "jit"],
            "neither compiled nor in float16",
        ),
        (["verify", "OUT", "--model", "nets:Net", "--input", "float32[4,5,7]", "--bisect"], "torch modules only"),
        (["analyze", "IN", "--baseline", "python nets.py"], "written for TensorFlow"),
    ],
)
def test_what_does_not_work_for_keras_says_so(
    arguments: list[str],
    said: str,
    project: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [str(project[0]) if each == "IN" else str(project[1]) if each == "OUT" else each for each in arguments]
    code, told = called(words, monkeypatch, capsys)
    assert (code, said in told) == (2, True), told
