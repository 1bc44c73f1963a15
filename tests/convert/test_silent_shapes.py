"""Shapes of code that once went wrong silently: converted, each prints what the original prints."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from corpus.silent import COMMON, Entry, entries, first_difference

from mindferry.convert import convert_project

SHAPES = [entry for entry in entries() if not {"torchvision", "einops"} & set(" ".join(entry.files.values()).split())]
DRIVER = """import os, runpy, sys, traceback
sys.path.pop(0)  # the folder of this file
for folder in sorted(os.listdir(sys.argv[1])):
    home = os.path.join(sys.argv[1], folder)
    script = open(os.path.join(home, "script")).read()
    os.chdir(home)
    sys.path.insert(0, os.path.dirname(os.path.join(home, script)))
    print("=====", folder, flush=True)
    try:
        runpy.run_path(script, run_name="__main__")
    except BaseException:
        print(traceback.format_exc())
    del sys.path[0]
    for name in ("common", "other", "ms_compat", "pkg", "pkg.ms_compat"):
        sys.modules.pop(name, None)
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], dict[str, str]]:
    """What all of them print, by number: one process for each framework."""
    root = tmp_path_factory.mktemp("shapes")
    for number, entry in enumerate(SHAPES):
        source, output = root / "torch" / f"{number:02}", root / "mindspore" / f"{number:02}"
        write(entry, source)
        convert_project(source, output)
        for folder in (source, output):
            (folder / "script").write_text(shlex.split(entry.command)[1])
    (root / "driver.py").write_text(DRIVER)
    return run(root, "torch"), run(root, "mindspore")


def write(entry: Entry, folder: Path) -> None:
    for path, text in {"common.py": COMMON, **entry.files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text.lstrip("\n"))


def run(root: Path, kind: str) -> dict[str, str]:
    environment = {**os.environ, "GLOG_v": "3", "ONEDNN_MAX_CPU_ISA": "AVX2"}
    command = [sys.executable, str(root / "driver.py"), str(root / kind)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    parts = done.stdout.split("===== ")[1:]
    return {part.split("\n")[0]: part.partition("\n")[2] for part in parts}


@pytest.mark.parametrize("number", range(len(SHAPES)), ids=[entry.name for entry in SHAPES])
def test_it_prints_what_the_original_prints(number: int, printed: tuple[dict[str, str], dict[str, str]]) -> None:
    theirs, ours = (each[f"{number:02}"] for each in printed)
    assert theirs.strip() and "Traceback" not in theirs, theirs
    assert first_difference(theirs, ours) == "", ours
