"""TensorFlow's and Keras' functions, converted: the same values and gradients, expression by expression."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from two_processes import ENVIRONMENT, HERE, REASON, has_tensorflow

from mindferry.convert import convert_project

ROWS = [line.split("\t") for line in (HERE / "function_cases.tsv").read_text().splitlines() if not line.startswith("#")]
HEADER = "import keras\nimport tensorflow as tf\nfrom keras import ops\nfrom tensorflow.keras import backend as K\n\n"
Results = dict[str, "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"]


def drawn(kind: str, seed: int) -> np.ndarray:
    """p: between 0.05 and 0.95, b: 0 or 1, i: whole numbers below 4."""
    rng, shape = np.random.default_rng(seed), tuple(int(size) for size in kind.lstrip("pbi").split(","))
    made = {"p": rng.uniform(0.05, 0.95, shape), "b": rng.integers(0, 2, shape), "i": rng.integers(0, 4, shape)}
    value = made.get(kind[0], rng.normal(size=shape))
    return value if kind[0] == "i" else value.astype("float32")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, Results, list[str]]:
    folder = tmp_path_factory.mktemp("functions")
    project = folder / "project"
    project.mkdir()
    lines = [f"def case_{number}(x, y=None, z=None):\n    return {row[0]}\n" for number, row in enumerate(ROWS)]
    (project / "cases.py").write_text(f"{HEADER}\n" + "\n\n".join([*lines, f"COUNT = {len(ROWS)}\n"]))
    inputs = {
        f"{number}/{place}": drawn(kind, 10 * number + place)
        for number, row in enumerate(ROWS)
        for place, kind in enumerate(row[1].split())
    }
    np.savez(folder / "inputs.npz", **inputs)
    made = convert_project(project, folder / "out")
    said = [f"{each.line}: {each.message}" for file in made.files for each in file.findings]
    run("tensorflow", project, folder)
    run("mindspore", folder / "out", folder)
    with np.load(folder / "tensorflow.npz") as theirs, np.load(folder / "mindspore.npz") as ours:
        return dict(theirs), dict(ours), said


def run(which: str, project: Path, folder: Path) -> None:
    environment = {**os.environ, **ENVIRONMENT, "TF_ENABLE_ONEDNN_OPTS": "1"}  # a CPU without AVX-512 has them off
    words = [sys.executable, str(HERE / "run_functions.py"), which, str(project), str(folder / "inputs.npz")]
    command = [*words, str(folder / f"{which}.npz")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment, cwd=folder)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.skipif(not has_tensorflow(), reason=REASON)
def test_every_function_converts_without_a_finding(results: tuple[Results, Results, list[str]]) -> None:
    assert results[2] == []


@pytest.mark.skipif(not has_tensorflow(), reason=REASON)
@pytest.mark.parametrize("number", range(len(ROWS)), ids=[row[0] for row in ROWS])
def test_a_function_computes_the_same(number: int, results: tuple[Results, Results, list[str]]) -> None:
    wanted, found = ({k: v for k, v in each.items() if k.startswith(f"{number}/")} for each in results[:2])
    assert f"{number}/error" not in wanted, wanted
    assert f"{number}/error" not in found, found
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-3, atol=2e-4, err_msg=name)
