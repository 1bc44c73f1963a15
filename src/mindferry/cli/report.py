"""`mindferry report`: what the stages left behind, as one HTML page, Markdown or JSON."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import MindferryError, printable
from ..files import write_text
from ..report import FORMATS, REPORT, content, open_in_browser, render, watch_report
from ._say import say


@click.command()
@click.argument("converted", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help=f"Where to write.  [default: CONVERTED/{REPORT}; other formats: stdout]",
)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="html", help="A page, text for a pull request, or data."
)
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@click.option("--open", "open_it", is_flag=True, help="Open the page in a browser.")
@click.option(
    "--watch", is_flag=True, help="Write it again whenever a stage is done, until Ctrl-C; the open page follows."
)
def command(converted: Path, output: Path | None, form: str, as_json: bool, open_it: bool, watch: bool) -> None:
    """Write one self-contained HTML page from what the stages left in .mindferry/.

    The page needs no network: mail it, print it, keep it. Exit code 1: something is left to do, or differs.

    \b
    mindferry report build/resnet50_ms
    mindferry report build/resnet50_ms --open
    mindferry report build/resnet50_ms --format markdown -o pull-request.md
    mindferry report build/resnet50_ms --watch --open        beside a running `mindferry migrate`
    """
    form = "json" if as_json else form
    if form != "html" and (open_it or watch):
        raise click.UsageError("--open and --watch are for the HTML page")
    path = output or converted / REPORT
    if watch:
        _watch(converted, path, open_it)
        return
    report = content(converted)
    text = render(report, form)
    if form == "html" or output is not None:
        write_text(path, text)
        say(f"{report.overview.verdict}\nreport: {printable(str(path))}", err=form != "html")
    else:
        _print(text)
    if open_it:
        open_in_browser(path)
    raise click.exceptions.Exit(0 if report.is_clean else 1)


def _watch(converted: Path, path: Path, open_it: bool) -> None:
    if not converted.parent.is_dir():
        raise MindferryError(f"there is no {converted.parent}; give the folder that `mindferry migrate -o` writes to")
    say(f"watching {printable(str(converted))}; Ctrl-C ends it", err=True)
    waiting = [open_it]

    def show(line: str) -> None:
        say(line)
        if waiting[0] and path.is_file():
            waiting[0] = False
            open_in_browser(path)

    watch_report(converted, path, show)


def _print(text: str) -> None:
    try:
        say(text, nl=False)
    except OSError as error:
        raise MindferryError(f"cannot write to standard output: {error.strerror}; name a file with -o") from None
