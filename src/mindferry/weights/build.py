"""The worker that builds a MindSpore model and writes down its tree. Started by `tree_of`, one process a model."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ..errors import MindferryError
from .tree import Slot, Tree, describe

SECONDS = 600


def tree_of(model: str, project: Path) -> Tree:
    """The tree of `pkg.mod:factory`, built in a process of its own with `project` on its path."""
    name = model.partition("(")[0]
    if name.count(":") != 1 or not all(name.split(":")):
        raise MindferryError(
            f"--model {model!r} names no factory; write it as package.module:factory or package.module:factory(depth=50)"
        )
    with tempfile.TemporaryDirectory(prefix="mindferry-") as scratch:
        out = Path(scratch) / "tree.json"
        command = [sys.executable, "-P", "-m", __name__, model, str(project.resolve()), str(out)]
        # Quiet, and at the speed that AVX-512 hosts lose without it; MindSpore's litter stays in the scratch folder.
        environment = {**os.environ, "GLOG_v": "4", "ONEDNN_MAX_CPU_ISA": "AVX2", "PYTHONPATH": _search_path()}
        try:
            done = subprocess.run(
                command, cwd=scratch, env=environment, capture_output=True, text=True, errors="replace", timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            raise MindferryError(
                f"building {model} took more than {SECONDS} s; give a factory of the bare model"
            ) from None
        if done.returncode or not out.exists():
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise MindferryError(
                f"cannot build {model} from {project}: {lines[-1].strip()}; check --model and --project"
            )
        body = json.loads(out.read_text("utf-8"))
    slots = tuple(Slot(**{**slot, "shape": tuple(slot["shape"])}) for slot in body["slots"])
    return Tree(slots, {path: tuple(classes) for path, classes in body["cells"].items()})


def _search_path() -> str:
    here = str(Path(__file__).parents[2])
    return os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])


def main(model: str, project: str, out: str) -> None:
    sys.path.insert(0, project)
    try:
        from ..frameworks.mindspore import build_cell

        cell = build_cell(model)  # the one that verify and export build, arguments included
    except Exception as error:  # the user's code may raise anything
        kind = "" if isinstance(error, MindferryError) else f"{type(error).__name__}: "
        sys.exit(f"{kind}{error}".splitlines()[0])
    Path(out).write_text(json.dumps(dataclasses.asdict(describe(cell))), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
