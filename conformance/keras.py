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
INTRODUCTION = """# Keras conformance

Keras' own layers, activations, losses, metrics, optimizers (20 steps), schedules and initializers (by moments) against the
helpers that converted projects use, on TensorFlow and on MindSpore: outputs in both modes, gradients of inputs and weights, and
what a training step leaves behind. float32, CPU. Made by `python -m conformance.keras` (with `--jit`, it also says what ms.jit makes
of the layers); the same for programs is in `keras.json`. Whatever has no counterpart is a finding of `mindferry convert`.

Where a layer draws random numbers (dropout, noise, augmentation), both sides draw them from one numpy generator, in one order, so
outputs of training are compared value by value. Seeds give other numbers than in Keras: only the distributions are the same.
Gradients by images are not compared for layers that move pixels or look brightness up: TensorFlow's own are no derivatives there
(it warps the gradient back), or there are none. Augmenting layers do not move `bounding_boxes`; they say so when they are given
some. Layers of words and hashes compute with numpy before the network, with the same vocabularies and the same hashes.
"""
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
NOT_COUNTED = {
    "JaxLayer": "it calls a function of JAX",
    "FlaxLayer": "it holds a network of Flax",
    "TFSMLayer": "it loads a SavedModel's graph of TensorFlow's operations",
    "TorchModuleWrapper": "it holds a network of PyTorch, which has a table of its own",
    "Pipeline": "it computes nothing: it is a list of layers for a data set's map function",
}
STATES = ("right", "wrong", "not compared", "no counterpart", "not counted")


@dataclass(frozen=True, slots=True)
class Row:
    family: str
    name: str
    state: str  # one of STATES
    cases: int = 0
    worst: float = 0.0  # largest difference, relative to the largest value
    why: str = ""
    jit: str = ""  # what ms.jit makes of a layer in inference: right, or what it says


def environment() -> dict[str, str]:
    return {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "ONEDNN_MAX_CPU_ISA": "AVX2", "CUDA_VISIBLE_DEVICES": ""}


def start(script: str, folder: Path) -> list[subprocess.Popen[bytes]]:
    """Keras computes each case in one process, the helpers in another; with --jit, these under ms.jit as well."""
    started = []
    for which, out in (("keras", "keras"), (str(folder), "mindspore")):
        command = [sys.executable, str(CASES / script), which, f"{folder / script}.{out}.npz", *sys.argv[1:]]
        started.append(subprocess.Popen(command, env=environment(), cwd=folder, stderr=subprocess.DEVNULL))
    return started


def results_of(script: str, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What Keras has computed for each case, and what the helpers have."""
    found = []
    for out in ("keras", "mindspore"):
        with np.load(f"{folder / script}.{out}.npz", allow_pickle=True) as arrays:  # words are objects
            found.append(dict(arrays))
    return found[0], found[1]


def cases_of(script: str) -> list[tuple[str, str, str]]:
    """(word, name, expression) of each case."""
    rows = [line.split("\t") for line in (CASES / script).read_text().splitlines() if not line.startswith("#")]
    if script == "layer_cases.tsv":
        return [("", _called(row[0]), row[0]) for row in rows]
    return [(row[0], _called(row[1]), row[1]) for row in rows]


def _called(text: str) -> str:
    """What a case is about: the outermost of Keras' own that it names, behind what adapts it."""
    nodes = list(ast.walk(ast.parse(text, mode="eval")))
    layers = [each.attr for each in nodes if isinstance(each, ast.Attribute) and ast.unparse(each.value) == "layers"]
    calls = [each.func.id for each in nodes if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)]
    return next(iter([*layers, *calls]), text)


def apart(wanted: dict[str, Any], found: dict[str, Any], number: int) -> tuple[float, str]:
    """(largest difference of a case, relative to the largest value or gradient; what is wrong)."""
    theirs = {name: value for name, value in wanted.items() if name.startswith(f"{number}/")}
    if not theirs:
        return float("inf"), "Keras gave nothing to compare with"
    if f"{number}/error" in found or f"{number}/error" in theirs:
        return float("inf"), str(found.get(f"{number}/error", theirs.get(f"{number}/error")))
    worst = 0.0
    for name, value in theirs.items():
        if name not in found or found[name].shape != value.shape:
            return float("inf"), f"{name.partition('/')[2]} has another shape"
        kind = name.rstrip("0123456789")
        largest = max(_largest(each) for other, each in theirs.items() if other.rstrip("0123456789") == kind)
        worst = max(worst, difference(found[name], value) / max(largest, 1e-3))
    return worst, ""


def _largest(value: Any) -> float:
    return float(np.abs(value).max(initial=0.0)) if value.dtype.kind in "iuf" else 1.0


def difference(found: Any, value: Any) -> float:
    """The largest; between words, whether there is one."""
    if value.dtype.kind in "iufb":
        return float(np.abs(found.astype(np.float64) - value.astype(np.float64)).max(initial=0.0))
    words = [each.decode() if isinstance(each, bytes) else str(each) for each in value.ravel()]
    return float(words != [str(each) for each in found.ravel()])


