"""docs/reference/zoo.md and zoo.json from the zoo's results."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from mindferry.files import write_text

from .zoo_models import DETECTION, NOT_MEASURED, SEGMENTATION, VIDEO

PAGE = Path("docs/reference/zoo.md")
Row = dict[str, Any]
METRIC = 4  # of the gradient's difference; rows of earlier ones are counted apart
ROUNDING = 0.1  # a parameter that is allowed more than this has a gradient of rounding alone
UNMEASURED: Row = {"verdict": "not measured", "reason": "not measured yet: `make zoo` goes on where it stopped"}
INTRODUCTION = """\
# Model zoos

Made by `make zoo`; don't edit. The installed sources of torchvision and timm are converted whole, with no hand edit; each model is
built in both frameworks on a CPU, torch's weights are copied across, and both get the same random image, in eval mode.

- forward: largest difference / largest output; at most 1e-4.
- gradient: of a random combination of the outputs by every parameter, norms in eval mode. A parameter's L2 difference by its gradient's
  norm is at most 1e-3. Where one is above that, the same model runs in float64 in torch: each parameter may then be as far from the
  float64 gradient as 1e-3 of its norm or three times what torch's own float32 gradient of that parameter is, whichever is larger. The
  table shows the parameter that comes closest to its limit, or is furthest beyond it.
- A parameter whose gradient is zero (a bias before a softmax or a norm) has only rounding: relative to float64's 1e-17, torch's own error
  is 1e8. It is held to three times that rounding; the model's other parameters to their own limits.
- One image decides. Where gradients differ with it, the cause is looked for: a ReLU or max-pool whose input rounds to the other side of
  its kink makes the gradient jump. torch's own float32 gradient is taken with twelve images that are a millionth away; where MindSpore's is
  within three times the furthest of these, the table of causes says so ("a kink"). Two other images are tried as well. The verdict stays.
- Detectors: an untrained one scores all boxes alike, so that rounding decides which are kept. Each layer's weight is scaled so that its
  output deviates by 1. Where two boxes score alike even so, nms may keep the other one: torch's own output with the same twelve images
  tells. torchvision's compiled operators don't load beside a CPU-only torch: nms is written in Python, and its stand-in for roi_align
  takes zeros beyond the map, as the compiled one does.
- torch 2.13's own gradient of a batch norm in eval mode is wrong on a CPU where it comes in permuted (`bn(x).flatten(2).transpose(1, 2)`:
  finite differences agree with MindSpore, not with torch). The reference makes such gradients contiguous first.
- A worker may take 14 GB of memory. mvit takes 16 frames of 224 pixels and nothing else.
- jit: the forward pass under `ms.jit`; at most 1e-4. "–": not tried, or it failed for the cause given below. No detector compiles, and
  all fail alike ("Concat … got 0"): they hand their images on in an object of a plain class, `ImageList`, and the loop over feature maps
  that follows comes out empty. Looked into with SSD: its transform compiles, its head behind an `ImageList` doesn't; RetinaNet's head
  compiles alone.
