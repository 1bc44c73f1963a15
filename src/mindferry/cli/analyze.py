"""`mindferry analyze`: what a project uses, what converts and what does not."""

from __future__ import annotations

from pathlib import Path

import click
from rich.table import Table

from .. import artifacts
from ..analyze import analyze_project
from ..artifacts import Inventory
from ..progress import progress, stdout


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the inventory as JSON.")
def command(path: Path, as_json: bool) -> None:
    """List the torch APIs that a project uses, and what each becomes. Nothing of it is imported or run.

    \b
    mindferry analyze my_project
    mindferry analyze my_project --json > inventory.json
    """
    with progress("analyze") as advance:
        inventory = analyze_project(path, advance)
    if as_json:
        click.echo(artifacts.dumps(inventory), nl=False)
    else:
        print_inventory(inventory)
    raise click.exceptions.Exit(1 if inventory.findings or _left(inventory) else 0)


def _left(inventory: Inventory) -> list[artifacts.ApiUse]:
    return [use for use in inventory.apis if use.kind in ("missing", "unknown")]


def print_inventory(inventory: Inventory) -> None:
    counts: dict[str, tuple[int, str, str, str]] = {}
    for use in inventory.apis:
        number, _, _, place = counts.get(use.api, (0, "", "", f"{use.path}:{use.lines[0]}"))
        counts[use.api] = (number + len(use.lines), use.counterpart, use.kind, place)
    grid = Table(
        "API", "uses", "becomes", "how", "first at", title=f"{inventory.root}: {len(inventory.files)} files, {inventory.lines} lines"
    )
    for api, (number, counterpart, kind, place) in sorted(counts.items(), key=lambda item: (-item[1][0], item[0])):
        grid.add_row(api, str(number), counterpart or "-", kind, place)
    stdout.print(grid)
    for finding in inventory.findings:
        click.echo(str(finding))
    sites = sum(number for number, *_ in counts.values())
    left = sum(len(use.lines) for use in _left(inventory))
    click.echo(f"{len(counts)} APIs at {sites} places; {sites - left} places have a counterpart ({(sites - left) / max(sites, 1):.0%})")
    need = _left(inventory)
    if need:
        click.echo(f"{len({use.api for use in need})} APIs need you: start with {need[0].api} at {need[0].path}:{need[0].lines[0]}")