def compiled(wanted: dict[str, Any], found: dict[str, Any], number: int) -> str:
    """What ms.jit makes of a case: right, wrong, what it says, or nothing where it was not asked."""
    if f"{number}/jit_error" in found:
        return str(found[f"{number}/jit_error"]).splitlines()[0][:120]
    made = {name: value for name, value in found.items() if name.startswith(f"{number}/jit")}
    pairs = [(value, wanted[name.replace("/jit", "/eval")]) for name, value in made.items()]
    near = all(difference(mine, theirs) <= 1e-3 * max(_largest(theirs), 1e-3) for mine, theirs in pairs)
    return ("right" if near else "wrong") if pairs else ""


def measured() -> dict[tuple[str, str], list[tuple[float, str, str]]]:
    """(word, name) -> of each of its cases: the difference, what is wrong, what ms.jit makes of it."""
    results: dict[tuple[str, str], list[tuple[float, str, str]]] = {}
    with tempfile.TemporaryDirectory(prefix="mindferry-keras-") as scratch:
        folder = Path(scratch)
        (folder / "ms_keras.py").write_text(render(set(library("tensorflow")[0]), source="tensorflow"))
        pairs = (("run_layers.py", "layer_cases.tsv"), ("run_values.py", "value_cases.tsv"))
        codes = [each.wait() for each in [each for script, _ in pairs for each in start(script, folder)]]
        if any(codes):
            raise SystemExit("a process failed: run tests/from_keras/run_layers.py and run_values.py to see why")
        for script, cases in pairs:
            wanted, found = results_of(script, folder)
            for number, (word, name, _) in enumerate(cases_of(cases)):
                of_case = (*apart(wanted, found, number), compiled(wanted, found, number))
                results.setdefault((word, name), []).append(of_case)
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
            if family == "layers" and name in NOT_COUNTED:
                made.append(Row(family, name, "not counted", why=NOT_COUNTED[name]))
                continue
            rule = next((rules[f"{home}.{each}"] for each in (name, own) if f"{home}.{each}" in rules), None)
            if found is not None:
                limit = 0.02 if family == "initializers" else 1e-3
                wrong = next((why or "it differs" for worst, why, _ in found if why or worst > limit), "")
                states = {jit for _, _, jit in found if jit}
                jit = next(iter(sorted(states - {"right"})), "right" if states else "")
                worst = max(worst for worst, _, _ in found)
                made.append(Row(family, name, "wrong" if wrong else "right", len(found), worst, wrong, jit))
            elif rule is None or rule.missing:
                made.append(Row(family, name, "no counterpart", why=rule.missing if rule else "it has no entry"))
            else:
                made.append(Row(family, name, "not compared", why="there is a helper, and no case"))
    return made


def page(found: list[Row]) -> str:
    lines = [*INTRODUCTION.splitlines(), ""]
    lines += ["| | right | wrong | helper without a case | no counterpart | largest difference |"]
    lines += ["| --- | --- | --- | --- | --- | --- |"]
    for family in FAMILIES:
        own = [row for row in found if row.family == family and row.state != "not counted"]
        counts = [sum(row.state == state for row in own) for state in STATES]
        worst = max((row.worst for row in own if row.state == "right" and family != "initializers"), default=0.0)
        said = f"{worst:.1e}" if family != "initializers" else "2 % of a moment"
        lines.append(f"| {family} | {counts[0]} of {len(own)} | {counts[1]} | {counts[2]} | {counts[3]} | {said} |")
    for family in FAMILIES:
        own = [row for row in found if row.family == family]
        lines += ["", f"## {family}", ""]
        for state in STATES:
            names = [
                f"`{row.name}`" + (f" ({row.why})" if state in ("wrong", "not counted") else "")
                for row in own
                if row.state == state
            ]
            if names:
                lines.append(f"- {state}: {', '.join(names)}")
        if any(row.jit for row in own):
            lines += ["", *jit_lines(own)]
    return "\n".join(lines) + "\n"


def jit_lines(own: list[Row]) -> list[str]:
    asked = [row for row in own if row.jit]
    right = sum(row.jit == "right" for row in asked)
    rest = ", ".join(f"`{row.name}`" for row in asked if row.jit != "right")
    lines = [f"Under ms.jit, in inference: {right} of {len(asked)} give the same."]
    return (
        [*lines, "", f"Not under ms.jit (they look values up with numpy, or ms.jit refuses them): {rest}"]
        if rest
        else lines
    )


def main() -> None:
    found = rows()
    write_text(PAGE, page(found))
    write_text(PAGE.with_suffix(".json"), json.dumps([asdict(row) for row in found], indent=1) + "\n")
    print("\n".join(line for line in page(found).splitlines() if line.startswith("|")))


if __name__ == "__main__":
    main()
