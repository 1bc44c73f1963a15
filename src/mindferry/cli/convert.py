"""`mindferry convert`: the code of a project, a package or a file."""

from __future__ import annotations

import difflib
from pathlib import Path

import click

from .. import artifacts
from ..accounts import summarize_sites
from ..artifacts import ProjectConversion
from ..convert import convert_project
from ..convert.settings import HELPERS, PREFERENCES, STYLES, TARGETS, Settings
from ..errors import printable
from ..findings import CODES, MF210, MF211
from ..layout import find_files
from ..library.bring import LIMIT
from ..observation import load_observation
from ..progress import progress
from ._say import say

ASKED_FOR = (MF210, MF211)  # notes that answer an option: `--jit auto` and `--prefer native`
STATUSES = {
    "helpers": "written with helpers",
    "launch": "launch or requirements changed",
    "kept": "kept because you edited it",
    "library": "about libraries",
}


class ConvertCommand(click.Command):
    """`--jit` stands alone, as it always did, or before the word auto."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        place = args.index("--jit") if "--jit" in args else -1
        if place >= 0 and args[place + 1 : place + 2] == ["auto"]:
            args = [*args[:place], "--jit-auto", *args[place + 2 :]]
        return super().parse_args(ctx, args)


@click.command(cls=ConvertCommand)
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Folder for the converted project: new, empty, or from an earlier run.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if anything would need you.")
@click.option("--diff", is_flag=True, help="Print the differences; with --check, those that there would be.")
@click.option(
    "--target", type=click.Choice(TARGETS), default="portable", help="Where it is to run. Portable: on CPU and Ascend."
)
@click.option(
    "--only", multiple=True, metavar="RULE", help="Apply these rules alone, as in 'torch.nn.*'. May be repeated."
)
@click.option(
    "--skip", multiple=True, metavar="RULE", help="Leave what these rules would convert as it is. May be repeated."
)
@click.option("--style", type=click.Choice(STYLES), default="functional", help="How a training step is written.")
@click.option(
    "--jit",
    is_flag=True,
    help="Compile the training step with ms.jit. `--jit auto`: where all of it is known to compile; a note says why not.",
)
@click.option("--jit-auto", is_flag=True, hidden=True, help="What `--jit auto` is read as.")
@click.option(
    "--prefer",
    type=click.Choice(PREFERENCES),
    default="exact",
    help="Native: MindSpore's own optimizers, schedules and tanh where they differ by rounding; a note says how far.",
)
@click.option(
    "--record-graphs",
    is_flag=True,
    help="Where a backward() can't be lifted, record graphs as the code runs, by functions that MindSpore doesn't document.",
    hidden=True,  # the finding that asks for it names it
)
@click.option(
    "--helpers",
    type=click.Choice(HELPERS),
    default="module",
    help="ms_compat as one file, or as a package where it is long.",
    hidden=True,  # docs/how-to/styles.md tells of it
)
@click.option("--trainer", is_flag=True, help="Write a trainer.py around the network that the project makes.")
@click.option("--tests", is_flag=True, help="Also write tests/test_MODULE.py: each cell against its torch original.")
@click.option(
    "-j", "--workers", type=click.IntRange(min=0), default=0, help="Processes. Default: all cores, for a large project."
)
@click.option("--format", "form", type=click.Choice(["text", "json", "sarif"]), default="text", help="What to print.")
@click.option(
    "--observed",
    type=click.Path(path_type=Path),
    help="What `mindferry observe` saw: it decides what the text alone can't tell.",
)
@click.option(
    "--with",
    "packages",
    multiple=True,
    metavar="PACKAGE",
    help="Bring along what the project uses of this library, converted. May be repeated.",
)
@click.option(
    "--site",
    "sites",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where these libraries are installed. Default: where mindferry runs.",
)
@click.option(
    "--with-limit",
    "limit",
    type=click.IntRange(min=1),
    default=LIMIT,
    hidden=True,  # the finding that asks for it names it
    help="Most modules of libraries to bring along.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
def command(
    path: Path,
    output: Path | None,
    check: bool,
    diff: bool,
    target: str,
    only: tuple[str, ...],
    skip: tuple[str, ...],
    style: str,
    jit: bool,
    jit_auto: bool,
    prefer: str,
    record_graphs: bool,
    helpers: str,
    trainer: bool,
    tests: bool,
    workers: int,
    form: str,
    observed: Path | None,
    packages: tuple[str, ...],
    sites: tuple[Path, ...],
    limit: int,
    as_json: bool,
) -> None:
    """Convert PyTorch code to MindSpore code: files, packages, notebooks. Nothing of it is executed.

    Run again into the same folder, and only what changed is converted; what you edited there is never overwritten.

    \b
    mindferry convert my_project -o my_project_ms
    mindferry convert net.py --check --diff             see what would change
    mindferry convert my_project --check                for CI: exit 1 if a call would be left
    mindferry convert my_project -o out --skip 'torch.distributed.*'
    mindferry convert my_project -o out --tests && pytest out/tests
    mindferry convert my_project -o out --with transformers --with timm
    """
    if output is None and not check:
        raise click.UsageError("give a folder with -o, or --check to write nothing")
    output = output or Path("unwritten")
    texts: dict[str, bytes] = {}
    with progress("convert", len(find_files(path, (), output).files)) as advance:
        result = convert_project(
            path,
            output,
            check=check,
            advance=advance,
            settings=Settings(
                target,
                only,
                skip,
                style,
                jit,
                trainer,
                packages=packages,
                sites=_folders(sites),
                most_modules=limit,
                helpers=helpers,
                jit_auto=jit_auto,
                prefer=prefer,
                record_graphs=record_graphs,
            ),
            workers=workers,
            texts=texts if diff else None,
            observation=load_observation(observed) if observed else None,
        )
    if observed and not check and output.is_dir():
        from ..by_observation import keep_archive

        keep_archive(observed, output)
    if tests and not check:
        from ..verify.unit_tests import write_tests

        write_tests(result, *_observed_network(observed, output))
    if as_json or form == "json":
        say(artifacts.dumps(result), nl=False)
    elif form == "sarif":
        say(_sarif(result), nl=False)
    else:
        if diff:
            _print_diff(path, result, texts)
        _summarize(result, check)
    raise click.exceptions.Exit(1 if any(f.severity == "error" for f in result.findings) else 0)


def _observed_network(observed: Path | None, output: Path) -> tuple[str, tuple[str, ...]]:
    """The largest network of the run that was watched, and what it was called with there, laid out beside the tests."""
    if observed is None:
        return "", ()
    from ..observe.use import comparables

    found, _ = comparables(load_observation(observed), observed, output.resolve() / "tests" / "observed")
    for each in found:
        if each.weights:
            Path(each.weights).unlink()  # the tests make weights of their own
    if not found:
        return "", ()
    largest = max(found, key=lambda each: each.network.parameters)
    return largest.model, largest.inputs


def _folders(sites: tuple[Path, ...]) -> tuple[str, ...]:
    for site in sites:
        if not site.is_dir():
            raise click.UsageError(f"--site {site}: there is no such folder")
    return tuple(str(site.resolve()) for site in sites)


def _summarize(result: ProjectConversion, check: bool) -> None:
    findings = [finding for finding in result.findings if finding.severity != "note"]
    told = [finding for finding in result.findings if finding.severity == "note" and finding.code in ASKED_FOR]
    for finding in (*findings, *told):
        say(str(finding))
    counts: dict[str, int] = {}
    for file in result.files:
        counts[file.status] = counts.get(file.status, 0) + 1
    rewrites = sum(len(file.rewrites) for file in result.files)
    what = ", ".join(f"{number} {STATUSES.get(status, status)}" for status, number in sorted(counts.items()))
    reused = f" ({len(result.reused)} as before)" if result.reused else ""
    say(f"{what}{reused}; {rewrites} rewrites, {len(findings)} finding{'' if len(findings) == 1 else 's'}")
    if accounted := summarize_sites(site for file in result.files for site in file.sites):
        say(accounted)
    for layout in dict.fromkeys(file.layout for file in result.files if file.layout):
        paths = [printable(file.path) for file in result.files if file.layout == layout]
        more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
        say(f"layout of the networks in {', '.join(paths[:3])}{more}: {layout}")
    need = [file.path for file in result.files if any(f.severity == "error" for f in file.findings)]
    if need:
        say(f"{len(need)} file{'s need' if len(need) > 1 else ' needs'} you: start with {printable(need[0])}")
    elif not check:
        say(f"converted project in {printable(result.output)}")


def _print_diff(path: Path, result: ProjectConversion, texts: dict[str, bytes]) -> None:
    root = path if path.is_dir() else path.parent
    for file in result.files:
        original = root / file.path
        if file.path in texts and file.status in ("converted", "copied", "launch") and original.is_file():
            before, after = (
                each.decode("utf-8", "replace").splitlines(keepends=True)
                for each in (original.read_bytes(), texts[file.path])
            )
            click.echo("".join(difflib.unified_diff(before, after, f"a/{file.path}", f"b/{file.path}")), nl=False)


def _sarif(result: ProjectConversion) -> str:
    from ..sarif import document
    from ..sarif import result as entry

    codes = sorted({finding.code for finding in result.findings})
    rules = {code: CODES[code].heading if code in CODES else "Finding" for code in codes}
    return document(
        rules,
        (
            entry(
                each.code,
                each.severity,
                each.path.partition(":cell ")[0],
                each.line,
                each.message,
                each.advice,
                each.column,
            )
            for each in result.findings
        ),
    )
