"""Every helper for one of Keras' layers computes what the layer does: in both modes, with gradients, and what training leaves behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from two_processes import ENVIRONMENT, HERE, REASON, has_tensorflow

from mindferry.convert.render.helpers_module import library, render

CASES = [
    line.split("\t")[0] for line in (HERE / "layer_cases.tsv").read_text().splitlines() if not line.startswith("#")
]
VALUES = [
    line.split("\t")[1] for line in (HERE / "value_cases.tsv").read_text().splitlines() if not line.startswith("#")
]
Results = dict[str, "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"]


def run(script: str, which: str, out: Path) -> Results:
    environment = {**os.environ, **ENVIRONMENT, "TF_ENABLE_ONEDNN_OPTS": "1"}  # a CPU without AVX-512 has them off
    command = [sys.executable, str(HERE / script), which, str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment, cwd=out.parent)
    assert done.returncode == 0, done.stderr[-3000:]
    with np.load(out, allow_pickle=True) as found:  # words are objects; this process's child wrote them
        return dict(found)


def both(script: str, folder: Path) -> tuple[Results, Results]:
    (folder / "ms_keras.py").write_text(render(set(library("tensorflow")[0]), source="tensorflow"))
    return run(script, "keras", folder / "keras.npz"), run(script, str(folder), folder / "mindspore.npz")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, Results]:
    return both("run_layers.py", tmp_path_factory.mktemp("layers"))


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, Results]:
    return both("run_values.py", tmp_path_factory.mktemp("values"))


@pytest.mark.skipif(not has_tensorflow(), reason=REASON)
@pytest.mark.parametrize("number", range(len(CASES)), ids=CASES)
def test_a_layer_computes_the_same(number: int, results: tuple[Results, Results]) -> None:
    wanted, found = ({k: v for k, v in each.items() if k.startswith(f"{number}/")} for each in results)
    assert f"{number}/error" not in wanted, wanted
    assert f"{number}/error" not in found, found
    assert len(set(wanted[f"{number}/train"].ravel().tolist())) > 1
    for name, value in wanted.items():
        assert found[name].shape == value.shape, name
        if value.dtype.kind == "O":
            assert [each.decode() for each in value.ravel()] == found[name].ravel().tolist(), name
        else:
            assert found[name].dtype.kind == value.dtype.kind, name
            np.testing.assert_allclose(found[name], value, rtol=1e-3, atol=3e-4, err_msg=name)


@pytest.mark.skipif(not has_tensorflow(), reason=REASON)
@pytest.mark.parametrize("number", range(len(VALUES)), ids=VALUES)
def test_losses_optimizers_schedules_and_metrics_compute_the_same(number: int, values: tuple[Results, Results]) -> None:
    wanted, found = ({k: v for k, v in each.items() if k.startswith(f"{number}/")} for each in values)
    assert f"{number}/error" not in wanted, wanted
    assert f"{number}/error" not in found, found
    for name, value in wanted.items():
        assert np.isfinite(value).all(), name
        is_drawn = name.endswith("/moments")
        near = 0.02 * float(np.abs(value).max()) if is_drawn else 1e-5
        np.testing.assert_allclose(found[name], value, rtol=2e-2 if is_drawn else 1e-4, atol=near, err_msg=name)
