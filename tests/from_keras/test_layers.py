"""Every helper for one of Keras' layers computes what the layer does: in both modes, with gradients, and what training leaves behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from two_processes import HERE, REASON, has_tensorflow

from mindferry.convert.render.helpers_module import library, render

CASES = [
    line.split("\t")[0] for line in (HERE / "layer_cases.tsv").read_text().splitlines() if not line.startswith("#")
]
Results = dict[str, "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"]


def run(which: str, out: Path) -> Results:
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "ONEDNN_MAX_CPU_ISA": "AVX2", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, str(HERE / "run_layers.py"), which, str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment, cwd=out.parent)
    assert done.returncode == 0, done.stderr[-3000:]
    with np.load(out) as found:
        return dict(found)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[Results, Results]:
    folder = tmp_path_factory.mktemp("layers")
    (folder / "ms_keras.py").write_text(render(set(library("tensorflow")[0]), source="tensorflow"))
    return run("keras", folder / "keras.npz"), run(str(folder), folder / "mindspore.npz")


@pytest.mark.skipif(not has_tensorflow(), reason=REASON)
@pytest.mark.parametrize("number", range(len(CASES)), ids=CASES)
def test_a_layer_computes_the_same(number: int, results: tuple[Results, Results]) -> None:
    wanted, found = ({k: v for k, v in each.items() if k.startswith(f"{number}/")} for each in results)
    assert f"{number}/error" not in wanted, wanted
    assert f"{number}/error" not in found, found
    assert np.ptp(wanted[f"{number}/train"]) > 0
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-3, atol=3e-4, err_msg=name)
