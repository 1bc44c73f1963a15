"""`mindferry migrate`: every stage in one go, then the report."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from ..migrate import Outcome, migrate, not_done, write_page
from ..report import REPORT


@click.command()
@click.argument("project", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder for the converted project; new or empty.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome of each stage as JSON.")
def command(project: Path, output: Path, as_json: bool) -> None:
    """Analyze, convert, carry the weights, verify, train side by side, report.

    What the later stages need (the model, example inputs, the training script) stands in the project's
    mindferry.toml. Run it again after an interruption or a change: finished stages are not repeated.

    \b
    mindferry migrate examples/resnet50_cifar10 -o build/resnet50_ms
    """
    shown = (lambda outcome: None) if as_json else _show
    outcomes = migrate(project, output, shown)
    verdict, detail = write_page(output)
    if as_json:
        click.echo(json.dumps([asdict(outcome) for outcome in outcomes], indent=1))
    else:
        _show_not_done(project, output)
        is_told = _show_failed(project, outcomes)
        click.echo(f"{verdict if is_told or not detail else f'{verdict} {detail}'}\nreport: {output / REPORT}")
    raise click.exceptions.Exit(0 if all(outcome.ok for outcome in outcomes) else 1)


def _show(outcome: Outcome) -> None:
    mark = click.style("ok  ", fg="green") if outcome.ok else click.style("look", fg="red")
    when = f"{outcome.seconds:6.1f} s" if outcome.is_fresh else "earlier "
    click.echo(f"{mark} {outcome.stage:8} {when}  {outcome.summary}")


def _show_failed(project: Path, outcomes: list[Outcome]) -> bool:
    sections = {
        "weights": "[weights] and [verify]",
        "data": "[verify] data",
        "verify": "[verify] model and inputs",
        "train": "[train]",
        "plain": "[train]",
    }
    failed = [outcome.stage for outcome in outcomes if outcome.could_not_run]
    if failed:
        click.echo(
            f"\n{failed[0]} could not run: see {sections[failed[0]]} in {project / 'mindferry.toml'}, then run the same command again."
        )
    return bool(failed)


def _show_not_done(project: Path, output: Path) -> None:
    missing = not_done(project, output)
    if missing:
        lines = "\n".join(f"    {line}" for line in missing.lines)
        click.echo(
            f"\nNot compared yet: {missing.what}. To have both sides run it, write into {project / 'mindferry.toml'}:\n\n{lines}\n"
        )
