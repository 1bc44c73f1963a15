"""`mindferry analyze`: what moves, what stays and what will hurt, before anything is touched."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import click

from .. import artifacts
from ..analyze import analyze_project
from ..analyze.baseline import run_baseline
from ..analyze.build import built_networks
from ..analyze.observed import with_observation
from ..analyze.text import show, text
from ..analyze.versions import MEASURED
from ..artifacts import Inventory, ProjectConversion
from ..errors import printable
from ..files import write_text
from ..layout import find_files
from ..observation import load_observation
from ..progress import progress, stdout
from ._say import say

LARGEST_MEASURED = 20_000  # lines; converting takes several times as long as reading
FORMATS = ("text", "json", "markdown", "html", "sarif")


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="What to print or write.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to this file instead of stdout.")
@click.option(
    "--target", type=click.Choice(["CPU", "Ascend"], case_sensitive=False), default="CPU", help="Where it is to run."
)
@click.option(
    "--mindspore", metavar="VERSION", default=MEASURED, show_default=True, help="The MindSpore that it is to run with."
)
@click.option(
    "--measure/--quick",
    default=None,
    help="Measure the effort by converting without writing, or estimate it. Default: by size of the project.",
)
@click.option(
    "--baseline",
    metavar="CMD",
    help="Run this command under a recorder: losses, steps a second, memory, seed, versions.",
)
@click.option(
    "--observed",
    type=click.Path(path_type=Path),
    help="What `mindferry observe` saw: losses, epochs, metrics and the shapes that inputs had.",
)
@click.option(
    "--build",
    metavar="[MODULE:FACTORY]",
    is_flag=False,
    flag_value="",
    help="Build the network in a process of its own and count parameters. Without a name: that of mindferry.toml, or all that need no arguments.",
)
@click.option("--full", is_flag=True, help="All rows of every table in the terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print the inventory as JSON.")
def command(
    path: Path,
    form: str,
    output: Path | None,
    target: str,
    mindspore: str,
    measure: bool | None,
    baseline: str | None,
    observed: Path | None,
    build: str | None,
    full: bool,
    as_json: bool,
) -> None:
    """Read a project and fill in the tables of a migration. Nothing of it is imported or run, unless --baseline or --build asks for it.

    Code to migrate and to keep, structure, tricks with their values, API satisfaction, dynamic shapes, special code,
    existing ports, features worth using, effort with a to-do list. Exit code 1: something has no counterpart.

    \b
    mindferry analyze my_project
    mindferry analyze my_project --format html -o before.html
    mindferry analyze my_project --target Ascend --mindspore 2.8 --json
    mindferry analyze my_project --build model:resnet50
    mindferry analyze my_project --baseline "python train.py --epochs 1"
    """
    if measure is None:
        measure = _count_lines(path) <= LARGEST_MEASURED
    with progress("analyze") as advance:
        check = _convert_without_writing if measure else None
        inventory = analyze_project(path, advance, target=target, mindspore=mindspore, check=check)
    if build is not None:
        with progress("building"):
            inventory = replace(inventory, parts=(*built_networks(path, build, inventory), *inventory.parts))
    if baseline:
        with progress(f"baseline: {baseline}"):
            inventory = replace(inventory, baseline=run_baseline(path, baseline))
    if observed is not None:
        inventory = with_observation(inventory, load_observation(observed), path)
    form = "json" if as_json else form
    if output is not None:
        write_text(output, render(inventory, form, full))
        say(f"{printable(str(output))} written", err=True)
    elif form == "text" and stdout.is_terminal:
        show(stdout, inventory, full)
    else:
        click.echo(printable(render(inventory, form, full), keeps_lines=True), nl=False)
    left = any(use.kind in ("missing", "unknown") for use in inventory.apis)
    raise click.exceptions.Exit(1 if inventory.findings or left else 0)


def _count_lines(path: Path) -> int:
    total = 0
    for file in find_files(path, ()).python:
        with contextlib.suppress(OSError):  # one that can't be read becomes a finding later
            total += file.path.read_bytes().count(b"\n")
    return total


def _convert_without_writing(path: Path) -> ProjectConversion:
    from ..convert import convert_project

    return convert_project(path, Path("unwritten"), check=True)


def render(inventory: Inventory, form: str, full: bool = False) -> str:
    if form == "json":
        return artifacts.dumps(inventory)
    if form == "markdown":
        from ..analyze.markdown import markdown

        return markdown(inventory)
    if form == "html":
        from ..analyze.html import html

        return html(inventory)
    if form == "sarif":
        from ..analyze.sarif import sarif

        return sarif(inventory)
    return text(inventory, full)
