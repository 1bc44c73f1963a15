"""MindSpore quiet, at its usable speed, and with its litter in a scratch folder."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("GLOG_v", "4")
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")


@pytest.fixture(autouse=True)
def _scratch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("cwd"))
