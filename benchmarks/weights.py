"""Carry a large .pth over beside `cp` and the plain recipe, in one run: `python benchmarks/weights.py --gb 1 4`.

Every figure is a process of its own: wall time and peak memory from the kernel, medians over rounds that take turns,
the disk synced before each. The plain recipe (torch.load, to numpy, mindspore.save_checkpoint) runs once a file.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from mindferry.weights.formats.entry import Entry
from mindferry.weights.formats.files import write_checkpoint

RESULTS = Path(__file__).parent / "results" / "weights.json"
BLOCK = 1 << 26
MINDFERRY = [sys.executable, "-m", "mindferry", "weights", "convert"]
RECIPE = """
import sys, torch, mindspore as ms
state = torch.load(sys.argv[1])
parameters = [{"name": name, "data": ms.Tensor(value.numpy())} for name, value in state.items()]
ms.save_checkpoint(parameters, sys.argv[2], format=sys.argv[2].rpartition(".")[2])
"""


@dataclass(frozen=True)
class Run:
    seconds: float
    cpu: float
    peak_mb: float


def write_source(path: Path, gigabytes: float) -> None:
    """Transformer-like: per block one tensor of 56 MB, one of 8 MB and three small ones, of random bytes."""
    block = np.random.default_rng(0).integers(0, 1 << 32, BLOCK // 4, np.uint32).view(np.float32)
    shapes = {
        "mlp.weight": (3670, 4000),
        "attn.weight": (1000, 2096),
        "mlp.bias": (4000,),
        "n1.weight": (48,),
        "n1.bias": (48,),
    }
    entries = []
    for number in range(int(gigabytes * 1e9 / 67_108_864)):
        for name, shape in shapes.items():
            count = int(np.prod(shape))
            values = block[number : number + count].reshape(shape)
            entries.append(Entry(f"blocks.{number}.{name}", "float32", shape, compute=lambda values=values: values))
    write_checkpoint(path, entries, "pt")


def measured(command: list[str], output: Path | None = None) -> Run:
    """Run a command; its own time and peak memory."""
    if output:
        output.unlink(missing_ok=True)
    os.sync()
    quiet = {**os.environ, "GLOG_v": "4"}
    start = time.perf_counter()
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    process = os.posix_spawnp(command[0], command, quiet, file_actions=silent)
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - start
    if status:
        sys.exit(f"{' '.join(command[:4])} failed with status {status}")
    if output:
        output.chmod(0o600)
        output.unlink()
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def median(runs: list[Run]) -> Run:
    return Run(
        statistics.median(run.seconds for run in runs),
        statistics.median(run.cpu for run in runs),
        max(run.peak_mb for run in runs),
    )


def bench(folder: Path, gigabytes: float, rounds: int, plain: bool) -> dict[str, object]:
    source, ckpt_source = folder / "source.pth", folder / "source.ckpt"
    write_source(source, gigabytes)
    outputs = {name: folder / f"out.{name}" for name in ("copy", "safetensors", "ckpt", "pth")}
    commands = {
        "cp": (["cp", str(source), str(outputs["copy"])], outputs["copy"]),
        "pth to safetensors": ([*MINDFERRY, str(source), "-o", str(outputs["safetensors"])], outputs["safetensors"]),
        "pth to ckpt": ([*MINDFERRY, str(source), "-o", str(outputs["ckpt"])], outputs["ckpt"]),
        "ckpt to pth": ([*MINDFERRY, str(ckpt_source), "-o", str(outputs["pth"]), "--reverse"], outputs["pth"]),
    }
    measured([*MINDFERRY, str(source), "-o", str(ckpt_source)])
    measured(*commands["cp"])  # the first copy after writing is slower than any later one
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    order = list(commands)
    for _ in range(rounds):
        order.append(order.pop(0))  # no command always comes after the same other
        for name in order:
            runs[name].append(measured(*commands[name]))
    figures = {name: median(found) for name, found in runs.items()}
    if plain:
        for kind in ("safetensors", "ckpt"):
            recipe = [sys.executable, "-c", RECIPE, str(source), str(outputs[kind])]
            figures[f"plain recipe to {kind}"] = measured(recipe, outputs[kind])
    size = source.stat().st_size
    source.unlink()
    ckpt_source.unlink()
    spread = {name: [round(run.seconds, 3) for run in found] for name, found in runs.items()}
    return {
        "bytes": size,
        "figures": {name: asdict(run) for name, run in figures.items()},
        "seconds of each round": spread,
    }


def show(result: dict[str, object], interpreter: Run) -> None:
    figures = {name: Run(**values) for name, values in result["figures"].items()}  # type: ignore[attr-defined]
    print(f"{result['bytes'] / 1e9:.2f} GB")  # type: ignore[operator]
    for name, run in figures.items():
        ratio = run.seconds / figures["cp"].seconds
        best = min(result["seconds of each round"].get(name, [run.seconds])) / min(
            result["seconds of each round"]["cp"]
        )  # type: ignore[attr-defined, index]
        above = f"{run.peak_mb - interpreter.peak_mb:7.0f} MB above the interpreter" if name != "cp" else ""
        print(
            f"  {name:28} {run.seconds:7.2f} s  {ratio:5.2f} x cp (best of each: {best:5.2f})  {run.cpu:6.2f} s of CPU {above}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gb", type=float, nargs="+", default=[1.0, 4.0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", type=Path, help="where the files go; a temporary folder by default")
    parser.add_argument(
        "--plain-gb", type=float, default=4.0, help="largest file for the plain recipe; 0 leaves it out"
    )
    options = parser.parse_args()
    interpreter = measured([sys.executable, "-c", "pass"])
    results = []
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for gigabytes in options.gb:
            results.append(bench(Path(folder), gigabytes, options.rounds, gigabytes <= options.plain_gb))
            show(results[-1], interpreter)
    RESULTS.parent.mkdir(exist_ok=True)
    body = {
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "interpreter_mb": interpreter.peak_mb,
        "rounds": options.rounds,
        "results": results,
    }
    RESULTS.write_text(json.dumps(body, indent=1) + "\n")


if __name__ == "__main__":
    main()
