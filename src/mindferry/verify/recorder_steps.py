"""What is recorded besides plain runs: a second call, the optimizer's updates, training steps, mixed precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from .capture import is_tensor
from .dropout import without_dropout
from .given import as_type, rolled
from .goldenfile import RecordError
from .lifted import cast
from .named import one_line
from .nested_inputs import call
from .nesting import leaves
from .other_sizes import sizes
from .seeding import seeded
from .state import LIGHT, same_state
from .update import run_steps, train_steps, turns_for
from .written import kept_numbers, write_inputs

if TYPE_CHECKING:
    from .recorder import Recorder

Tensor = Any  # torch.Tensor
LATER = 12  # steps after the second


def record_second_call(recorder: Recorder, mode: str, facts: dict[str, Any]) -> None:
    """What the network returns on other inputs after a call: it may keep a state, or a cache of the first."""
    import torch

    positional, named, _ = recorder.given(torch.float32, False)
    moved = [rolled(value) for value in positional], {name: rolled(value) for name, value in named.items()}
    try:
        with torch.no_grad(), seeded(recorder.seed), recorder.reach:
            again = leaves(call(recorder.model, *moved), is_tensor, objects=True)
    except Exception:  # whatever the user's code makes of inputs that were shifted
        return
    facts["second"] = len(again)
    facts["numbers"] = kept_numbers(recorder.model, facts["kept"])
    for index, tensor in enumerate(again):
        recorder.writer.write(f"{mode}/second.{index}", tensor)
    facts["again"] = _on_other_sizes(recorder, mode)


def _on_other_sizes(recorder: Recorder, mode: str) -> list[list[Any]]:
    """The same on other sizes, where the network takes them: (description, inputs, keys) of each. An attribute may keep the first call's."""
    import torch

    found: list[list[Any]] = []
    for said, inputs in sizes(recorder.inputs):
        given = [(name, as_type(value, torch.float32)) for name, value in inputs]
        positional = [value.clone() if is_tensor(value) else value for name, value in given if not name]
        named = {name: value.clone() if is_tensor(value) else value for name, value in given if name}
        try:
            with torch.no_grad(), same_state(recorder.model), seeded(recorder.seed):
                outputs = leaves(call(recorder.model, positional, named), is_tensor, objects=True)
        except Exception:  # whatever the user's code raises on a size that it was not made for
            continue
        keys = [f"{mode}/again.{len(found)}.{index}" for index in range(len(outputs))]
        for key, tensor in zip(keys, outputs, strict=True):
            recorder.writer.write(key, tensor)
        found.append([said, write_inputs(f"{mode}/again.{len(found)}.given", given, recorder.writer), keys])
    return found


def record_second_step(recorder: Recorder, mode: str, facts: dict[str, Any]) -> None:
    """In train mode, if a step changes a state of the network's own: what the next step makes of it."""
    import torch

    if not facts["moved"] or facts["masks"] or facts["draws"] or facts["random"]:
        return
    positional, named, _ = recorder.given(torch.float32, False)
    with same_state(recorder.model):
        with torch.no_grad(), seeded(recorder.seed):
            call(recorder.model, positional, named)
        record_second_call(recorder, mode, facts)
        if facts["second"]:
            _record_later(recorder, mode, facts)


def _record_later(recorder: Recorder, mode: str, facts: dict[str, Any]) -> None:
    """Of a light network, its own buffers after more steps: a place that runs over, a count that reaches a limit."""
    import torch

    names = {name for name, _ in recorder.model.named_buffers()} & set(facts["moved"])
    if not names or sum(parameter.numel() for parameter in recorder.model.parameters()) > LIGHT:
        return
    with torch.no_grad(), seeded(recorder.seed):
        for _ in range(LATER):
            positional, named, _ = recorder.given(torch.float32, False)
            call(recorder.model, positional, named)
    facts["later"] = {name: f"{mode}/later/{name}" for name in sorted(names)}
    facts["later_steps"] = LATER
    buffers = dict(recorder.model.named_buffers())
    for name, key in facts["later"].items():
        recorder.writer.write(key, buffers[name])


