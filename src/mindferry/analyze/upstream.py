"""A request to MindSpore's developers for an API that is missing: the text of an issue, ready to be sent."""

from __future__ import annotations

from ..artifacts import ApiUse, Inventory

ADDRESS = "https://gitee.com/mindspore/mindspore/issues"  # where MindSpore's developers take requests
ASKED = ("upstream request", "custom operator")  # what a person can't write out of existing operators


def requests(inventory: Inventory) -> list[tuple[str, str]]:
    """(title, text) of an issue for each API whose last way out is to ask upstream."""
    grouped: dict[str, list[ApiUse]] = {}
    for use in inventory.apis:
        if use.kind == "missing" and use.strategy in ASKED:
            grouped.setdefault(use.api, []).append(use)
    return [(f"[Feature] A counterpart of {api}", _text(api, uses, inventory)) for api, uses in grouped.items()]


def _text(api: str, uses: list[ApiUse], inventory: Inventory) -> str:
    places = [f"{use.path}:{line}" for use in uses for line in use.lines]
    shown = ", ".join(places[:5]) + (f" and {len(places) - 5} more" if len(places) > 5 else "")
    return "\n".join(
        [
            "**Environment**",
            f"- {inventory.target}",
            "",
            "**What is missing**",
            f"- `{api}`: {uses[0].differs or 'no counterpart is known'}.",
            f"- Definition: https://docs.pytorch.org/docs/stable/generated/{api}.html",
            "",
            "**Where it is needed**",
            f"- A PyTorch project that is being migrated uses it {len(places)} time{'' if len(places) == 1 else 's'} ({shown}).",
            "",
            "**What was tried first**",
            f"- {uses[0].advice or 'an equivalent and a wrapper of existing operators'}.",
            "",
            "**What would help**",
            f"- An operator with the meaning of `{api}`, forward and gradient, for float32 and float16.",
        ]
    )
