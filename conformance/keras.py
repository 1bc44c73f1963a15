"""`python -m conformance.keras`: Keras' layers, losses, metrics … on both frameworks, then docs/reference/keras.md and .json.

The cases are those of tests/from_keras; names of Keras' that have none are listed with the reason.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mindferry.apis import table
from mindferry.convert.render.helpers_module import library, render
from mindferry.files import write_text

ROOT = Path(__file__).parents[1]
CASES = ROOT / "tests" / "from_keras"
PAGE = ROOT / "docs" / "reference" / "keras.md"
FAMILIES = {  # title -> where Keras has them, and the word for them in value_cases.tsv
    "layers": ("keras.layers", ""),
    "activations": ("keras.activations", "activation"),
    "losses": ("keras.losses", "loss"),
    "metrics": ("keras.metrics", "metric"),
    "optimizers": ("keras.optimizers", "optimizer"),
    "schedules": ("keras.optimizers.schedules", "schedule"),
    "initializers": ("keras.initializers", "initializer"),
}
LISTING = """
import importlib, inspect, json, sys
found = {}
for home in sys.argv[1:]:
    module, names, seen = importlib.import_module(home), [], set()
    for name in sorted(dir(module), key=lambda each: (each.lower() == each, len(each), each)):
        value = getattr(module, name)
        wanted = inspect.isfunction(value) if home.endswith("activations") else inspect.isclass(value)
        if wanted and not name.startswith("_") and name not in ("get", "serialize", "deserialize") and id(value) not in seen:
            seen.add(id(value))
            names.append([name, getattr(value, "__name__", name)])
    found[home] = names
print(json.dumps(found))
"""
ABSTRACT = {"Layer", "Wrapper", "InputSpec", "Loss", "Metric", "Optimizer", "LearningRateSchedule", "Initializer"}


@dataclass(frozen=True, slots=True)
class Row:
    family: str
    name: str
    state: str  # right, wrong, not compared, no counterpart
    cases: int = 0
    worst: float = 0.0  # largest difference, relative to the largest value
    why: str = ""


def environment() -> dict[str, str]:
    return {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "ONEDNN_MAX_CPU_ISA": "AVX2", "CUDA_VISIBLE_DEVICES": ""}


def run(script: str, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What Keras computes for each case, and what the helpers do."""
    found = []
    for which, name in (("keras", "keras.npz"), (str(folder), "mindspore.npz")):
        command = [sys.executable, str(CASES / script), which, str(folder / name)]
        subprocess.run(command, check=True, env=environment(), cwd=folder, stderr=subprocess.DEVNULL)
        with np.load(folder / name) as arrays:
            found.append(dict(arrays))
    return found[0], found[1]


def cases_of(script: str) -> list[tuple[str, str, str]]:
    """(word, name, expression) of each case."""
    rows = [line.split("\t") for line in (CASES / script).read_text().splitlines() if not line.startswith("#")]
    if script == "layer_cases.tsv":
        return [("", _called(row[0]), row[0]) for row in rows]
    return [(row[0], row[1].partition("(")[0], row[1]) for row in rows]


def _called(text: str) -> str:
    """The layer that a case is about: the outermost one of Keras' own."""
    found = ast.parse(text, mode="eval").body
    return found.func.attr if isinstance(found, ast.Call) and isinstance(found.func, ast.Attribute) else text


def apart(wanted: dict[str, Any], found: dict[str, Any], number: int) -> tuple[float, str]:
    """(largest relative difference of a case, what is wrong)."""
    theirs = {name: value for name, value in wanted.items() if name.startswith(f"{number}/")}
    if f"{number}/error" in found or f"{number}/error" in theirs:
        return float("inf"), str(found.get(f"{number}/error", theirs.get(f"{number}/error")))
    worst = 0.0
    for name, value in theirs.items():
        if name not in found or found[name].shape != value.shape:
            return float("inf"), f"{name.partition('/')[2]} has another shape"
        scale = max(float(np.abs(value).max(initial=0.0)), 1e-3)
        worst = max(worst, float(np.abs(found[name] - value).max(initial=0.0)) / scale)
    return worst, ""


