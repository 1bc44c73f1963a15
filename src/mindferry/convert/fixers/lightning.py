"""Lightning: what a Trainer is told and can't do here, and hooks that nothing calls, are findings; the rest is the table's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import findings
from ...apis.torch.lightning._limits import OPTIONS, UNCALLED
from ...read.uses import Use
from ..facts import Facts
from ..plan import Change


def plan(facts: Facts) -> Iterator[Change]:
    for call in facts.calls_for(Use.TRAINER):
        yield from _refused_options(facts, call)
    for node, qual in facts.reading.owners.items():
        if isinstance(node, ast.ClassDef):
            bases = facts.reading.symbols.bases(qual)
            is_module = any(facts.uses.has(Use.TRAINED_MODULE, base) for base in bases)
            if is_module or any(facts.uses.has(Use.TRAINER_CALLBACK, base) for base in bases):
                yield from _uncalled_hooks(facts, node, is_module)


def _refused_options(facts: Facts, call: ast.Call) -> Iterator[Change]:
    for given in call.keywords:
        allowed, advice = OPTIONS.get(given.arg or "", ((), ""))
        if not advice:
            continue
        try:
            is_same = ast.literal_eval(given.value) in allowed
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            is_same = False
        if not is_same:
            message = (
                f"Trainer({given.arg}={facts.source.text(given.value)}) has no effect here: one process in float32"
            )
            if given.arg == "overfit_batches":
                message = "Trainer(overfit_batches=...) is converted in part"
            yield facts.found(given.value, findings.MF110, message, advice, "warning")


def _uncalled_hooks(facts: Facts, node: ast.ClassDef, is_module: bool) -> Iterator[Change]:
    methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
    for name, method in methods.items():
        if name in UNCALLED:
            message = f"{name}() is a hook of Lightning 1, which nothing calls here (nor in Lightning 2)"
            yield facts.found(method, findings.MF110, message, "move it to a hook of Lightning 2", "warning")
    if not is_module:
        return
    if "backward" in methods:
        message = "an own backward() is not called: the Trainer differentiates what training_step() returns"
        advice = "set automatic_optimization = False and call manual_backward() in training_step()"
        yield facts.found(methods["backward"], findings.MF110, message, advice, "warning")
    arguments = [each.arg for each in methods["training_step"].args.args] if "training_step" in methods else []
    for name in ("optimizer_idx", "dataloader_iter", "hiddens"):
        if name in arguments:
            message = f"training_step() takes {name}, which nothing gives it here (nor does Lightning 2)"
            advice = "set automatic_optimization = False, and take self.optimizers() in training_step()"
            yield facts.found(methods["training_step"], findings.MF110, message, advice, "warning")
    is_manual = any(isinstance(each, ast.Attribute) and each.attr == "manual_backward" for each in ast.walk(node))
    for name in ("on_before_backward", "on_after_backward"):
        if is_manual and name in methods:
            message = f"{name}() is not called where manual_backward() was lifted"
            yield facts.found(
                methods[name], findings.MF110, message, "call it after the gradients are taken", "warning"
            )
