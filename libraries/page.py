"""docs/reference/libraries.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .__main__ import Outcome


def page(done: list[Outcome]) -> str:
    lines = [
        "# Libraries that were brought along",
        "",
        "Written by `make libraries`. Tiny networks with random weights, converted by `mindferry convert --with`, run in torch",
        "and in MindSpore (without torch) in processes of their own. A difference is the largest one, divided by the largest value.",
    ]
    for library in dict.fromkeys(each.library for each in done):
        tried = [each for each in done if each.library == library]
        own = [each for each in tried if not each.error.startswith("torch:")]
        agree, gradients = sum(each.agrees for each in own), sum(each.gradients_agree for each in own)
        lines += [
            "",
            f"## {library}",
            "",
            f"{len(own)} networks; the outputs of {agree} agree, and all gradients of {gradients}."
            + (
                f" {len(tried) - len(own)} more were tried that torch itself does not run with these settings."
                if len(own) < len(tried)
                else ""
            ),
            "",
            "| network | output | gradients | why not |",
            "| --- | --- | --- | --- |",
        ]
        for each in own:
            why = "" if each.agrees and each.gradients_agree else each.error.split("\n")[0].replace("|", "\\|")[:160]
            lines.append(f"| {each.name} | {_shown(each.forward)} | {_shown(each.gradient)} | {why} |")
    return "\n".join(lines) + "\n"


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.0e}"
