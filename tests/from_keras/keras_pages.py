"""Trains the Keras projects beside their references and writes what was measured:

python tests/from_keras/keras_pages.py [NAME…]   → docs/reference/keras-projects.md (about 8 minutes on two cores)
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from mindferry.config import Train
from mindferry.convert import convert_project
from mindferry.errors import MindferryError
from mindferry.files import write_text
from mindferry.train import train_side_by_side

HERE = Path(__file__).parent
PROJECTS, PAGES = HERE / "projects", HERE.parents[1] / "docs" / "reference"
STYLES = {
    "lenet": "the guide's LeNet: Sequential, own loop over a tape",
    "callbacks_run": "fit with callbacks that stop, save and lower the rate",
    "data_methods": "tf.data: buckets, windows, groups, ragged texts",
    "gradient_penalty": "a critic whose loss holds a gradient",
    "image_colours": "colours of images in bytes",
    "image_generators": "ImageDataGenerator: arrays, folders, a table",
    "masks_and_collected": "masks through RNNs with states, steps that leave metrics to collect",
    "modes": "layers that are told who trains",
    "numpy_losses": "losses of NumPy's arrays and tensors together",
    "open_sizes": "inputs without a size of their own",
    "own_callbacks": "own callbacks, own compute_loss, epochs of some steps",
    "own_losses": "own losses of plain labels, own gradients, jacobians",
    "own_parts": "own regularizers, constraints, metrics of layers",
    "own_train_step": "own train_step and metrics, two inputs, two outputs",
    "records": "TFRecord files, written and read",
    "resnet_data": "residual network over tf.data",
    "saved_networks": "networks that are saved, loaded and cloned",
    "subclassed_loop": "subclassed Model in a file of its own, tf.function",
    "tapes": "tapes in functions, in loops, persistent",
    "text_lstm": "masked words, Bidirectional LSTM",
    "transformer": "own layers: attention and positions",
    "two_arguments": "networks that are called with several arguments: seq2seq",
    "two_tapes": "a GAN: two tapes, two optimizers",
    "vae": "variational autoencoder, own train_step",
    "variables": "tf.Variable and tf.nn alone, no Keras layer",
}


@dataclass(frozen=True, slots=True)
class Row:
    """What ten steps of both sides of one project showed."""

    name: str
    steps: int
    worst: float  # largest relative difference of the losses
    distance: float  # largest difference of where a weight went
    updates: int  # weights whose first updates were compared
    findings: int
    failure: str = ""


def measure(name: str) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / name
        findings = sum(len(each.findings) for each in convert_project(PROJECTS / name, output).files)
        try:
            curves = train_side_by_side(output, Train(script="train.py", steps=10))
        except MindferryError as error:
            return Row(name, 0, 0.0, 0.0, 0, findings, " ".join(str(error).split()))
    failure = "" if curves.passed else curves.first_difference
    return Row(
        name,
        len(curves.converted),
        curves.worst,
        max(curves.distances, default=0.0),
        curves.updates,
        findings,
        failure,
    )


def page(rows: list[Row]) -> str:
    lines = [
        "# Keras projects that train on both sides",
        "",
        "Made by `python tests/from_keras/keras_pages.py`. Each project of `tests/from_keras/projects` is converted without a hand edit, and",
        "trained beside its reference on TensorFlow from the same weights, on the same batches and random numbers: the first ten steps of an",
        "optimizer. Differences of losses are relative to the reference's; 1e-4 is allowed. Every number that the whole scripts print is compared",
        "by `tests/from_keras/test_projects.py`.",
        "",
        "| project | style | steps | losses | weights | updates compared | findings | |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in rows:
        verdict = row.failure or ("follows" if row.steps and row.worst <= 1e-4 else "differs")
        lines.append(
            f"| {row.name} | {STYLES[row.name]} | {row.steps} | {row.worst:.1e} | {row.distance:.1e} | {row.updates} | {row.findings} | {verdict} |"
        )
    followed = sum(line.endswith("| follows |") for line in lines)
    return "\n".join([*lines, "", f"{followed} of {len(rows)} follow."]) + "\n"


def main(*names: str) -> None:
    """All of them, or the named ones, whose rows are put among those already measured."""
    data = PAGES / "keras-projects.json"
    for name in names or STYLES:
        known = {each["name"]: Row(**each) for each in json.loads(data.read_text())} if data.is_file() else {}
        known[name] = measure(name)
        print(known[name], file=sys.stderr, flush=True)
        rows = [known[each] for each in STYLES if each in known]
        write_text(data, json.dumps([asdict(each) for each in rows], indent=1) + "\n")
        write_text(PAGES / "keras-projects.md", page(rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