"""


def write_page(build: Path) -> None:
    sections, everything = [INTRODUCTION], {}
    for zoo, section in (("torchvision", _torchvision), ("timm", _timm)):
        results, converted = build / f"{zoo}.jsonl", build / f"{zoo}-files.json"
        if results.is_file() and converted.is_file():
            listed = build / f"{zoo}-models.json"
            known = {
                row["model"]: {**UNMEASURED, **row}
                for row in (json.loads(listed.read_text()) if listed.is_file() else [])
            }
            rows = sorted(
                (known | {row["model"]: row for row in map(json.loads, results.read_text().splitlines())}).values(),
                key=_order,
            )
            files = json.loads(converted.read_text())
            everything[zoo] = {"files": files, "models": rows}
            sections.append("\n".join(section(rows, files)) + "\n")
    write_text(PAGE, "\n".join(sections))
    write_text(PAGE.with_suffix(".json"), json.dumps(everything, indent=1) + "\n")


def _order(row: Row) -> tuple[str, str]:
    return row.get("file", ""), row["model"]


def _torchvision(rows: list[Row], files: list[Row]) -> list[str]:
    detection = [row for row in rows if row["model"].startswith(DETECTION)]
    segmentation = [row for row in rows if row["model"].startswith(SEGMENTATION)]
    video = [row for row in rows if row["model"].startswith(VIDEO)]
    images = [row for row in rows if row not in (*detection, *segmentation, *video)]
    lines = [
        "## torchvision\n",
        "The package's `__init__.py` (image readers, data sets), its loader of compiled operators and its ONNX"
        " registration are left out when models are built: they serve torch alone, and no model calls them.\n",
        *_of_files(files),
    ]
    for title, group in (
        ("image classification", images),
        ("segmentation", segmentation),
        ("video", video),
        ("detection", detection),
    ):
        alike = (
            f"; {sum(row.get('forward', 1.0) <= 1e-4 for row in group)} the same in the forward pass"
            if group is detection
            else ""
        )
        lines.append(f"- {title}: {_counts(group)}{alike}")
    lines.append(
        f"- not measured: {', '.join(f'`{each}*`' for each in NOT_MEASURED)} (eager quantization is torch's own; RAFT takes two images)\n"
    )
    return [*lines, *_table(rows), *_reservations(rows), *_stopped(rows), *_findings(files)]


def _timm(rows: list[Row], files: list[Row]) -> list[str]:
    same = {row["file"] for row in rows if row["verdict"] == "same"}
    all_files = {row["file"] for row in rows}
    lines = [
        "## timm\n",
        "The smallest model of each file that registers models.\n",
        *_of_files(files),
        f"- files whose smallest model computes the same: {len(same)} of {len(all_files)} that register models"
        f" ({len(same) / max(len(all_files), 1):.0%}; {len(same) / max(len(files), 1):.0%} of all {len(files)})",
        f"- {_counts(rows)}\n",
    ]
    return [*lines, *_table(rows), *_reservations(rows), *_stopped(rows), *_findings(files)]


def _of_files(files: list[Row]) -> list[str]:
    clean = [file for file in files if not file["findings"]]
    silent = [file for file in clean if not file.get("warnings")]
    compiled = [file for file in files if file.get("compiles")]
    return [
        f"- files in models/: {len(files)}; with no error finding {len(clean)} ({len(clean) / max(len(files), 1):.0%}),"
        f" with neither error nor warning {len(silent)} ({len(silent) / max(len(files), 1):.0%})",
        f"- converted files that compile: {len(compiled)} of {len(files)}",
    ]


def _counts(rows: list[Row]) -> str:
    same = [row for row in rows if row["verdict"] == "same"]
    tried = [row for row in rows if row.get("jit_tried")]
    compiled = [row for row in tried if row.get("jit") is not None and row["jit"] <= 1e-4]
    under = f"; under jit {len(compiled)} of {len(tried)} tried" if tried else "; jit not tried"
    done = [row for row in rows if row.get("reason") != UNMEASURED["reason"]]
    kinks = sum(is_at_kink(row) for row in rows)
    besides = f" ({kinks} more but for a kink)" if kinks else ""
    return (
        f"{len(same)} of {len(done)} models measured are the same, forward and gradients{besides}{under};"
        f" {len(rows) - len(done)} not measured yet"
    )


def _reservations(rows: list[Row]) -> Iterable[str]:
    """Passes that say less than they seem to."""
    same = [row for row in rows if row["verdict"] == "same"]
    groups = {
        "held to three times torch's own rounding in a parameter whose gradient is zero": [
            f"{row['model']} ({row['worst']})" for row in same if is_of_rounding(row)
        ],
        "measured with an earlier definition of the gradient's difference, or an earlier conversion; `--again` measures anew": [
            f"{sum(row.get('metric') != METRIC for row in same)} of {len(same)} models"
        ],
    }
    yield "\nPasses to read with care:\n"
    yield from (f"- {title}: {', '.join(found)}" for title, found in groups.items() if found)


def _table(rows: list[Row]) -> Iterable[str]:
    yield "| file | model | input | forward | gradient | jit | verdict |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for row in rows:
        size = "×".join(map(str, row.get("input", [])))
        numbers = " | ".join(_number(row.get(key)) for key in ("forward", "gradient", "jit"))
        yield f"| {row.get('file', '')} | {row['model']} | {size} | {numbers} | {row['verdict']} |"


def _number(value: float | None) -> str:
    return f"{value:.1e}" if isinstance(value, float) else "–"


def _stopped(rows: list[Row]) -> Iterable[str]:
    """What stops the others, by cause."""
    yield from _causes("What stops the others, by cause:", [row for row in rows if row["verdict"] != "same"], cause)
    failed = [
        row
        for row in rows
        if row.get("jit_tried") and row["verdict"] == "same" and (row["jit"] is None or row["jit"] > 1e-4)
    ]
    yield from _causes(
        "Under jit:", failed, lambda row: plain(row.get("jit_reason", "") or f"differs by {row['jit']:.1e}")
    )


def _causes(title: str, rows: list[Row], name: Callable[[Row], str]) -> Iterable[str]:
    groups: dict[str, list[str]] = {}
    for row in rows:
        groups.setdefault(name(row), []).append(row["model"])
    if groups:
        yield f"\n{title}\n\n| cause | models |\n| --- | --- |"
        for each, models in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
            yield f"| {each} | {len(models)}: {', '.join(models)} |"


def cause(row: Row) -> str:
    if row["verdict"] == "differs" and not row["forward"] <= 1e-4:
        if row["forward"] <= 3 * row.get("nudged_forward", 0.0):
            return "the forward pass: torch's own goes as far when the image changes by a millionth of itself (boxes that score alike)"
        return "the forward pass differs"
    if row["verdict"] == "differs" and "float64_reason" in row:
        return f"gradients differ, and torch's own rounding is not known: the float64 run failed ({plain(row['float64_reason'])})"
    if is_of_rounding(row):
        return "gradients: a parameter's is zero, and MindSpore's rounding of it more than three times torch's"
    if is_at_kink(row):
        return "gradients: torch's own go as far when the image changes by a millionth of itself (a kink)"
    if row["verdict"] == "differs" and "same" in row.get("others", []):
        return "gradients differ with the first image, not with another"
    return "gradients differ with every image" if row["verdict"] == "differs" else plain(row.get("reason", ""))


def is_at_kink(row: Row) -> bool:
    is_only_gradient = row["verdict"] == "differs" and row["forward"] <= 1e-4 and not is_of_rounding(row)
    return is_only_gradient and bool(row["gradient"] <= 3 * row.get("nudged", 0.0))


def is_of_rounding(row: Row) -> bool:
    return bool(row.get("allowed", 0.0) > ROUNDING)


def plain(reason: str) -> str:
    """One line without MindSpore's call stacks, safe in a table."""
    text = re.split(r"-{8,}|\(For framework developers\)", reason)[0]
    return " ".join(text.replace("|", "/").replace("<", "&lt;").split())[:200]


def _findings(files: list[Row]) -> Iterable[str]:
    counts: dict[str, int] = {}
    for file in files:
        for finding in {each.split(" has no rule")[0] for each in file["findings"]}:
            counts[finding] = counts.get(finding, 0) + 1
    yield "\nError findings, by the number of files that they are in:\n\n| finding | files |\n| --- | --- |"
    for finding, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"| {plain(finding)} | {number} |"
