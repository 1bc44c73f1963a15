"""The conformance page: docs/reference/conformance.md and .json, from what the driver has found."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from mindferry.files import write_text

from .drive import Driver, Result, summary

FOLDER = Path("docs/reference")
SETTING = "float32, CPU, PyNative; rtol 1e-3, atol 1e-4; random operators by shape, type and moments."


def write_page(drivers: list[Driver], folder: Path = FOLDER) -> None:
    """Both files, whole or not at all."""
    write_text(folder / "conformance.md", _markdown(drivers))
    write_text(folder / "conformance.json", json.dumps(_records(drivers), indent=1) + "\n")


def _records(drivers: list[Driver]) -> dict[str, object]:
    import mindspore
    import torch

    groups = {
        each.group.name: {
            "right": sum(result.is_right for result in each.results.values()),
            "total": len(each.results),
            "entries": [asdict(result) for _, result in sorted(each.results.items())],
        }
        for each in drivers
    }
    return {
        "torch": str(torch.__version__),
        "mindspore": str(mindspore.__version__),
        "setting": SETTING,
        "groups": groups,
    }


def _markdown(drivers: list[Driver]) -> str:
    lines = [
        "# Conformance",
        "",
        "torch's own test data, written as source text, converted by mindferry and run on MindSpore: values, shapes, types and gradients.",
        f"{SETTING} Made by `make conformance`; the same figures for programs are in `conformance.json`.",
        "",
    ]
    for driver in drivers:
        lines += _section(driver)
    return "\n".join(lines) + "\n"


def _section(driver: Driver) -> list[str]:
    wrong = [result for _, result in sorted(driver.results.items()) if not result.is_right]
    right = [name for name, result in sorted(driver.results.items()) if result.is_right]
    lines = [f"## {driver.group.name}", "", f"{summary(driver)}.", ""]
    if wrong:
        lines += ["| not right | samples | first failing sample | reason |", "| --- | --- | --- | --- |"]
        lines += [
            f"| {each.name} | {each.right}/{each.total} | `{_cell(each.source, 90)}` | {_cell(each.reason, 160)} |"
            for each in wrong
        ]
        lines += ["", f"Reasons: {_reasons(wrong)}.", ""]
    runs = Counter(result.run or "an earlier run" for result in driver.results.values())
    lines += [f"Run on: {', '.join(f'{run} ({count})' for run, count in sorted(runs.items(), reverse=True))}.", ""]
    return [*lines, f"Right: {', '.join(right)}.", ""]


def _cell(text: str, limit: int) -> str:
    """Text that fits a table."""
    short = " ".join(text.split()).replace("|", "\\|")
    return short if len(short) <= limit else f"{short[: limit - 1]}…"


def _reasons(wrong: list[Result]) -> str:
    kinds = Counter(_kind(each.reason) for each in wrong)
    return ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())


def _kind(reason: str) -> str:
    for start, kind in (
        ("not converted", "without a counterpart"),
        ("not written", "that source text can't express"),
        ("gradient", "with another gradient"),
        ("output", "with another result"),
        ("crash", "that end the process"),
        ("hang", "that hang"),
    ):
        if reason.startswith(start):
            return kind
    return "that raise an error"