def measured() -> dict[tuple[str, str], list[tuple[float, str]]]:
    """(word, name) -> the difference of each of its cases."""
    results: dict[tuple[str, str], list[tuple[float, str]]] = {}
    with tempfile.TemporaryDirectory(prefix="mindferry-keras-") as scratch:
        folder = Path(scratch)
        (folder / "ms_keras.py").write_text(render(set(library("tensorflow")[0]), source="tensorflow"))
        for script, cases in (("run_layers.py", "layer_cases.tsv"), ("run_values.py", "value_cases.tsv")):
            wanted, found = run(script, folder)
            for number, (word, name, _) in enumerate(cases_of(cases)):
                results.setdefault((word, name), []).append(apart(wanted, found, number))
    return results


def listed() -> dict[str, list[list[str]]]:
    homes = [home for home, _ in FAMILIES.values()]
    done = subprocess.run(
        [sys.executable, "-c", LISTING, *homes], capture_output=True, text=True, check=True, env=environment()
    )
    found: dict[str, list[list[str]]] = json.loads(done.stdout.splitlines()[-1])
    return found


def rows() -> list[Row]:
    results, names = measured(), listed()
    rules = {rule.api: rule for rule in table("tensorflow")}
    made = []
    for family, (home, word) in FAMILIES.items():
        for name, own in names[home]:
            if name in ABSTRACT:
                continue
            found = next((results[word, each] for each in (name, own) if (word, each) in results), None)
            rule = next((rules[f"{home}.{each}"] for each in (name, own) if f"{home}.{each}" in rules), None)
            if found is not None:
                limit = 0.02 if family == "initializers" else 1e-3
                wrong = next((why for worst, why in found if why or worst > limit), None)
                state = "right" if wrong is None else "wrong"
                made.append(Row(family, name, state, len(found), max(worst for worst, _ in found), wrong or ""))
            elif rule is None or rule.missing:
                made.append(Row(family, name, "no counterpart", why=rule.missing if rule else "it has no entry"))
            else:
                made.append(Row(family, name, "not compared", why="there is a helper, and no case"))
    return made


def page(found: list[Row]) -> str:
    lines = [
        "# Keras conformance",
        "",
        "Keras' own layers, activations, losses, metrics, optimizers (20 steps), schedules and initializers (by moments) against the",
        "helpers that converted projects use, on TensorFlow and on MindSpore: outputs in both modes, gradients of inputs and weights, and",
        "what a training step leaves behind. float32, CPU. Made by `python -m conformance.keras`; the same for programs is in `keras.json`.",
        "Whatever has no counterpart is a finding of `mindferry convert`.",
        "",
        "| | right | wrong | helper without a case | no counterpart | largest difference |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for family in FAMILIES:
        own = [row for row in found if row.family == family]
        counts = [
            sum(row.state == state for row in own) for state in ("right", "wrong", "not compared", "no counterpart")
        ]
        worst = max((row.worst for row in own if row.state == "right" and family != "initializers"), default=0.0)
        said = f"{worst:.1e}" if family != "initializers" else "2 % of a moment"
        lines.append(f"| {family} | {counts[0]} of {len(own)} | {counts[1]} | {counts[2]} | {counts[3]} | {said} |")
    for family in FAMILIES:
        own = [row for row in found if row.family == family]
        lines += ["", f"## {family}", ""]
        for state in ("right", "wrong", "not compared", "no counterpart"):
            names = [
                f"`{row.name}`" + (f" ({row.why})" if state == "wrong" else "") for row in own if row.state == state
            ]
            if names:
                lines.append(f"- {state}: {', '.join(names)}")
    return "\n".join(lines) + "\n"


def main() -> None:
    found = rows()
    write_text(PAGE, page(found))
    write_text(PAGE.with_suffix(".json"), json.dumps([asdict(row) for row in found], indent=1) + "\n")
    print("\n".join(page(found).splitlines()[8:17]))


if __name__ == "__main__":
    main()