def record_updates(recorder: Recorder, make: Callable[[Any], Any]) -> dict[str, Any]:
    """What the optimizer does to each parameter: torch name -> key, in a few steps and in more."""
    import torch

    recorder.note("the optimizer's steps")
    names: list[str] = []
    turns = turns_for([parameter.numel() for parameter in recorder.model.parameters()])
    for which, dtype in (("write", torch.float64), ("own", torch.float32)):
        with cast(recorder.model, dtype):
            names = run_steps(recorder.model, make, partial(_keep_update, recorder, which), turns)
    later = {name: f"step/later/{name}" for name in names}
    later = {name: key for name, key in later.items() if key in recorder.writer.entries}
    return {"step": {name: f"step/{name}" for name in names}, "later_step": later, "later_turns": turns}


def _keep_update(recorder: Recorder, which: str, name: str, update: Tensor) -> None:
    if name.startswith("later/") and not update.isfinite().all():
        return  # large gradients, that nobody asked for
    recorder.keep(which, f"step/{name}", update)


def record_training(recorder: Recorder, make: Callable[[Any], Any], steps: int) -> list[str]:
    """The loss of a few training steps on the same input: keys."""
    import torch

    for which, dtype in (("write", torch.float64), ("own", torch.float32)):
        recorder.note(f"{steps} training steps")
        positional, named, _ = recorder.given(dtype, False)
        targets = [as_type(value, dtype) for _, value in recorder.targets]
        forward = partial(_loss, recorder, positional, named, targets)
        with same_state(recorder.model), cast(recorder.model, dtype), without_dropout(recorder.model):
            losses = train_steps(recorder.model, make, forward, steps)
        for number, value in enumerate(losses):
            recorder.keep(which, f"steps/loss.{number}", value)
    return [f"steps/loss.{number}" for number in range(steps)]


def _loss(recorder: Recorder, positional: list[Any], named: dict[str, Any], targets: list[Any]) -> Tensor:
    assert recorder.loss is not None
    return recorder.loss(call(recorder.model, positional, named), *targets)


def record_mixed(recorder: Recorder, device: str) -> dict[str, Any]:
    """The outputs in eval mode, and how far float16 where autocast wants it is from them."""
    import torch

    recorder.note("the run in mixed precision")
    model = recorder.model.eval()
    keys = []
    with torch.no_grad(), without_dropout(model):
        with same_state(model), cast(model, torch.float64):
            positional, named, _ = recorder.given(torch.float64, False)
            right = leaves(call(model, positional, named), is_tensor, objects=True)
        positional, named, _ = recorder.given(torch.float32, False)
        try:
            with same_state(model), torch.autocast(device.partition(":")[0], dtype=torch.float16):
                found = leaves(call(model, positional, named), is_tensor, objects=True)
        except (RuntimeError, NotImplementedError) as error:
            raise RecordError(
                f"torch does not run the model in float16 on {device} ({one_line(error)}); leave amp out of the modes"
            ) from None
    for index, (one, other) in enumerate(zip(right, found, strict=True)):
        keys.append(f"amp/output.{index}")
        recorder.keep("write", keys[-1], one)
        recorder.keep("own", keys[-1], other.float() if other.is_floating_point() else other)
    facts: dict[str, Any] = {
        "calls": [],
        "outputs": keys,
        "gradients": False,
        "cotangents": [],
        "parameters": {},
        "buffers": {},
    }
    return {**facts, "loss": "", "runs": ["own"], "reference": "float64"}


def runs_of(modes: Sequence[str], inside: bool, own: Sequence[str]) -> dict[str, list[str]]:
    """Mode -> how it runs beside the run that is written; `own` are the modes with gradients."""
    if inside:
        return {mode: ["own", "whole"] for mode in modes}
    runs = {mode: ["own"] if mode in own else [] for mode in modes}
    runs[modes[0]].append("whole")
    return runs
