"""Conversion speed on timm/models against PaConvert 3.3.1, in one run: lines per CPU-second, and peak memory.

    python -m venv build/paconvert && build/paconvert/bin/pip install paconvert==3.3.1
    python benchmarks/convert.py --paconvert build/paconvert/bin/paconvert

Writes benchmarks/results/convert.json. One process on each side. CPU seconds of the process and its children, the best of --rounds.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

Command = Callable[[str, str], list[str]]  # of the source and of where the result goes
RESULTS = Path(__file__).parent / "results" / "convert.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paconvert", type=Path, help="its executable, in an environment of its own")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    spec = importlib.util.find_spec("timm")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("timm is not installed; run `pip install --no-deps timm==1.0.30`")
    source = Path(spec.submodule_search_locations[0]) / "models"
    lines = sum(path.read_bytes().count(b"\n") for path in source.rglob("*.py"))
    commands: dict[str, Command] = {
        "mindferry": lambda code, out: [sys.executable, "-m", "mindferry", "convert", code, "-o", out, "-j", "1"]
    }
    if options.paconvert:
        paconvert = str(options.paconvert)
        commands["paconvert"] = lambda code, out: [paconvert, "-i", code, "-o", out]
        commands["paconvert --no_format"] = lambda code, out: [paconvert, "-i", code, "-o", out, "--no_format"]
    rows = {}
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as small:
        Path(small, "first.py").write_text("import torch\n\nprint(torch.zeros(2))\n")
        for command in commands.values():  # their own code is compiled before it is measured, as by an installation
            measure(command, small, cache)
        for _ in range(options.rounds):  # by turns: the machine may have more to do at one time than at another
            for name, command in commands.items():
                runs[name].append(measure(command, str(source), cache))
    for name in commands:
        seconds, memory = min(run[0] for run in runs[name]), max(run[1] for run in runs[name])
        rows[name] = {
            "cpu_seconds": round(seconds, 2),
            "lines_per_cpu_second": round(lines / seconds),
            "peak_mb": round(memory),
        }
        print(f"{name:24} {seconds:7.2f} CPU s {lines / seconds:9.0f} lines/CPU s {memory:6.0f} MB")
    for name in list(rows)[1:]:
        rows[name]["mindferry_is_faster_by"] = round(rows[name]["cpu_seconds"] / rows["mindferry"]["cpu_seconds"], 2)
        print(f"mindferry is {rows[name]['mindferry_is_faster_by']} times as fast as {name}")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"lines": lines, "tools": rows}, indent=1) + "\n")


def measure(command: Command, source: str, cache: str) -> tuple[float, float]:
    """(CPU seconds, peak megabytes) of one run. Bytecode is kept in `cache` by both tools, as that of an installed program is."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            command(source, str(Path(folder) / "out")),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""},
        )
        _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / (1024 if sys.platform == "linux" else 2**20)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
