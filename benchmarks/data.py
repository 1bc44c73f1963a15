"""Samples per second of converted data pipelines beside torch's, in one run: `python benchmarks/data.py`.

Every figure is a process of its own; the two frameworks take turns, and the median over the rounds counts. Each pipeline runs with 0, 1
and 2 workers on both sides; the ratio compares the number of workers that suits each. Samples per second of processor time, without
workers, stand beside it: that figure holds on a busy machine too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from mindferry import convert_source

RESULTS = Path(__file__).parent / "results" / "data.json"
SHIM = Path(__file__).parents[1] / "examples" / "resnet50_cifar10"
HEAD = "import numpy as np\nimport torch\nfrom torch.utils.data import DataLoader, Dataset\nfrom torchvision import datasets, transforms\n\n\n"
PICTURES = """from PIL import Image


class Pictures(Dataset):
    def __init__(self, transform):
        self.data = np.random.RandomState(0).randint(0, 256, ({count}, {size}, {size}, 3)).astype(np.uint8)
        self.transform = transform

    def __len__(self):
        return {count}

    def __getitem__(self, i):
        return self.transform(Image.fromarray(self.data[i])), i % 10


def loader(workers):
    transform = transforms.Compose([
        {first},
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize((0.5, 0.5, 0.5), (0.25, 0.25, 0.25)),
    ])
    return DataLoader(Pictures(transform), batch_size={batch}, shuffle=True, num_workers=workers)
"""
PIPELINES = {
    "arrays 3x64x64": """class Arrays(Dataset):
    def __len__(self):
        return 2048

    def __getitem__(self, i):
        image = np.full((64, 64, 3), i % 256, dtype=np.uint8)
        return torch.from_numpy(image).permute(2, 0, 1).float().div(255), i % 10


def loader(workers):
    return DataLoader(Arrays(), batch_size=64, shuffle=True, num_workers=workers)
""",
    "images 32x32, augmented": PICTURES.format(
        count=1024, size=32, batch=64, first="transforms.RandomCrop(32, padding=4)"
    ),
    "images 256x256, random resized crop": PICTURES.format(
        count=128, size=256, batch=32, first="transforms.RandomResizedCrop(224)"
    ),
    "dicts of tokens": """class Tokens(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, i):
        ids = torch.arange(128)
        return {"input_ids": ids, "attention_mask": torch.ones(128, dtype=torch.int64), "label": i % 2, "name": str(i)}


def loader(workers):
    return DataLoader(Tokens(), batch_size=32, shuffle=True, num_workers=workers)
""",
}
MEASURE = """
import sys, time
sys.path.insert(0, sys.argv[1])
try:
    import torchvision_ops
except ImportError:
    pass
import pipeline
loader = pipeline.loader(int(sys.argv[2]))
samples, seconds, busy = 0, 0.0, 0.0
for epoch in range(2):
    start, cpu = time.perf_counter(), time.process_time()
    for batch in loader:
        first = next(iter(batch.values())) if isinstance(batch, dict) else batch[0]
        if epoch:
            samples += len(first)
    if epoch:
        seconds += time.perf_counter() - start
        busy += time.process_time() - cpu
print(samples / seconds, samples / busy)
"""


def measured(folder: Path, workers: int) -> tuple[float, float]:
    """Samples per second, and per second of processor time."""
    # One thread each, as torch gives its own workers: on a busy machine its threads wait for each other.
    environment = {
        **os.environ,
        "GLOG_v": "4",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": str(SHIM) if folder.name == "torch" else "",
    }
    result = subprocess.run(
        [sys.executable, "-c", MEASURE, str(folder), str(workers)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
    )
    if result.returncode:
        raise SystemExit(f"{folder.name} with {workers} workers failed:\n{result.stderr[-2000:]}")
    wall, cpu = result.stdout.split()[-2:]
    return float(wall), float(cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    table = {}
    for name, text in PIPELINES.items():
        figures: dict[str, dict[int, list[float]]] = {"torch": {}, "mindspore": {}}
        busy: dict[str, list[float]] = {"torch": [], "mindspore": []}
        with tempfile.TemporaryDirectory() as scratch:
            for framework, code in (("torch", HEAD + text), ("mindspore", convert_source(HEAD + text).code)):
                (Path(scratch) / framework).mkdir()
                (Path(scratch) / framework / "pipeline.py").write_text(code)
            for _ in range(rounds):
                for workers in (0, 1, 2):
                    for framework in figures:
                        wall, cpu = measured(Path(scratch) / framework, workers)
                        figures[framework].setdefault(workers, []).append(wall)
                        busy[framework] += [cpu] if workers == 0 else []
        medians = {
            framework: {workers: statistics.median(each) for workers, each in rows.items()}
            for framework, rows in figures.items()
        }
        ratio = max(medians["mindspore"].values()) / max(medians["torch"].values())
        by_cpu = statistics.median(busy["mindspore"]) / statistics.median(busy["torch"])
        table[name] = {**medians, "ratio": ratio, "ratio_by_processor_time": by_cpu}
        shown = ", ".join(f"{f} " + "/".join(f"{rows[w]:.0f}" for w in sorted(rows)) for f, rows in medians.items())
        print(
            f"{name:38} {shown} samples/s with 0/1/2 workers; converted/torch {ratio:.2f}, {by_cpu:.2f} by processor time",
            flush=True,
        )
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"cores": os.cpu_count(), "rounds": rounds, "pipelines": table}, indent=1) + "\n")


if __name__ == "__main__":
    main()
