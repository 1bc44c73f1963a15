"""`mindferry convert`: the code of a project, a package or a file."""

from __future__ import annotations

import difflib
from pathlib import Path

import click

from .. import artifacts
from ..convert import convert_project
from ..layout import find_files
from ..progress import progress


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder for the converted project; new or empty.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if anything would need you.")
@click.option("--diff", is_flag=True, help="Print the differences after converting.")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
def command(path: Path, output: Path | None, check: bool, diff: bool, as_json: bool) -> None:
    """Convert PyTorch code to MindSpore code. Nothing of it is executed.

    \b
    mindferry convert my_project -o my_project_ms
    mindferry convert net.py -o out --diff
    mindferry convert my_project --check        for CI: exit 1 if a call would be left
    """
    if output is None and not check:
        raise click.UsageError("give a folder with -o, or --check to write nothing")
    output = output or Path("unwritten")
    total = len(find_files(path, (), output).files)
    with progress("convert", total) as advance:
        result = convert_project(path, output, check=check, advance=advance)
    if as_json:
        click.echo(artifacts.dumps(result), nl=False)
    else:
        if diff and not check:
            _print_diff(path, output, result)
        _summarize(result, check)
    raise click.exceptions.Exit(1 if any(f.severity == "error" for f in result.findings) else 0)


def _summarize(result: artifacts.ProjectConversion, check: bool) -> None:
    findings = [finding for finding in result.findings if finding.severity != "note"]
    for finding in findings:
        click.echo(str(finding))
    counts: dict[str, int] = {}
    for file in result.files:
        counts[file.status] = counts.get(file.status, 0) + 1
    rewrites = sum(len(file.rewrites) for file in result.files)
    what = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
    click.echo(f"{what}; {rewrites} rewrites, {len(findings)} findings")
    need = [file.path for file in result.files if any(f.severity == "error" for f in file.findings)]
    if need:
        click.echo(f"{len(need)} file{'s need' if len(need) > 1 else ' needs'} you: start with {need[0]}")
    elif not check:
        click.echo(f"converted project in {result.output}")


def _print_diff(path: Path, output: Path, result: artifacts.ProjectConversion) -> None:
    root = path if path.is_dir() else path.parent
    for file in result.files:
        if file.status == "converted":
            before = (root / file.path).read_text("utf-8", "replace").splitlines(keepends=True)
            after = (output / file.path).read_text("utf-8", "replace").splitlines(keepends=True)
            click.echo("".join(difflib.unified_diff(before, after, f"a/{file.path}", f"b/{file.path}")), nl=False)
