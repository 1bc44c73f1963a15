"""Writes reference.json: what the projects record with torch and Lightning.

    pip install --no-deps --target SITE pytorch-lightning lightning lightning-utilities torchmetrics packaging tqdm fsspec pyyaml
    PYTHONPATH=SITE python tests/lightning/record.py

The tests compare with the file, so they need no Lightning.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
NAMES = ("classifier", "autoencoder", "gan", "forecaster", "transformer", "hooked", "resumed", "measured", "manual")
# torchmetrics imports torchvision, which may be here without its compiled operators.
PRELUDE = (
    f"import runpy, sys; sys.path[:0] = ['.', {str(HERE.parents[1] / 'examples' / 'resnet50_cifar10')!r}]; "
    "import torchvision_ops; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
)


def main(names: list[str]) -> None:
    path = HERE / "reference.json"
    records = json.loads(path.read_text()) if path.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "records.json"
        command = [sys.executable, "-W", "ignore", "-c", PRELUDE, "run_all.py", str(out), *names]
        subprocess.run(command, cwd=HERE / "projects", check=True)
        records.update(json.loads(out.read_text()))
    path.write_text(json.dumps(_rounded(records), sort_keys=True) + "\n")


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return {key: _rounded(each) for key, each in value.items()} if isinstance(value, dict) else value


if __name__ == "__main__":
    main(sys.argv[1:] or list(NAMES))
