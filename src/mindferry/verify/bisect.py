"""Into a failing module: the setting, the line or the parameter that is wrong, and a script that shows it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..artifacts import STATE, Difference
from ..files import complete_or_absent, write_text
from ..frameworks import mindspore as mindspore_side
from ..frameworks import torch as torch_side
from ..frameworks.process import Worker
from ..frameworks.requests import CellRequest, TraceRequest
from .blame import NETWORK, caller
from .golden import CallRecord, Golden
from .gradient_line import gradient_lines, use_lines
from .judge import Verdict
from .settings import Verification
from .trace import first_difference, load

# torch's name of a setting -> MindSpore's.
ALIASES = {"eps": ("epsilon",), "groups": ("group",), "negative_slope": ("alpha",), "normalized_shape": ("shape",)}


@dataclass(frozen=True, slots=True)
class Culprit:
    """What `--bisect` found, in sentences, and the script that reproduces it ("" if none could be made)."""

    lines: tuple[str, ...] = ()
    script: str = ""


def bisect(
    settings: Verification,
    golden: Golden,
    verdict: Verdict,
    torch: Worker | None,
    mindspore: Worker,
    classes: Mapping[str, str],
) -> Culprit:
    """Look into the first culprit."""
    if not verdict.culprits:
        return Culprit(tuple(_of_suspect(verdict.first_divergence, golden, mindspore)))
    name = verdict.culprits[0]
    row = _row(name, verdict, golden)
    path = "" if name == NETWORK else name
    if row.kind in ("parameter", "buffer", "update"):
        path = name.rpartition(".")[0]
    recorded = golden.modes.get(row.mode) or next(iter(golden.modes.values()))
    call = next((c for c in recorded.calls if c.path == path), None)
    kind = _kinds(call.kind, classes.get(path, "")) if call is not None else ""
    lines = [f"Culprit: {name}{kind}, {_what(row)}."]
    found = mindspore.ask(mindspore_side.settings_of, CellRequest(path))
    lines += _settings(golden.attributes.get(path, {}), found)
    if row.kind in ("output", "input") and torch is not None:
        line = _line(path, row, golden, torch, mindspore, settings) or _call_line(path, row, torch, mindspore, settings)
        lines += [line] if line else []
    elif row.kind in ("gradient", "input gradient", "parameter") and torch is not None:
        lines += _gradient_line(path, row, torch, mindspore, settings)
    script = _script(settings, golden, call, row, mindspore) if call is not None else ""
    return Culprit(tuple(lines), script)


def _of_suspect(name: str, golden: Golden, mindspore: Worker) -> list[str]:
    """Where every module is within what is allowed, and together they are not."""
    lines = ["No module is wrong by itself; the error grows from one to the next."]
    if name not in golden.attributes:
        return lines
    found = mindspore.ask(mindspore_side.settings_of, CellRequest(name))
    return [*lines, *(f"{name}: {line}" for line in _settings(golden.attributes[name], found))]


def _kinds(theirs: str, ours: str) -> str:
    return f" ({theirs})" if ours in ("", theirs) else f" ({theirs} in torch, {ours} in MindSpore)"


def _row(name: str, verdict: Verdict, golden: Golden) -> Difference:
    """The measurement that made `name` a culprit."""
    failing = [d for d in verdict.differences if d.own_error > d.own_tolerance]
    for row in failing:
        blamed = caller(row, golden) if row.kind in ("input", "gradient") else row.name or NETWORK
        if blamed == name:
            return row
    return failing[0]


def _what(row: Difference) -> str:
    name = row.name or NETWORK
    said = {
        "output": "its output is wrong on the right input",
        "input": f"it calls {name} with other values",
        "gradient": f"the gradient does not come back to {name} as it should",
        "input gradient": "its gradient is wrong, its output right",
        "parameter": "its gradient is wrong",
        "buffer": "it is wrong after one training step",
        "update": "the optimizer changes it otherwise",
    }
    error = f" (error {row.own_error:.1e}, allowed {row.own_tolerance:.1e})" if math.isfinite(row.own_error) else ""
    return f"{row.mode}: {said.get(row.kind, row.kind)}{error}{f': {row.note}' if row.note else ''}"


def _settings(reference: dict[str, Any], converted: dict[str, Any]) -> list[str]:
    """Settings of the same name that differ."""
    lines = []
    for name, value in reference.items():
        for other in (name, *ALIASES.get(name, ())):
            if other not in converted:
                continue
            if _plain(value) != _plain(converted[other]):
                counted = " (as torch counts it)" if name == "momentum" else ""
                lines.append(f"Its {name} is {value!r} in torch and {converted[other]!r} in MindSpore{counted}.")
    return lines


def _plain(value: Any) -> Any:
    """(3, 3) and 3 are the same kernel size."""
    if isinstance(value, list | tuple):
        return _plain(value[0]) if value and all(item == value[0] for item in value) else tuple(value)
    return round(value, 12) if isinstance(value, float) else value


def _gradient_line(path: str, row: Difference, torch: Worker, mindspore: Worker, settings: Verification) -> list[str]:
    """Where the gradient is cut, or where what has the wrong gradient is used: in the module, or in one of those around it."""
    pieces = path.split(".") if path else []
    for count in range(len(pieces), -1, -1):
        above, rest = ".".join(pieces[:count]), pieces[count:]
        names = [*rest[:1], *([row.name.rpartition(".")[2]] if row.kind == "parameter" and not rest else [])]
        ours = mindspore.ask(mindspore_side.source, CellRequest(above))
        if not ours.file or not Path(ours.file).is_relative_to(settings.converted):
            continue  # a layer of the framework: its caller is to be looked at
        theirs = torch.ask(torch_side.source, CellRequest(above))
        found = gradient_lines(theirs, ours, names)
        if found:
            return [found]
    return []


def _call_line(path: str, row: Difference, torch: Worker, mindspore: Worker, settings: Verification) -> str:
    """Where the module calls the child that gets other values."""
    ours = mindspore.ask(mindspore_side.source, CellRequest(path))
    if row.kind != "input" or not ours.file or not Path(ours.file).is_relative_to(settings.converted):
        return ""
    name = row.name.removeprefix(f"{path}." if path else "").partition(".")[0]
    return use_lines(torch.ask(torch_side.source, CellRequest(path)), ours, name)


def _line(path: str, row: Difference, golden: Golden, torch: Worker, mindspore: Worker, settings: Verification) -> str:
    """The first line of the module that gives a variable another value."""
    calls = [c for c in golden.modes[row.mode].calls if c.path == path]
    number = calls[0].call if calls else 0
    request = TraceRequest(path, number, row.mode, str(golden.path), settings.inputs, settings.seed)
    begun = torch.start(torch_side.trace, request), mindspore.start(mindspore_side.trace, request)
    there, here = (load(pending.result()) for pending in begun)
    found = first_difference(there, here, 10 * settings.rule.floor)
    if found is None or not Path(found[1].file).is_relative_to(settings.converted):
        return ""  # inside a layer of the framework there is no line to mend
    right, wrong, error = found
    what = "returns something else" if wrong.variable == "return" else f"gives another `{wrong.variable}`"
    return (
        f"{wrong.file}:{wrong.line} {what} (error {error:.1e}):\n    {wrong.text}\n"
        f"{right.file}:{right.line} in torch:\n    {right.text}"
    )


def _script(settings: Verification, golden: Golden, call: CallRecord, row: Difference, mindspore: Worker) -> str:
    """A few lines that run the culprit alone on the reference's values."""
    import numpy as np

    if row.kind not in ("output", "input") or not call.inputs:
        return ""
    state = settings.converted / STATE
    arrays = {f"input{index}": golden.array(key) for index, (key, _) in enumerate(call.inputs)}
    arrays["expected"] = golden.array(call.outputs[0])
    arrays |= mindspore_weights(mindspore, call.path)
    with complete_or_absent(state / "reproduce.npz") as partial, partial.open("wb") as file:
        np.savez(file, **arrays)
    module, _, factory = settings.converted_model.partition(":")
    inputs = ", ".join(f'ms.Tensor(data["input{index}"])' for index in range(len(call.inputs)))
    made = factory if "(" in factory else f"{factory}()"
    lines = [
        "import sys",
        "import numpy as np, mindspore as ms",
        f"sys.path.insert(0, {str(settings.converted)!r})",
        f"from {module} import {factory.partition('(')[0]}",
        f"data = np.load({str(state / 'reproduce.npz')!r})",
        f"cell = dict({made}.cells_and_names())[{call.path!r}].set_train({row.mode == 'train'})",
        "for name, parameter in cell.parameters_and_names():",
        '    parameter.set_data(ms.Tensor(data["weight." + name]))',
        f"output = cell({inputs})",
        "output = next(iter(output.values())) if isinstance(output, dict) else output",
        "output = output[0] if isinstance(output, tuple | list) else output",
        'print("largest error", abs(output.asnumpy() - data["expected"]).max())',
    ]
    write_text(state / "reproduce.py", "\n".join(lines) + "\n")
    return "\n".join(lines)


def mindspore_weights(worker: Worker, path: str) -> dict[str, Any]:
    import numpy as np

    found = worker.ask(mindspore_side.weights_of, CellRequest(path))
    with np.load(found.path) as file:
        return {f"weight.{name}": file[name] for name in file}
