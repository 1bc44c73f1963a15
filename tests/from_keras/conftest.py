"""The projects, run by TensorFlow and, converted, by MindSpore: once for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from two_processes import PROJECTS, run

from mindferry.artifacts import ProjectConversion
from mindferry.convert import convert_project


@pytest.fixture(scope="session")
def converted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, ProjectConversion]]:
    root = tmp_path_factory.mktemp("converted")
    return {path.name: (root / path.name, convert_project(path, root / path.name)) for path in PROJECTS}


@pytest.fixture(scope="session")
def reference_prints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    return run(PROJECTS, tmp_path_factory.mktemp("reference"))


@pytest.fixture(scope="session")
def converted_prints(
    converted: dict[str, tuple[Path, ProjectConversion]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, str]]:
    return run([folder for folder, _ in converted.values()], tmp_path_factory.mktemp("run"))
