"""Inventory -> the nine tables as rows of text, for every output format."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..apis import title_of
from ..artifacts import ApiUse, Baseline, Effort, Inventory, Place
from .upstream import ADDRESS, requests
from .versions import MEASURED


@dataclass(frozen=True, slots=True)
class Sheet:
    title: str
    summary: str  # one sentence
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def sheets(inventory: Inventory) -> list[Sheet]:
    measured = [_baseline(inventory.baseline)] if inventory.baseline else []
    return [
        *measured,
        _effort(inventory.effort) if inventory.effort else Sheet("Effort", "not estimated", (), ()),
        _code(inventory),
        _structure(inventory),
        _tricks(inventory),
        _apis(inventory),
        _places(
            "Dynamic shapes", "Shapes that depend on data", ("kind", "code", "where", "way round"), inventory.dynamic
        ),
        _places("Special code", "What no API table shows", ("kind", "what", "where", "what to do"), inventory.special),
        Sheet(
            "Existing ports",
            f"Models in MindSpore's collections with names used here: {len(inventory.ports)}",
            ("model", "collection", "suggested by", "where"),
            tuple(
                (each.name, f"{each.collection} {each.address}", each.evidence, f"{each.path}:{each.line}")
                for each in inventory.ports
            ),
        ),
        _places(
            "Features worth using",
            "Features of MindSpore",
            ("feature", "suggested by", "where", "how"),
            inventory.features,
        ),
        *([_packages(inventory)] if inventory.packages else []),
        *([_requests(inventory)] if requests(inventory) else []),
    ]


def _packages(inventory: Inventory) -> Sheet:
    other = [each for each in inventory.packages if each.verdict != "as asked"]
    rows = tuple(
        (each.name, each.asked or "any", each.installed or "–", each.verdict, f"{each.path}:{each.line}")
        for each in inventory.packages
    )
    summary = f"{len(rows)} asked for, {len(other)} to look at"
    return Sheet("Third-party packages", summary, ("package", "asked for", "installed here", "verdict", "where"), rows)


def _requests(inventory: Inventory) -> Sheet:
    rows = tuple((title, text) for title, text in requests(inventory))
    summary = f"{len(rows)} API{'' if len(rows) == 1 else 's'} to ask MindSpore's developers for at {ADDRESS}; --format markdown writes the texts"
    return Sheet("Requests upstream", summary, ("title", "text of the issue"), rows)


def _baseline(baseline: Baseline) -> Sheet:
    losses = baseline.losses
    trend = f"{losses[0]:.6g} → {losses[-1]:.6g} over {len(losses)}" if losses else "none recorded"
    rows = [
        ("loss", trend),
        ("metric", ", ".join(f"{name} {value}" for name, value in baseline.metrics.items()) or "none printed"),
        ("epochs", _epochs(baseline)),
        ("optimizer steps", f"{baseline.steps}, {baseline.steps_per_second:.3g} a second"),
        (
            "peak memory",
            f"{baseline.peak_memory / 2**20:.0f} MiB, on the device {baseline.peak_device_memory / 2**20:.0f} MiB",
        ),
        ("seed", str(baseline.seed)),
        ("versions", ", ".join(f"{name} {version}" for name, version in baseline.versions.items())),
        ("saved parameters", ", ".join(baseline.parameters) or "none"),
    ]
    return Sheet("Baseline", f"the reference as `{baseline.command}` ran here", ("what", "value"), tuple(rows))


def _epochs(baseline: Baseline) -> str:
    stopped = {"steps": " begun; stopped after its steps", "seconds": " begun; stopped by the clock"}
    return f"{baseline.epochs}{stopped.get(baseline.ended, '')}" if baseline.epochs else "not seen"


def _effort(effort: Effort) -> Sheet:
    how = "measured by converting without writing" if effort.is_measured else "estimated from the API table"
    summary = (
        f"{_share(effort.clean_sites, effort.sites)} of {effort.sites} call sites, {_share(effort.clean_files, effort.files)} of {effort.files} files and "
        f"{_share(effort.clean_lines, effort.lines)} of {effort.lines} lines convert with no finding ({how})"
    )
    if effort.ledger:
        summary += f"; ledger: {effort.ledger}"
    rows = tuple(
        (str(number), each.topic, each.what, f"{each.path}:{each.line}", each.advice)
        for number, each in enumerate(effort.todo, 1)
    )
    return Sheet("Effort", summary, ("", "to do", "what", "first at", "how"), rows)


def _share(part: int, whole: int) -> str:
    """Never 100 % unless it is all."""
    return f"{int(1000 * part / whole) / 10:g} %" if whole else "all"


def _code(inventory: Inventory) -> Sheet:
    lines: Counter[tuple[bool, str]] = Counter()
    for each in inventory.code:
        lines[(each.is_migrated, each.kind)] += each.lines
    moved = sum(number for (is_migrated, _), number in lines.items() if is_migrated)
    files: dict[str, Counter[str]] = {}
    for each in inventory.code:
        files.setdefault(each.path, Counter())[each.kind if each.is_migrated else f"keep: {each.kind}"] += each.lines
    rows = [
        (
            "all files",
            str(moved),
            str(sum(lines.values()) - moved),
            ", ".join(f"{kind} {number}" for (_, kind), number in lines.most_common()),
        )
    ]
    for path, kinds in files.items():
        kept = sum(number for kind, number in kinds.items() if kind.startswith("keep"))
        rows.append(
            (
                path,
                str(sum(kinds.values()) - kept),
                str(kept),
                ", ".join(f"{kind} {number}" for kind, number in kinds.most_common()),
            )
        )
    summary = f"{moved} lines touch the device and move, {sum(lines.values()) - moved} stay"
    return Sheet("Code to migrate and code to keep", summary, ("file", "migrate", "keep", "lines by kind"), tuple(rows))


def _structure(inventory: Inventory) -> Sheet:
    count = Counter(part.kind for part in inventory.parts)
    names = {
        "as built": "as built",
        "network": "networks",
        "block": "blocks",
        "dataset": "datasets",
        "entry point": "entry points",
    }
    summary = ", ".join(
        f"{count[kind]} {plural if count[kind] != 1 else kind}"
        for kind, plural in names.items()
        if kind != "as built" or count[kind]
    )
    order = {kind: place for place, kind in enumerate(names)}
    rows = tuple(
        (
            part.kind,
            part.name + (f" [{part.role}]" if part.role else ""),
            ", ".join(part.children),
            f"{part.path}:{part.line}",
        )
        for part in sorted(inventory.parts, key=lambda part: order.get(part.kind, len(order)))
    )
    return Sheet("Structure", summary, ("kind", "name", "made of", "where"), rows)


def _tricks(inventory: Inventory) -> Sheet:
    rows = tuple((each.topic, each.name, each.value, f"{each.path}:{each.line}") for each in inventory.tricks)
    return Sheet("Tricks", f"{len(rows)} entries in the checklist", ("topic", "name", "value", "where"), rows)


def _apis(inventory: Inventory) -> Sheet:
    grouped: dict[str, list[ApiUse]] = {}
    for use in inventory.apis:
        grouped.setdefault(use.api, []).append(use)
    rows = []
    for api, uses in sorted(
        grouped.items(), key=lambda item: (item[1][0].kind not in ("missing", "unknown"), -_count(item[1]), item[0])
    ):
        first = next((use for use in uses if use.differs), uses[0])
        advice = f"{first.strategy}: {first.advice}" if first.strategy else ""
        notes = "; ".join(note for note in (first.differs, advice) if note)
        rows.append(
            (api, str(_count(uses)), first.counterpart or "–", first.kind, notes, f"{first.path}:{first.lines[0]}")
        )
    kinds = Counter(uses[0].kind for uses in grouped.values())
    summary = f"{len(grouped)} {title_of(grouped)} APIs on {inventory.target}: " + ", ".join(
        f"{number} {kind}" for kind, number in kinds.most_common()
    )
    if not inventory.target.endswith(f" {MEASURED}"):
        summary += f" (its names and arguments were compared; what they compute was measured with {MEASURED} only)"
    return Sheet(
        "API satisfaction", summary, ("API", "uses", "becomes", "how", "what differs, what to do", "where"), tuple(rows)
    )


def _count(uses: list[ApiUse]) -> int:
    return sum(len(use.lines) for use in uses)


def _places(title: str, what: str, columns: tuple[str, ...], places: tuple[Place, ...]) -> Sheet:
    rows = tuple((each.topic, each.what, f"{each.path}:{each.line}", each.advice) for each in places)
    return Sheet(title, f"{what}: {len(rows)}", columns, rows)
