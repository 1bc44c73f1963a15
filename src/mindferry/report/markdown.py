"""The report as Markdown, for a pull request: what a reviewer needs, long tables folded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from ..artifacts import Difference, Outcome
from .content import Report
from .modules import strain
from .verdict import Task
from .words import duration, scientific

MARKS = {
    "same": "✅",
    "open": "⚠️",
    "different": "❌",
    "unmeasured": "•",
    "ok": "✅",
    "look": "❌",
    "warn": "⚠️",
    "absent": "–",
}
LONGEST = 200  # rows of a table; a pull request takes 65,536 characters


def markdown(report: Report) -> str:
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    told = report.overview
    yield f"# {text(report.title)}: {MARKS[told.state]} {text(told.verdict)}\n"
    yield from (f"{text(part)}\n" for part in (told.detail, *told.notes) if part)
    yield from table(("", "stage", ""), ((MARKS[each.state], each.stage, each.summary) for each in told.stages))
    yield from _tasks("Left to do", told.todo)
    yield from _tasks("Worth a look", told.warnings)
    yield from _tasks("Not compared yet", told.unmeasured)
    files = [file for file in report.code if file.marks or file.findings]
    if files:
        yield "\n## Code\n"
        kinds = ", ".join(f"{count} {kind}" for kind, count in told.kinds.items())
        yield f"{sum(told.kinds.values())} rewrites ({text(kinds)}).\n" if kinds else ""
        yield from folded(
            "files",
            ("file", "status", "rewrites", "findings"),
            [(file.path, file.status, str(len(file.marks)), str(len(file.findings))) for file in files],
        )
    yield from _weights(report)
    yield from _data(report)
    yield from _verification(report)
    yield from _training(report)
    yield from _plain_run(report)
    yield from _performance(report)
    yield from _export(report)
    if report.analysis:
        yield "\n## Analysis\n"
        for sheet in report.analysis:
            yield from folded(f"{sheet.title}: {sheet.summary}", sheet.columns, sheet.rows)
    yield f"\nmindferry {report.version}, artifacts of {report.made}"


def _tasks(title: str, tasks: Sequence[Task]) -> Iterator[str]:
    if tasks:
        yield f"\n## {title}\n"
        rows = (
            (f"{each.path}:{each.line}" if each.path else each.stage, f"{each.code} {each.what}".strip(), each.how)
            for each in tasks
        )
        yield from table(("where", "what", "what to do"), rows, numbered=True)


def _weights(report: Report) -> Iterator[str]:
    told = report.weights
    if told is None:
        return
    yield "\n## Weights\n"
    same = "" if told.note else f"; {told.differing} with other statistics on the two sides"
    yield f"{len(told.parameters)} parameters, {told.total:,} values{same}.\n"
    yield from folded("without a counterpart", ("name", "why"), [(each.name, each.why) for each in told.unmatched])
    rows = [
        (each.source, each.target, "×".join(map(str, each.shape)), each.dtype, each.how) for each in told.parameters
    ]
    yield from folded("parameters", ("torch", "MindSpore", "shape", "type", "matched by"), rows)


def _data(report: Report) -> Iterator[str]:
    if report.data and report.data.pipelines:
        yield "\n## Data\n"
        yield from table(
            ("", "pipeline", "batches compared", "largest difference", "what differs"),
            (
                (
                    MARKS["ok" if each.passed else "look"],
                    each.name,
                    str(each.compared),
                    scientific(each.largest),
                    "; ".join(f"{d.where}: {d.what}: {d.detail}" for d in each.differences[:3]),
                )
                for each in report.data.pipelines
            ),
        )


def _export(report: Report) -> Iterator[str]:
    if report.export and report.export.files:
        yield "\n## Export\n"
        yield from table(
            ("", "form", "file", "bytes", "largest difference", ""),
            (
                (
                    MARKS["ok" if each.passed else "absent" if not each.path else "look"],
                    each.form,
                    each.path,
                    f"{each.size:,}",
                    scientific(each.worst),
                    each.reason or each.note,
                )
                for each in report.export.files
            ),
        )


def _verification(report: Report) -> Iterator[str]:
    told = report.verification
    if told is None:
        return
    failed = [each for each in told.differences if not each.passed]
    yield "\n## Verification\n"
    yield f"{text(told.model)} on {text(told.inputs)}: {len(told.differences) - len(failed)} of {len(told.differences)} tensors within tolerance.\n"
    if told.predictions:
        yield (
            f"{told.predictions.agree} of {told.predictions.samples} predictions equal; accuracy {told.predictions.reference_accuracy:.2%} in torch, "
            f"{told.predictions.accuracy:.2%} in MindSpore.\n"
        )
    if told.outcome is Outcome.PARTIAL and told.coverage is not None:
        yield "**Same as far as compared.** Not compared:\n"
        yield from (f"- {text(gap.name)}: {text(gap.why)}" for gap in told.coverage.gaps if gap.matters)
        yield ""
    elif not told.passed:
        yield f"**First divergence: {text(told.first_divergence or 'the predictions')}.**\n"
        yield from (text(line) + "  " for line in told.diagnosis)
    yield from table(("mode", "what", "name", "error", "allowed", "own", "allowed"), map(_difference, failed[:40]))
    worst: dict[tuple[str, str], Difference] = {}
    for row in told.differences:
        place = (row.mode, row.kind)
        worst[place] = max(worst.get(place, row), row, key=strain)
    yield from folded(
        "closest to its tolerance, by kind",
        ("mode", "what", "name", "error", "allowed", "own", "allowed"),
        list(map(_difference, worst.values())),
    )


def _difference(row: Difference) -> tuple[str, ...]:
    figures = (row.max_rel, row.tolerance, row.own_error, row.own_tolerance)
    return (
        row.mode,
        row.kind,
        row.name or "the network",
        *("" if math.isnan(value) else scientific(value) for value in figures),
    )


def _training(report: Report) -> Iterator[str]:
    told = report.training
    if told is None:
        return
    yield "\n## Training\n"
    verdict = "" if told.passed else f" **{text(told.first_difference)}.**"
    yield f"{len(told.reference)} steps, losses within {scientific(told.worst)} (allowed {told.tolerance:g}).{verdict}\n"
    rows = [
        (
            str(number),
            f"{a.loss:.6g}",
            f"{b.loss:.6g}",
            f"{a.lr:g}",
            f"{b.lr:g}",
            f"{a.grad_norm:.5g}",
            f"{b.grad_norm:.5g}",
        )
        for number, (a, b) in enumerate(zip(told.reference, told.converted, strict=False), 1)
    ]
    yield from folded(
        "steps",
        (
            "step",
            *(
                title
                for each in ("loss", "rate", "gradient norm")
                for title in (f"{each}: {told.framework}", "MindSpore")
            ),
        ),
        rows,
    )


def _plain_run(report: Report) -> Iterator[str]:
    told = report.plain
    if told is None:
        return
    yield "\n## The converted script as it is\n"
    wrong = told.finding
    place = f"{wrong.path}:{wrong.line}: " if wrong and wrong.path else ""
    verdict = f" **{text(place + wrong.message)}**" if wrong else ""
    yield f"`{told.command}` without {told.framework}: {len(told.losses)} steps, ended by {told.ended}.{verdict}\n"
    rows = [
        (str(step + 1), f"{loss:.6g}", *(f"{each[step]:.6g}" if step < len(each) else "" for each in told.seeds))
        for step, loss in enumerate(told.losses)
    ]
    seeds = [f"{told.framework}, seed {number + 1}" for number in range(len(told.seeds))]
    yield from folded("losses", ("step", "MindSpore", *seeds), rows)


def _performance(report: Report) -> Iterator[str]:
    told = report.performance
    if told is None:
        return
    yield "\n## Performance\n"
    yield from table(("phase", "a step"), ((each.name, duration(each.seconds)) for each in told.profile.phases))
    yield ""
    rows = [
        (each.name, each.status, *(duration(x) for x in (each.before, each.after)), each.change)
        for each in told.experiments
    ]
    yield from folded("experiments", ("name", "result", "before", "after", "change"), rows)
    slowest = sorted(told.profile.operators, key=lambda each: -each.seconds)[:20]
    rows = [(each.name, duration(each.seconds), f"{each.calls:g}", each.module, each.shapes) for each in slowest]
    yield from folded("operators", ("operator", "a step", "calls", "module", "shapes"), rows)
    rows = [(each.name, duration(each.seconds), str(each.workers)) for each in told.profile.pipeline]
    yield from folded("data pipeline", ("operation", "a batch", "workers"), rows)


def folded(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield f"<details><summary>{text(title)}</summary>\n"
        yield from table(columns, rows[:LONGEST])
        if len(rows) > LONGEST:
            yield f"\nand {len(rows) - LONGEST} more."
        yield "\n</details>\n"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], numbered: bool = False) -> Iterator[str]:
    lines = [[str(number), *row] if numbered else list(row) for number, row in enumerate(rows, 1)]
    if not lines:
        return
    heads = ["", *columns] if numbered else list(columns)
    yield "| " + " | ".join(map(text, heads)) + " |"
    yield "| " + " | ".join("---" for _ in heads) + " |"
    yield from ("| " + " | ".join(map(text, line)) + " |" for line in lines)


def text(value: str) -> str:
    """What Markdown takes for markup, escaped; `code` in pairs of backticks stays."""
    flat = " ".join(value.split())
    parts = flat.split("`")
    if len(parts) % 2 == 0:
        parts = [flat]
    return "`".join(part.replace("|", "\\|") if index % 2 else _plain(part) for index, part in enumerate(parts))


def _plain(part: str) -> str:
    escaped = part.replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{mark}" if mark in "\\|*_[]`" else mark for mark in escaped)
