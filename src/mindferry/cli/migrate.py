"""`mindferry migrate`: every stage in one go, then the report."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

from .. import artifacts, findings
from ..artifacts import Finding, ProjectConversion
from ..by_observation import outside_of_run
from ..config import read_config
from ..errors import MindferryError, printable
from ..migrate import Command, Outcome, migrate, not_covered, not_done, write_page
from ..report import REPORT
from ..report.verdict import MEASURED, Verdict
from ._say import say

LEFT = 5  # calls that the conversion left, on the terminal
SHOWN = 8  # things that were not compared, on the terminal; all are in --json
NOT_ALL = 4  # the exit code, as verify's


@click.command()
@click.argument("project", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder for the converted project; new or empty.",
)
@click.option(
    "--steps",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Stop the command after so many, unless it soon ends.",
)
@click.option("--seconds", type=float, default=600.0, show_default=True, help="Stop the command after so many.")
@click.option(
    "--record-graphs",
    is_flag=True,
    help="Where a backward() can't be lifted, record graphs as the code runs, by functions that MindSpore doesn't document.",
    hidden=True,  # the finding that asks for it names it
)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome of each stage as JSON.")
@click.argument("tail", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
def command(
    project: Path,
    output: Path,
    steps: int,
    seconds: float,
    record_graphs: bool,
    as_json: bool,
    tail: tuple[str, ...],
) -> None:
    """Observe, analyze, convert, carry the weights, verify, train side by side, run by itself, report.

    COMMAND is how the project is run; it is run once, watched, and tells what the later stages need: networks,
    inputs, types, losses. Without one, what they need stands in the project's mindferry.toml. Run it again after an
    interruption or a change: finished stages are not repeated.

    Exit code 0: it behaves like the original, and nothing that matters was left out (or nothing was asked to be compared).
    1: something differs or is left for you. 4: same as far as compared; what was not compared is listed.

    \b
    mindferry migrate my_project -o my_project_ms -- python train.py --epochs 1
    mindferry migrate examples/resnet50_cifar10 -o build/resnet50_ms
    """
    shown = (lambda outcome: None) if as_json else _show
    given = Command(tail, steps, seconds, _pass_on) if tail else None
    outcomes = migrate(project, output, shown, given, record_graphs)
    told = write_page(output)
    if as_json:
        say(json.dumps(_as_json(told, outcomes, output), indent=1))
    else:
        if not tail:
            _show_not_done(project, output)
            _propose(project, output)
        _show_left(output)
        _propose_libraries(project, output)
        is_told = _show_failed(project, outcomes, is_observed=bool(tail))
        missed = not_covered(project, output) if tail else ""
        lines = [*_lines(told, is_told), missed, f"report: {output / REPORT}"]
        say("\n".join(line for line in lines if line))
    raise click.exceptions.Exit(_exit_code(told, outcomes))


def _exit_code(told: Verdict, outcomes: list[Outcome]) -> int:
    """0: the same, and nothing was left out; or nobody asked for a comparison. 1: something is wrong or left.
    4: not everything was compared."""
    if not all(outcome.ok for outcome in outcomes) or told.outcome is artifacts.Outcome.DIFFERENT:
        return 1
    is_asked = any(outcome.stage in MEASURED for outcome in outcomes)
    return 0 if told.outcome is artifacts.Outcome.SAME or not is_asked else NOT_ALL


def _lines(told: Verdict, is_told: bool) -> list[str]:
    """The verdict; where it is not "same", what is wrong, or all that was not compared."""
    if told.state in ("different", "open") and not told.missing:
        return [told.text if is_told or not told.detail else f"{told.text} {told.detail}"]
    if told.state == "different":
        return [told.text if is_told else f"{told.text} {told.detail}"]
    listed = [f"  {each}" for each in told.missing[:SHOWN]]
    more = [f"  and {len(told.missing) - SHOWN} more"] if len(told.missing) > SHOWN else []
    missing = ["Not compared:", *listed, *more] if told.missing and told.compared else []
    return [*missing, told.text]


def _as_json(told: Verdict, outcomes: list[Outcome], output: Path) -> dict[str, object]:
    return {
        "outcome": told.outcome or "not compared",
        "verdict": told.text,
        "detail": told.detail,
        "compared": told.compared,
        "not_compared": told.missing,
        "report": str(output / REPORT),
        "stages": [asdict(outcome) for outcome in outcomes],
    }


def _pass_on(data: bytes) -> None:
    sys.stderr.buffer.write(data)
    sys.stderr.buffer.flush()


def _show(outcome: Outcome) -> None:
    mark = click.style("ok  ", fg="green") if outcome.ok else click.style("look", fg="red")
    if outcome.ok and outcome.is_partial:
        mark = click.style("part", fg="yellow")
    when = f"{outcome.seconds:6.1f} s" if outcome.is_fresh else "earlier "
    click.echo(f"{mark} {outcome.stage:8} {when}  {printable(outcome.summary)}")


def _show_failed(project: Path, outcomes: list[Outcome], is_observed: bool) -> bool:
    sections = {
        "weights": "[weights] and [verify]",
        "data": "[verify] data",
        "verify": "[verify] model and inputs",
        "train": "[train]",
        "plain": "[train]",
    }
    failed = [outcome.stage for outcome in outcomes if outcome.could_not_run]
    if failed and is_observed:  # there is no toml to look into
        say(f"\n{failed[0]} could not run; its line above says why. What it would have compared is not known.")
    elif failed:
        say(
            f"\n{failed[0]} could not run: see {sections[failed[0]]} in {project / 'mindferry.toml'}, then run the same command again."
        )
    return bool(failed)


def _propose(project: Path, output: Path) -> None:
    """Commands that the project seems to be run with; nothing is run unasked."""
    from ..observe.commands import propose_commands

    config = read_config(project)
    found = propose_commands(project) if not (config.train.script or config.verify.model) else []
    if found:
        lines = [f"mindferry migrate {project} -o {output} -- {each.command}   # {each.found_in}" for each in found]
        text = "\n".join(f"    {line}" for line in lines)
        say(f"Or give the command that runs the project; everything else is seen from it:\n\n{text}\n")


def _left(output: Path) -> tuple[Finding, ...]:
    """What the conversion found."""
    try:
        return artifacts.load(ProjectConversion, output, "convert").findings
    except MindferryError:
        return ()


def _show_left(output: Path) -> None:
    """The calls that the conversion left: where, why, and what to do."""
    left = [each for each in _left(output) if each.severity == "error"]
    passed_by = outside_of_run(output, left)
    met = [each for each in left if each not in passed_by]
    for title, found in (("Left for you:", met), ("Left for you, where the command did not run:", passed_by)):
        lines = [f"  {each.path}:{each.line}: {each.code} {each.message}; {_advice(each)}" for each in found[:LEFT]]
        more = [f"  and {len(found) - LEFT} more, in the report"] if len(found) > LEFT else []
        if found:
            say("\n".join((f"\n{title}", *lines, *more)))


def _advice(finding: Finding) -> str:
    """What to do, in terms of this command."""
    return finding.advice.replace("convert with --record-graphs", "migrate with --record-graphs")


def _propose_libraries(project: Path, output: Path) -> None:
    """Libraries on torch whose import was left: the lines that bring them along."""
    found = _left(output)
    names = dict.fromkeys(each.rule for each in found if each.code == findings.MF150 and "--with" in each.advice)
    if names:
        listed = ", ".join(f'"{name}"' for name in names)
        say(
            f"To bring along what is used of {', '.join(names)}, write into {project / 'mindferry.toml'}:\n\n"
            f"    [convert]\n    with = [{listed}]\n"
        )


def _show_not_done(project: Path, output: Path) -> None:
    missing = not_done(project, output)
    if missing:
        lines = "\n".join(f"    {line}" for line in missing.lines)
        say(
            f"\nNot compared yet: {missing.what}. To have both sides run it, write into {project / 'mindferry.toml'}:\n\n{lines}\n"
        )
