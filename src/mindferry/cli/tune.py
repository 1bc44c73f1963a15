"""`mindferry tune`: where a training step goes, what to change, measured before and after."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ._say import say

if TYPE_CHECKING:
    from ..tune.workload import Workload
    from ..tune_record import TuneRecord


@click.command()
@click.argument("project", required=False, type=click.Path(path_type=Path))
@click.option(
    "--script", default="", help="Training script, relative to the project.  [default: mindferry.toml, [train] script]"
)
@click.option("--args", "arguments", help="Arguments of the script, as one string.")
@click.option("--model", default="", metavar="MODULE:FACTORY", help="A model instead of a script; needs --input.")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="SPEC",
    help="Such as 'float32[4,3,224,224]' or 'ids=int64[2,16]@0..99'.",
)
@click.option(
    "--step",
    "function",
    default="",
    metavar="MODULE:FUNCTION",
    help="A function that makes one training step, instead of a script.",
)
@click.option("--steps", default=6, type=click.IntRange(2), show_default=True, help="Steps to time.")
@click.option(
    "--try", "tries", is_flag=False, flag_value="suggested", default="", help="Try what is suggested, or NAME,NAME,…"
)
@click.option("--apply", "is_applied", is_flag=True, help="Write what was faster into the project (implies --try).")
@click.option(
    "--from", "recorded", type=click.Path(path_type=Path), help="Read profiler output that was recorded elsewhere."
)
@click.option("--no-torch", is_flag=True, help="Leave the reference out.")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
def command(
    project: Path | None,
    script: str,
    arguments: str | None,
    model: str,
    inputs: tuple[str, ...],
    function: str,
    steps: int,
    tries: str,
    is_applied: bool,
    recorded: Path | None,
    no_torch: bool,
    as_json: bool,
) -> None:
    """Show where a training step goes, and try what may make it shorter.

    \b
    mindferry tune build/resnet50_ms                       the profile, the torch reference beside it, advice
    mindferry tune build/resnet50_ms --try                 the advice, measured before and after
    mindferry tune build/resnet50_ms --apply               and what won, written into the project
    mindferry tune build/resnet50_ms --try isa,jit --args "--image-size 64"
    mindferry tune build/net_ms --model model:Net --input 'float32[8,3,64,64]'
    mindferry tune --from profiler_output                  recorded elsewhere, on Ascend for instance

    The script runs as it is for a few steps: timed only, then told apart, then under MindSpore's profiler.
    The record goes to PROJECT/.mindferry/tune.json. Exit code 1: something to gain was found and not applied.
    """
    from ..artifacts import dumps, save
    from ..tune.show import show

    if recorded is not None:
        from ..tune.recorded import read_recorded

        record = read_recorded(recorded)
    else:
        project, tries = _in_any_order(project, tries)
        if project is None:
            raise click.UsageError("give the converted project, or --from with a folder of profiler output")
        from ..tune.workload import find_workload

        workload = find_workload(
            project, script, None if arguments is None else tuple(shlex.split(arguments)), model, inputs, function
        )
        record = _run(
            workload,
            tuple(filter(None, tries.split(","))) or (("suggested",) if is_applied else ()),
            steps,
            is_applied,
            no_torch,
        )
        save(record, project, "tune")
    if as_json:
        say(dumps(record), nl=False)
    else:
        show(record)
    tried = [each for each in record.experiments if each.before == each.before]
    is_open = (
        any(each.status == "faster" and not each.is_applied for each in tried) if tried else bool(record.diagnoses)
    )
    raise click.exceptions.Exit(1 if is_open else 0)


def _in_any_order(project: Path | None, tries: str) -> tuple[Path | None, str]:
    """`--try PROJECT`: click takes what follows for the names of experiments."""
    from ..tune.experiments import TRIED

    if project is None and tries and not set(tries.split(",")) <= {*TRIED, "suggested"}:
        return Path(tries), "suggested"
    return project, tries


def _run(workload: Workload, tries: tuple[str, ...], steps: int, is_applied: bool, no_torch: bool) -> TuneRecord:
    from ..frameworks.requests import Plan
    from ..progress import progress, stderr
    from ..tune.run import apply, tune

    with progress("tune") as advance:
        record = tune(
            workload, tries, plan=Plan(plain=steps), with_reference=not no_torch, note=lambda text: advance(text)
        )
    if not is_applied:
        return record
    record, changed = apply(workload, record)
    for path in changed:
        stderr.print(f"wrote {path}")
    return record
