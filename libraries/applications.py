"""`python -m libraries.applications [NAME…]`: networks of keras.applications, brought along with --with keras, on both frameworks.

Each is converted, then run on TensorFlow and on MindSpore, in processes of their own, with the same random weights; what comes
out and all gradients are laid side by side in docs/reference/keras-applications.md. Rows that are not measured again stay.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from mindferry.files import write_text

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "keras-applications.md"
WORKER = Path(__file__).with_name("applications_worker.py")
FORWARD, GRADIENT = 1e-4, 1e-3  # of the largest value
SIZES = {  # the smallest image, or nearly, that Keras takes
    "VGG16": 32,
    "ResNet50": 32,
    "MobileNetV2": 32,
    "MobileNetV3Small": 32,
    "DenseNet121": 32,
    "EfficientNetB0": 32,
    "Xception": 71,
    "InceptionV3": 75,
    "NASNetMobile": 32,
    "ConvNeXtTiny": 32,
}
PROJECT = """from keras.applications import {0}


def build():
    return {0}(weights=None, include_top=True, classes=10, classifier_activation=None, input_shape=({1}, {1}, 3))
"""
ROW = re.compile(r"^\| (\w+) \|.*\|$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str
    size: int
    weights: int = 0
    modules: int = 0
    forward: float = float("inf")  # largest difference, of the largest value
    gradient: float = float("inf")
    error: str = ""

    @property
    def is_right(self) -> bool:
        return self.forward <= FORWARD and self.gradient <= GRADIENT

    def row(self) -> str:
        shown = [f"{each:.0e}" if np.isfinite(each) else "" for each in (self.forward, self.gradient)]
        cells = [self.name, f"{self.size}", f"{self.weights}", f"{self.modules}", *shown]
        day = f"{metadata.version('keras')}, {datetime.date.today().isoformat()}"
        why = "" if self.is_right else self.error.replace("|", "\\|")[:160]
        return f"| {' | '.join([*cells, day, why])} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(SIZES))
    rows = dict(_rows(PAGE.read_text() if PAGE.exists() else ""))
    for name in parser.parse_args().names:
        found = measured(name, SIZES[name])
        print(f"{found.row()} {found.error}", flush=True)
        rows[name] = found.row()
        write_text(PAGE, page([rows[each] for each in SIZES if each in rows]))


def measured(name: str, size: int) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="mindferry-applications-") as scratch:
        folder = Path(scratch)
        (folder / "project").mkdir()
        (folder / "project" / "net.py").write_text(PROJECT.format(name, size))
        words = ["-m", "mindferry", "convert", str(folder / "project"), "-o", str(folder / "out"), "--with", "keras"]
        for side, command in (
            ("convert", words),
            ("tensorflow", [str(WORKER), "tensorflow", str(folder / "project"), str(folder), str(size)]),
            ("mindspore", [str(WORKER), "mindspore", str(folder / "out"), str(folder), str(size)]),
        ):
            done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=environment())
            if done.returncode:
                last = (done.stderr or done.stdout).strip().splitlines()[-1:]
                return Outcome(name, size, error=f"{side}: {''.join(last)}")
        modules = len(list((folder / "out" / "ported" / "keras" / "applications").glob("[a-z]*.py")))
        return compare(name, size, modules, folder)


def environment() -> dict[str, str]:
    return {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "GLOG_v": "4", "ONEDNN_MAX_CPU_ISA": "AVX2"}


def compare(name: str, size: int, modules: int, folder: Path) -> Outcome:
    with np.load(folder / "tensorflow.npz") as theirs, np.load(folder / "mindspore.npz") as ours:
        if sorted(theirs.files) != sorted(ours.files):
            return Outcome(name, size, error=f"{len(theirs.files)} values in Keras, {len(ours.files)} in MindSpore")
        forward = _apart(theirs["out"], ours["out"]) / float(np.abs(theirs["out"]).max())
        keys = [each for each in theirs.files if each.startswith("gradient")]
        scale = max(float(np.abs(theirs[each]).max()) for each in keys)
        gradient = max(_apart(theirs[each], ours[each]) for each in keys) / scale
        return Outcome(name, size, int(theirs["weights"]), modules, forward, gradient)


def _apart(theirs: Any, ours: Any) -> float:
    return float(np.abs(theirs - ours).max(initial=0.0)) if theirs.shape == ours.shape else float("inf")


def page(rows: list[str]) -> str:
    right = sum(row.endswith("|  |") for row in rows)
    return (
        "\n".join(
            [
                "# Networks of keras.applications",
                "",
                "Written by `python -m libraries.applications`. Each network is brought along by `mindferry convert --with keras`, and run on",
                "TensorFlow and on MindSpore (without TensorFlow) with the same random weights and images, as for inference. A difference is",
                "the largest one, divided by the largest value; gradients are those of all trainable weights. TensorFlow has no gradient of",
                "ConvNeXt's grouped convolutions on a CPU: there they are computed as the depthwise convolutions that they are.",
                "",
                f"{right} of {len(rows)} agree: outputs within {FORWARD:.0e}, gradients within {GRADIENT:.0e}.",
                "",
                "| network | image | weights | modules | output | gradients | keras, measured | why not |",
                f"| {' | '.join(['---'] * 8)} |",
                *rows,
            ]
        )
        + "\n"
    )


def _rows(text: str) -> list[tuple[str, str]]:
    return [(found.group(1), found.group(0)) for found in ROW.finditer(text) if found.group(1) in SIZES]


if __name__ == "__main__":
    main()
