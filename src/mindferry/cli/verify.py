"""`mindferry verify`: same weights, same inputs, every module's output and gradient side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import printable
from ._say import say

if TYPE_CHECKING:
    from ..artifacts import Comparison


@click.command()
@click.argument("converted", required=False, type=click.Path(path_type=Path))
@click.option(
    "--torch", "reference", type=click.Path(path_type=Path), help="The torch or Keras project, or a file of it."
)
@click.option("--mindspore", "other", type=click.Path(path_type=Path), hidden=True)  # the same as the argument
@click.option("--model", default="", metavar="MODULE:FACTORY", help="What makes the model, on both sides.")
@click.option("--input", "inputs", multiple=True, metavar="SPEC", help="Such as 'ids=int64[2,16]@0..99', or a file.")
@click.option("--weights", default="", metavar="FILE", help="Its checkpoint; else initial weights, with spread.")
@click.option("--test-data", default="", metavar="MODULE:FUNCTION", help="Gives (inputs, labels) batches.")
@click.option("--modes", default="", help="eval, train, jit, amp; by default eval,train.")
@click.option("--golden", type=click.Path(path_type=Path), help="A file from `mindferry record`; no torch needed.")
@click.option("--k", type=float, help="Allowed multiple of torch's own float32 error. By default 4.")
@click.option("--timeout", type=float, metavar="SECONDS", help="Without a sign of life: it hangs. By default 600.")
@click.option("--bisect", "into", is_flag=True, help="Look into the first wrong module; print a script that shows it.")
@click.option(
    "--data",
    is_flag=False,
    flag_value="",
    metavar="[MODULE:FUNCTION]",
    help="Compare data pipelines, batch by batch, instead.",
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(
    converted: Path | None,
    reference: Path | None,
    other: Path | None,
    model: str,
    inputs: tuple[str, ...],
    weights: str,
    test_data: str,
    modes: str,
    golden: Path | None,
    k: float | None,
    timeout: float | None,
    into: bool,
    data: str | None,
    as_json: bool,
) -> None:
    """Compare a converted model with its original, module by module, forward and gradient; or their data, batch by batch.

    \b
    mindferry verify build/resnet50_ms               all from mindferry.toml, the conversion's record, or its observed run
    mindferry verify b --torch a --model model:resnet50 --input 'float32[4,3,224,224]'
    mindferry verify build/resnet50_ms --golden resnet50.golden
    mindferry verify build/resnet50_ms --data                            [verify] data, or the training script's loaders
    mindferry verify build/resnet50_ms --data 'data:test_loader(batch_size=8)'

    The reference also runs in float64. A value passes if its error is at most k times torch's own float32 error.
    Exit code 0: same, and nothing that matters was left out. 1: different; the table names the first module that is wrong
    by itself. 4: same as far as compared; what was not compared is listed.
    """
    from ..artifacts import EXIT_CODES, dumps, save
    from ..progress import progress

    if data is not None:
        sys.exit(_compare_data(converted or other, reference, data, as_json))
    if golden is None and not (model or inputs or reference) and _shows_networks(converted or other):
        sys.exit(_compare_observed(converted or other or Path(), as_json))
    from ..verify.run import verify
    from ..verify.settings import settings

    chosen = settings(
        converted or other,
        reference=reference,
        model=model,
        inputs=inputs,
        weights=weights,
        test_data=test_data,
        modes=modes,
        k=k,
        timeout=timeout,
        golden=golden,
    )
    with progress("verify") as advance:
        comparison = verify(chosen, advance, into)
    path = save(comparison, chosen.converted, "verify")
    if as_json:
        say(dumps(comparison), nl=False)
    else:
        _print(comparison, path)
        for line in comparison.diagnosis:
            say(line)
        if comparison.script:
            say(f"\n# {path.parent / 'reproduce.py'}\n{comparison.script}")
    sys.exit(EXIT_CODES[comparison.outcome])


def _shows_networks(converted: Path | None) -> bool:
    """Whether there is no [verify] model, and an observed run that says what to compare."""
    from ..artifacts import ProjectConversion, load
    from ..by_observation import is_observed
    from ..config import read_config

    folder = converted or Path()
    return is_observed(folder) and not read_config(Path(load(ProjectConversion, folder, "convert").source)).verify.model


def _compare_observed(converted: Path, as_json: bool) -> int:
    """The networks of the observed run."""
    from ..artifacts import EXIT_CODES, dumps, save
    from ..by_observation import archive_of, verify_networks
    from ..observation import load_observation
    from ..progress import progress

    with progress("verify") as advance:
        told = verify_networks(converted, load_observation(archive_of(converted)), lambda text: advance(text, 0))
    path = save(told.comparison, converted, "verify")
    if as_json:
        say(dumps(told.comparison), nl=False)
    else:
        _print(told.comparison, path)
    return EXIT_CODES[told.comparison.outcome]


def _print(comparison: Comparison, path: Path) -> None:
    from ..progress import stdout
    from ..verify.table import rows, summary

    stdout.print(rows(comparison))
    for line in summary(comparison):
        stdout.print(line, highlight=False, soft_wrap=True)
    folder = path.parent.parent
    is_looked_into = bool(comparison.first_divergence) and comparison.framework == "torch"
    more = f"; `mindferry verify {folder} --bisect` looks into the first" if is_looked_into else ""
    stdout.print(f"Written to {path}; `mindferry report {folder}` shows it{more}", highlight=False, soft_wrap=True)


def _compare_data(converted: Path | None, reference: Path | None, data: str, as_json: bool) -> int:
    from ..artifacts import EXIT_CODES, dumps, save
    from ..progress import progress
    from ..verify.data import run
    from ..verify.data_table import lines
    from ..verify.settings import data_settings

    chosen = data_settings(converted, reference=reference, data=data)
    with progress("verify") as advance:
        found = run(chosen, advance)
    path = save(found, chosen.converted, "data")
    if as_json:
        say(dumps(found), nl=False)
    else:
        for line in lines(found):
            say(line)
        say(f"Written to {printable(str(path))}")
    return EXIT_CODES[found.outcome]
