"""How much converts with no finding, and what is left for a person, in the order in which to do it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from .. import findings
from ..accounts import summarize_sites
from ..artifacts import Effort, Finding, Inventory, Place, ProjectConversion

Check = Callable[[Path], ProjectConversion]  # a conversion that writes nothing
WHOLE_FILE = (findings.MF900, findings.MF901)  # unreadable, or left as it was: nothing of the file converts
LEFT = ("missing", "unknown")
ORDER = (
    "unreadable file",
    "missing API",
    "C++ or CUDA operator",
    "package that needs torch",
    "autograd function",
    "sparse tensor",
    "left by the conversion",
    "hook",
    "multiprocessing",
    "dynamic shape",
)
SPECIAL = (
    "C++ or CUDA operator",
    "package that needs torch",
    "autograd function",
    "sparse tensor",
    "hook",
    "multiprocessing",
)


def with_effort(inventory: Inventory, lines: dict[str, int], conversion: ProjectConversion | None) -> Inventory:
    """`lines`: how many each file has. Without a conversion the API table gives an estimate."""
    found = _findings(inventory, conversion)
    if conversion is not None:
        inventory = _with_what_converts(inventory, conversion)
    bad_lines = {(finding.path, finding.line) for finding in found}
    bad_files = {finding.path for finding in found}
    torch_files = inventory.torch_files
    lines = {path: lines.get(path, 0) for path in torch_files}  # an unreadable file has lines that nobody counted
    bad_sites = {
        (finding.path, finding.line, finding.rule) for finding in found
    }  # a finding without a rule is about all of its line
    sites = [(use.path, line, use.api) for use in inventory.apis for line in use.lines]
    lost = {finding.path for finding in found if finding.code in WHOLE_FILE}
    clean = [
        site for site in sites if not (site in bad_sites or (site[0], site[1], "") in bad_sites or site[0] in lost)
    ]
    left_lines = sum(lines[path] for path in torch_files if path in lost) + sum(
        path not in lost for path, _ in bad_lines
    )
    effort = Effort(
        len(sites),
        len(clean),
        len(torch_files),
        sum(path not in bad_files for path in torch_files),
        sum(lines[path] for path in torch_files),
        sum(lines[path] for path in torch_files) - left_lines,
        conversion is not None,
        todo(inventory, found),
        summarize_sites(site for file in conversion.files for site in file.sites) if conversion is not None else "",
    )
    return replace(inventory, effort=effort)


def _with_what_converts(inventory: Inventory, conversion: ProjectConversion) -> Inventory:
    """An API that the table calls missing and the conversion rewrote wherever it stands is not missing here."""
    converted = {(file.path, site.line, site.rule): site.after for file in conversion.files for site in file.rewrites}
    apis = [
        replace(
            use,
            kind="native",
            counterpart=use.counterpart or "rewritten where it stands",
            differs="",
            strategy="",
            advice="",
        )
        if use.kind in LEFT and all((use.path, line, use.api) in converted for line in use.lines)
        else use
        for use in inventory.apis
    ]
    return replace(inventory, apis=tuple(apis))


def _findings(inventory: Inventory, conversion: ProjectConversion | None) -> list[Finding]:
    if conversion is not None:
        return [finding for finding in conversion.findings if finding.severity in ("error", "warning")]
    return [
        *inventory.findings,
        *(
            _left(use.path, line, use.api, use.differs, use.advice)
            for use in inventory.apis
            if use.kind in LEFT
            for line in use.lines
        ),
    ]


def _left(path: str, line: int, api: str, why: str, advice: str) -> Finding:
    return Finding(findings.MF100, "error", path, line, 1, f"{api}: {why or 'has no rule'}", advice, api)


def todo(inventory: Inventory, found: list[Finding]) -> tuple[Place, ...]:
    """What needs a person: the same thing once, with how often; what stops most comes first."""
    tasks = [Place("unreadable file", each.message, each.path, each.line, each.advice) for each in inventory.findings]
    tasks += [
        Place("missing API", use.api, use.path, use.lines[0], use.advice)
        for use in inventory.apis
        if use.kind in LEFT
        for _ in use.lines
    ]
    missing = {use.api for use in inventory.apis if use.kind in LEFT}
    tasks += [each for each in inventory.special if each.topic in SPECIAL]
    tasks += [
        Place("left by the conversion", each.message, each.path, each.line, each.advice)
        for each in found
        if each.code != findings.MF900 and each.rule not in missing
    ]
    tasks += [replace(each, topic="dynamic shape", what=each.topic) for each in inventory.dynamic]
    grouped: dict[tuple[str, str], list[Place]] = {}
    for task in tasks:
        grouped.setdefault((task.topic, task.what), []).append(task)
    ordered = sorted(grouped.items(), key=lambda item: (ORDER.index(item[0][0]), -len(item[1]), item[0][1]))
    return tuple(
        replace(same[0], what=same[0].what if len(same) == 1 else f"{same[0].what} ({len(same)} places)")
        for _, same in ordered
    )
