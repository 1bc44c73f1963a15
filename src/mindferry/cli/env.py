"""`mindferry env`: versions and devices, to paste into a bug report."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from pathlib import Path

import click

PACKAGES = ("mindferry", "torch", "torchvision", "mindspore", "numpy", "click", "rich")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(as_json: bool) -> None:
    """Print versions and devices, for bug reports.

    \b
    mindferry env
    mindferry env --json
    """
    facts = {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": _cpu(),
        "cores": str(os.cpu_count()),
        **{name: _version(name) for name in PACKAGES},
        **{name: os.environ[name] for name in ("ONEDNN_MAX_CPU_ISA", "GLOG_v", "DEVICE_ID") if name in os.environ},
    }
    if as_json:
        click.echo(json.dumps(facts, indent=1))
    else:
        for name, value in facts.items():
            click.echo(f"{name:12} {value}")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or "unknown"
    model = next(
        (line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")), "unknown"
    )
    return model + (", AVX-512" if "avx512f" in text else "")
