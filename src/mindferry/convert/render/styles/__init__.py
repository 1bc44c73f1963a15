"""The other ways to write a training step: rewrites the functional form, which the training pass has written, into them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from .... import findings
from ....artifacts import Finding
from ...refused import Refused
from ...settings import Settings
from .compilable import check_compiles
from .edit import Text
from .steps import Step, find_steps
from .write import as_cell, as_model, compiled


@dataclass(slots=True)
class Styled:
    code: str
    findings: list[Finding] = field(default_factory=list)
    compat: set[str] = field(default_factory=set)


def restyle(code: str, settings: Settings, path: str, lines: list[int], compat_import: str) -> Styled:
    """`code` in the style that the settings ask for. `lines` are those of the backward() calls in the source, in order."""
    if settings.style == "functional" and not (settings.jit or settings.jit_auto):
        return Styled(code)
    result = Styled(code)
    tree = ast.parse(code)
    text = Text(code, tree)
    for number, step in enumerate(find_steps(tree)):
        line = lines[number] if number < len(lines) else 1
        try:
            if settings.jit_auto:
                check_compiles(step, tree)
            _rewrite(step, text, settings, result)
        except Refused as refusal:
            what = "compiled" if settings.style == "functional" else f"written in the {settings.style} style"
            result.findings.append(
                Finding(
                    findings.MF210,
                    "note" if settings.jit_auto else "warning",
                    path,
                    line,
                    1,
                    f"this step was not {what}: {refusal}",
                    "it stays in the functional form",
                )
            )
    result.code = text.apply(compat_import if result.compat else "")
    return result


def _rewrite(step: Step, text: Text, settings: Settings, result: Styled) -> None:
    if settings.style == "model":
        as_model(step, text)
        result.compat.add("as_dataset")
    elif settings.style == "cell":
        as_cell(step, text)
    elif compiled(step, text):
        result.compat.add("compiled_update")
