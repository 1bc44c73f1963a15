"""`mindferry report`: one HTML page from the artifacts of a converted project."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ..report import REPORT, gather, write_report


@click.command()
@click.argument("converted", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print what the report shows as JSON.")
@click.option("--open", "open_it", is_flag=True, help="Open the report in a browser.")
def command(converted: Path, as_json: bool, open_it: bool) -> None:
    """Write one self-contained HTML page from what the stages left in .mindferry/.

    \b
    mindferry report build/resnet50_ms
    mindferry report build/resnet50_ms --open
    """
    if as_json:
        click.echo(json.dumps(gather(converted), indent=1, default=str))
        return
    path = write_report(converted)
    click.echo(f"report: {path}")
    if open_it:
        click.launch(str(converted / REPORT))
