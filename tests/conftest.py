"""Settings that make MindSpore usable on a CPU, before anything imports it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

os.environ.setdefault("GLOG_v", "4")
os.environ.setdefault("MINDFERRY_CONFLICTS", "raise")  # two changes that meet are a defect of ours
if "avx512f" in (Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""):
    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")
settings.register_profile("anywhere", deadline=None, derandomize=True)  # the same on every machine
settings.load_profile("anywhere")


@pytest.fixture(scope="session", autouse=True)
def _scratch_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """MindSpore drops kernel_meta/ and rank_0/ where it runs."""
    here = Path.cwd()
    os.environ["MINDFERRY_CACHE"] = str(tmp_path_factory.mktemp("cache"))  # of converted libraries
    os.chdir(tmp_path_factory.mktemp("cwd"))
    yield
    os.chdir(here)


@pytest.fixture(autouse=True)
def _numpy_as_it_was() -> Iterator[None]:
    """A converted seed sets MindSpore's numbers apart from numpy's for as long as the process lives."""
    yield
    for name in ("mindspore.common.initializer", "mindspore.nn.layer.rnns", "mindspore.nn.layer.rnn_cells"):
        if name in sys.modules:
            sys.modules[name].np = np  # type: ignore[attr-defined]
