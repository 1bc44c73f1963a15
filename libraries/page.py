"""docs/reference/libraries.md. Rows of networks that were not measured this time stay, with the version and day that they tell."""

from __future__ import annotations

import re

from .outcome import FORWARD, GRADIENT, Outcome, is_close

HEAD = "| network | output | gradients | torch's own | tokens | version | measured | why not |"
SECTION = re.compile(r"^## (\S+)$", re.MULTILINE)
Row = tuple[str, ...]  # its cells


def page(done: list[Outcome], old: str = "") -> str:
    lines = [
        "# Libraries that were brought along",
        "",
        "Written by `make libraries`. Tiny networks with random weights, converted by `mindferry convert --with`, run in torch",
        "and in MindSpore (without torch) in processes of their own. A difference is the largest one, divided by the largest value.",
        "Where torch can run the network in float64, both sides' float32 is measured against that, and `torch's own` is how far",
        "torch's float32 is from it (output, gradients): ours agrees below 1e-4 (gradients: 1e-3), or below twice torch's own.",
        "Rows without it are measured against torch's float32.",
        "`tokens` is how many of 20 greedy tokens of `generate()` are the same. A row tells the library's version, the day and",
        "(the newer ones) the commit; `make libraries` measures again what it is told to, and keeps the other rows.",
        "`batch 6`: with the first batch an input of a ReLU lies at its kink, where float32 alone decides about one channel's gradient.",
    ]
    rows = rows_of(old)
    for each in done:
        kept = rows.setdefault(each.library, {})
        kept.pop(each.name, None) if each.error.startswith("torch:") else kept.__setitem__(each.name, row(each))
    for library, table in rows.items():
        known = list(table.values())
        agree = sum(_is_close(cells[1], FORWARD, cells[3], 0) for cells in known)
        gradients = sum(_is_close(cells[2], GRADIENT, cells[3], 1) for cells in known)
        only_as_torch = sum(
            _is_close(cells[2], GRADIENT, cells[3], 1) and float(cells[2]) >= GRADIENT for cells in known
        )
        generating = [cells for cells in known if cells[4]]
        alike = sum(cells[4] == "20" for cells in generating)
        said = f"{len(known)} networks; the outputs of {agree} agree, and all gradients of {gradients}."
        if only_as_torch:
            said += f" {only_as_torch} of these gradients are beyond 1e-3, where torch's own float32 is as far from float64."
        if generating:
            said += f" Of {len(generating)} that were asked to generate, {alike} make the same 20 tokens."
        lines += ["", f"## {library}", "", said, "", HEAD, "| " + " | ".join(["---"] * 8) + " |"]
        lines += ["| " + " | ".join(cells) + " |" for cells in known]
    return "\n".join(lines) + "\n"


def row(each: Outcome) -> Row:
    is_right = each.agrees and each.gradients_agree and each.tokens in (None, 20)
    why = "" if is_right else each.error.split("\n")[0].replace("|", "\\|")[:160]
    tokens = "" if each.tokens is None else str(each.tokens)
    own = ", ".join(_shown(each) for each in (each.own_forward, each.own_gradient) if each is not None)
    return (each.name, _shown(each.forward), _shown(each.gradient), own, tokens, each.version, each.measured, why)


def rows_of(text: str) -> dict[str, dict[str, Row]]:
    """library -> network -> the cells of a page that was written before; rows of seven cells do not tell how far torch is from itself."""
    found: dict[str, dict[str, Row]] = {}
    parts = SECTION.split(text)
    for library, body in zip(parts[1::2], parts[2::2], strict=True):
        for line in body.splitlines():
            cells = [each.strip() for each in re.split(r"(?<!\\)\|", line)[1:-1]]
            if len(cells) not in (7, 8) or cells[0] in ("network", "---"):
                continue
            if len(cells) == 7:
                cells.insert(3, "")
            found.setdefault(library, {})[cells[0]] = tuple(cells)
    return found


def _is_close(cell: str, limit: float, own: str, place: int) -> bool:
    known = [float(each) for each in own.split(", ") if each]
    return bool(cell) and is_close(float(cell), limit, known[place] if place < len(known) else None)


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.0e}"
