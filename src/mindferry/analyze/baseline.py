"""Runs the reference once under a recorder, on request: the figures that later stages are compared with."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

from ..artifacts import STATE, Baseline
from ..errors import MindferryError
from ..files import remove, write_text
from ..layout import CHECKPOINTS, SECOND, source_framework
from ..printed_metrics import last_metrics

PACKAGES = ("torch", "torchvision", "numpy")


def run_baseline(project: Path, command: str) -> Baseline:
    """Run `command` in .mindferry/baseline, where the project's files are linked, so that what it writes stays apart."""
    if source_framework(project) == SECOND:
        raise MindferryError(
            f"{project.name} is written for TensorFlow, and --baseline records torch projects only; "
            "`mindferry observe` keeps the losses of its run"
        )
    folder = Path(STATE, "baseline").resolve()
    _link(project.resolve() if project.is_dir() else project.resolve().parent, folder)
    target = folder / "recorded.json"
    remove(target)
    recorder = str(Path(__file__).parent / "recorder")
    path = os.pathsep.join([recorder, str(folder), *filter(None, [os.environ.get("PYTHONPATH", "")])])
    try:
        words = shlex.split(command)
        words[0] = sys.executable if words[0] in ("python", "python3") else words[0]
        environment = {**os.environ, "PYTHONPATH": path, "MINDFERRY_BASELINE": str(target)}
        run = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    except (OSError, ValueError, IndexError) as error:
        raise MindferryError(
            f"cannot run `{command}` ({error}); give a command such as --baseline 'python train.py --epochs 1'"
        ) from None
    write_text(folder / "log.txt", run.stdout + run.stderr)
    if run.returncode:
        last = (run.stderr.strip() or run.stdout.strip() or "no output").splitlines()[-1]
        raise MindferryError(f"`{command}` ended with code {run.returncode} ({last}); see {folder / 'log.txt'}")
    if not target.is_file():
        raise MindferryError(
            f"`{command}` ran without torch, so nothing was recorded; give the command that trains, run by python"
        )
    return _read(target, command, folder)


def _link(project: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for item in project.iterdir():
        link = folder / item.name
        if not item.name.startswith(".") and not link.exists() and folder not in item.parents:
            link.symlink_to(item)


def _read(target: Path, command: str, folder: Path) -> Baseline:
    body = json.loads(target.read_text("utf-8"))
    rate = (body["steps"] - 1) / body["seconds"] if body["seconds"] else 0.0
    saved = sorted(
        item.relative_to(folder).as_posix()
        for item in folder.rglob("*")
        if item.suffix in CHECKPOINTS and not item.is_symlink()
    )
    versions = {name: importlib.metadata.version(name) for name in PACKAGES if _is_installed(name)}
    return Baseline(
        command,
        tuple(body["losses"]),
        body["steps"],
        rate,
        body["peak_memory"],
        body["peak_device_memory"],
        body["seed"],
        versions,
        tuple(saved),
        last_metrics((folder / "log.txt").read_text("utf-8", "replace")),
    )


def _is_installed(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
