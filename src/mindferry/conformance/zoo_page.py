"""docs/reference/zoo.md from the zoo's results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..files import write_text

PAGE = Path("docs/reference/zoo.md")


def write_page(build: Path) -> None:
    sections = ["# Model zoos\n\nMade by `make zoo`: every model converted from the installed sources with no hand edit, weights copied across,"
                " eval mode. Forward: largest difference / largest output. Gradient: worst parameter, relative L2.\n"]  # fmt: skip
    everything = {}
    for zoo in ("torchvision", "timm"):
        results = build / f"{zoo}.jsonl"
        if results.is_file():
            rows = list({row["model"]: row for row in map(json.loads, results.read_text().splitlines())}.values())
            files = json.loads((build / f"{zoo}-files.json").read_text())
            everything[zoo] = {"files": files, "models": rows}
            sections.append(_section(zoo, rows, files))
    write_text(PAGE, "\n".join(sections))
    write_text(PAGE.with_suffix(".json"), json.dumps(everything, indent=1) + "\n")


def _section(zoo: str, rows: list[dict[str, Any]], files: list[dict[str, Any]]) -> str:
    same = [row for row in rows if row["verdict"] == "same"]
    compiled = [row for row in same if row.get("jit") is not None and row["jit"] <= 1e-4]
    clean = [file for file in files if not file["findings"]]
    lines = [
        f"## {zoo}\n",
        f"- files of {zoo}/models that convert with no finding: {len(clean)} of {len(files)}",
        f"- models that compute the same, forward and gradients: {len(same)} of {len(rows)}",
        f"- of these, the same under `ms.jit` too: {len(compiled)}\n",
        "| model | forward | gradient | jit | verdict |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in sorted(rows, key=lambda row: row["model"]):
        reason = f": {row['reason']}" if row.get("reason") else ""
        lines.append(
            f"| {row['model']} | {_number(row.get('forward'))} | {_number(row.get('gradient'))} | {_number(row.get('jit'))} | {row['verdict']}{reason} |".replace(
                "\n", " "
            )
        )
    causes: dict[str, int] = {}
    for file in files:
        for finding in {each.split(" has no rule")[0] for each in file["findings"]}:
            causes[finding] = causes.get(finding, 0) + 1
    lines += ["\nFindings, by the number of files they stop:\n", "| finding | files |", "| --- | --- |"]
    lines += [f"| {cause.replace('|', '/')[:140]} | {number} |" for cause, number in sorted(causes.items(), key=lambda item: -item[1])[:60]]
    return "\n".join(lines) + "\n"


def _number(value: float | None) -> str:
    return f"{value:.1e}" if isinstance(value, float) else "–"
