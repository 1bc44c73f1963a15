"""`mindferry train`: the same steps in both frameworks, side by side."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import click
from rich.table import Table

from .. import artifacts
from ..artifacts import EXIT_CODES, Curves, PlainRun, ProjectConversion, WeightsReport, load
from ..by_observation import observed_training
from ..config import Train, read_config
from ..errors import MindferryError
from ..progress import progress, stdout
from ..train import train_side_by_side
from ._say import say


@click.command()
@click.argument("converted", type=click.Path(path_type=Path))
@click.option(
    "--script",
    help="Training script, relative to the project.  [default: mindferry.toml, [train] script, or the observed one]",
)
@click.option("--args", "arguments", help="Arguments of the script, as one string.")
@click.option("--steps", type=click.IntRange(1), help="Optimizer steps to compare.  [default: 20]")
@click.option("--tolerance", type=float, help="Largest relative difference of a loss.  [default: 1e-3]")
@click.option(
    "--plain", is_flag=True, help="Run the converted script as it is: own data, dropout on, no torch in reach."
)
@click.option("--json", "as_json", is_flag=True, help="Print the curves as JSON.")
def command(
    converted: Path,
    script: str | None,
    arguments: str | None,
    steps: int | None,
    tolerance: float | None,
    plain: bool,
    as_json: bool,
) -> None:
    """Train the reference and the conversion from the same weights on the same batches.

    Both scripts run as they are. The reference's batches and first weights are given to the conversion;
    dropout is off on both sides. Exit code 1 if a loss differs by more than the tolerance, or a parameter moves on one side
    only; 4 if what agrees tells little: losses that are no numbers or never change, parameters without a twin.

    With --plain the converted script runs by itself: it must end as the original ends, and its losses must lie in
    the band that several seeds of the original span.

    \b
    mindferry train build/resnet50_ms
    mindferry train build/resnet50_ms --plain
    mindferry train build/resnet50_ms --script train.py --args "--epochs 1 --image-size 64" --steps 50
    """
    options = _options(converted, script, arguments, steps, tolerance)
    if plain:
        _run_plainly(converted, options, as_json)
    with progress("train", 2 * options.steps) as advance:
        curves = train_side_by_side(converted, options, weights=_weights(converted), advance=advance)
    if as_json:
        say(_as_json(curves))
    else:
        print_curves(curves)
    raise click.exceptions.Exit(EXIT_CODES[curves.outcome])


def _as_json(measured: Curves | PlainRun) -> str:
    """As it is kept, and what may be said of it."""
    told = {"outcome": measured.outcome, "not_compared": measured.gaps}
    return json.dumps({**json.loads(artifacts.dumps(measured)), **told}, indent=1)


def _run_plainly(converted: Path, options: Train, as_json: bool) -> None:
    from ..train.plain import plain_summary, run_plain

    source = Path(load(ProjectConversion, converted, "convert").source)
    if not options.script:
        raise MindferryError(
            f"which script trains? Name it in {source}/mindferry.toml, [train] script, or with --script"
        )
    with progress("plain run") as advance:
        run = run_plain(
            source,
            converted,
            [options.command],
            steps=options.steps,
            weights=_weights(converted),
            show=lambda text: advance(text, 0),
        )
    artifacts.save(run, converted, "plain")
    say(_as_json(run) if as_json else plain_summary(run))
    raise click.exceptions.Exit(EXIT_CODES[run.outcome])


def _options(
    converted: Path, script: str | None, arguments: str | None, steps: int | None, tolerance: float | None
) -> Train:
    import shlex

    known = read_config(Path(load(ProjectConversion, converted, "convert").source)).train
    if not (known.script or script):  # as the observed run trained
        known = observed_training(converted, known.steps, known.tolerance) or known
    given = {
        "script": script,
        "args": tuple(shlex.split(arguments)) if arguments is not None else None,
        "steps": steps,
        "tolerance": tolerance,
    }
    return dataclasses.replace(known, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]


def _weights(converted: Path) -> Path | None:
    """The checkpoint that `mindferry weights` read, which may lie outside the project."""
    try:
        return Path(load(WeightsReport, converted, "weights").source)
    except MindferryError:
        return None


def print_curves(curves: Curves) -> None:
    table = Table("step", curves.framework, "MindSpore", "difference", "gradient norm", "weights apart", title="loss")
    for index, (theirs, ours) in enumerate(zip(curves.reference, curves.converted, strict=False)):
        difference = abs(ours.loss - theirs.loss) / max(abs(theirs.loss), 1e-12)
        apart = f"{curves.distances[index]:.1e}" if index < len(curves.distances) else ""
        norms = f"{theirs.grad_norm:.4g} / {ours.grad_norm:.4g}"
        table.add_row(str(index + 1), f"{theirs.loss:.6f}", f"{ours.loss:.6f}", f"{difference:.1e}", norms, apart)
    stdout.print(table)
    why = "; ".join(each for each in (curves.first_difference, *curves.gaps) if each)
    verdict = f"{curves.outcome}: {why}" if why else str(curves.outcome)
    if curves.cause:
        stdout.print(f"Cause: {curves.cause}.")
    stdout.print(f"{verdict}; largest relative difference {curves.worst:.2e}, tolerance {curves.tolerance:g}")
